package import PushSQLite

/// Why a store cannot be opened or written.
package enum StoreError: Error, CustomStringConvertible {
    /// The store was written by a later version of LocalPush.
    case newer(found: Int32, known: Int32)
    case failed(SQLiteError)

    package var description: String {
        switch self {
        case .newer(let found, let known):
            "the store has version \(found), and this LocalPush knows up to \(known): use the newer LocalPush that "
                + "wrote it, or another data directory"
        case .failed(let error) where error.isFull: "the disk is full (\(error))"
        case .failed(let error) where error.isCorrupt:
            "the store is damaged (\(error)): move the file away, or restore it from a copy"
        case .failed(let error) where error.isBusy:
            "the store is in use by another LocalPush (\(error)): stop that one, or use another data directory"
        case .failed(let error) where error.isReadOnly:
            "the store cannot be written (\(error)): check the permissions of the data directory"
        case .failed(let error): "\(error)"
        }
    }
}

/// Runs SQLite calls and gives their error the store's type.
func storing<Result>(_ body: () throws(SQLiteError) -> Result) throws(StoreError) -> Result {
    do throws(SQLiteError) { return try body() } catch { throw .failed(error) }
}
