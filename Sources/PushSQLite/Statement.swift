internal import CPushSQLite

/// A prepared statement: bind, step through rows or run, use again.
///
/// Parameters count from 1, columns from 0, as in SQLite. Belongs to its database's thread, which it keeps alive.
/// Binding copies, except through `binding(_:_:_:)` and `run(_:_:)`.
package final class Statement {
    private let database: Database
    private let handle: OpaquePointer

    init(database: Database, handle: OpaquePointer) {
        self.database = database
        self.handle = handle
    }

    deinit {
        // A closed database has already finalized it.
        if database.isOpen { sqlite3_finalize(handle) }
    }

    // MARK: Binding

    package func bind(_ index: Int32, _ value: Int64) {
        check(sqlite3_bind_int64(live, index, value))
    }

    package func bind(_ index: Int32, _ value: Double) {
        check(sqlite3_bind_double(live, index, value))
    }

    package func bind(_ index: Int32, _ value: String) {
        var text = value
        text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { characters in
                // A null pointer would bind NULL, and an empty text is not NULL.
                if let start = characters.baseAddress {
                    check(push_sqlite3_bind_text_copied(live, index, start, Int32(characters.count)))
                } else {
                    check(push_sqlite3_bind_text_copied(live, index, "", 0))
                }
            }
        }
    }

    package func bind(_ index: Int32, _ value: [UInt8]) {
        bind(index, value.span)
    }

    package func bind(_ index: Int32, _ value: Span<UInt8>) {
        value.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, bytes.count > 0 else {
                return check(sqlite3_bind_zeroblob(live, index, 0))
            }
            check(push_sqlite3_bind_blob_copied(live, index, start, Int32(bytes.count)))
        }
    }

    package func bindNull(_ index: Int32) {
        check(sqlite3_bind_null(live, index))
    }

    /// Binds NULL for `nil`; the same holds for the other optionals.
    package func bind(_ index: Int32, _ value: Int64?) {
        if let value { bind(index, value) } else { bindNull(index) }
    }

    package func bind(_ index: Int32, _ value: String?) {
        if let value { bind(index, value) } else { bindNull(index) }
    }

    package func bind(_ index: Int32, _ value: [UInt8]?) {
        if let value { bind(index, value.span) } else { bindNull(index) }
    }

    /// Binds `bytes` without a copy while `body` runs, which steps or runs this statement; afterwards the statement
    /// is reset and the parameter is NULL again, since SQLite may not look at the bytes any more. Calls nest.
    package func binding<Result>(
        _ index: Int32, _ bytes: Span<UInt8>, _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        // The pointer stays valid for the whole closure, and is taken from SQLite before it ends.
        try bytes.withUnsafeBytes { (buffer) throws(SQLiteError) -> Result in
            if let start = buffer.baseAddress, buffer.count > 0 {
                check(push_sqlite3_bind_blob_borrowed(live, index, start, Int32(buffer.count)))
            } else {
                check(sqlite3_bind_zeroblob(live, index, 0))
            }
            defer {
                sqlite3_reset(live)
                sqlite3_bind_null(live, index)
            }
            return try body()
        }
    }

    // MARK: Running

    /// Goes to the next row; `false` when there is none, and then the statement is reset.
    package func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(live)
        if code == SQLITE_ROW { return true }
        let error = code == SQLITE_DONE ? nil : SQLiteError(handle: database.handle, code: code, operation: "step")
        sqlite3_reset(live)
        if let error { throw error }
        return false
    }

    /// Steps to the end, then resets and clears all bindings, also after an error.
    package func run() throws(SQLiteError) {
        defer {
            sqlite3_reset(live)
            sqlite3_clear_bindings(live)
        }
        if let failure = database.injectedFailure?("run") { throw failure }
        while try step() {}
    }

    /// `run()` with `bytes` bound at `index` without a copy.
    package func run(_ index: Int32, _ bytes: Span<UInt8>) throws(SQLiteError) {
        try binding(index, bytes) { () throws(SQLiteError) in try run() }
    }

    /// Ends reading rows early and clears all bindings. A statement left in the middle of its rows holds a read
    /// transaction, which keeps the write-ahead log from being emptied.
    package func reset() {
        sqlite3_reset(live)
        sqlite3_clear_bindings(live)
    }

    // MARK: Columns of the current row

    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(live, column) }

    package func double(_ column: Int32) -> Double { sqlite3_column_double(live, column) }

    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(live, column) == SQLITE_NULL }

    /// Text, with bytes that are no UTF-8 replaced; empty for NULL.
    package func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(live, column) else { return "" }
        let count = Int(sqlite3_column_bytes(live, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A copy of the blob; empty for NULL.
    package func blob(_ column: Int32) -> [UInt8] {
        withBlob(column) { (bytes: Span<UInt8>) in bytes.withUnsafeBufferPointer { Array($0) } }
    }

    /// Lends the blob (empty for NULL) without a copy. Do not step, reset or bind inside `body`.
    package func withBlob<Result, Failure: Error>(
        _ column: Int32, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let count = Int(sqlite3_column_bytes(live, column))
        guard count > 0, let start = sqlite3_column_blob(live, column) else { return try body(Span()) }
        // SQLite keeps the bytes until the next step or reset of this statement.
        return try body(UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count).span)
    }

    // MARK: Helpers

    private var live: OpaquePointer {
        precondition(database.isOpen, "the database of the statement is open")
        return handle
    }

    /// Binding fails only by our own mistake (an index that is not there, binding in the middle of rows) or when no
    /// memory is left.
    private func check(_ code: Int32) {
        precondition(code == SQLITE_OK, "the parameter exists and the statement is not in the middle of its rows")
    }
}
