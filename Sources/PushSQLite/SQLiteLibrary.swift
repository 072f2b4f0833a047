internal import CPushSQLite

/// The C library this module stands on.
package enum SQLiteLibrary {
    /// Version of the library that is loaded.
    package static var version: String { String(cString: sqlite3_libversion()) }
}
