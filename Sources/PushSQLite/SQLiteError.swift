internal import CPushSQLite
internal import Glibc

/// What SQLite refused, with its extended result code.
package struct SQLiteError: Error, Equatable, CustomStringConvertible {
    /// The extended result code, for example 787 for a foreign key; its lowest byte is the primary code.
    package let code: Int32
    /// SQLite's own words; they may name tables and columns, never bound values.
    package let message: String
    /// What we were doing: `open`, `prepare`, `step`, `commit`, …
    package let operation: String
    /// `errno` of the system call that failed, or 0.
    package let systemCode: Int32

    package init(code: Int32, message: String, operation: String, systemCode: Int32 = 0) {
        self.code = code
        self.message = message
        self.operation = operation
        self.systemCode = systemCode
    }

    /// The error of the last failed call on `handle`.
    init(handle: OpaquePointer?, code: Int32, operation: String) {
        // A write that fails inside COMMIT does not reach `sqlite3_system_errno`; `errno` still has it.
        let lastErrno = errno
        let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        var systemCode = handle.map { sqlite3_system_errno($0) } ?? 0
        if systemCode == 0 && code & 0xFF == SQLITE_IOERR { systemCode = lastErrno }
        self.init(code: code, message: text, operation: operation, systemCode: systemCode)
    }

    package var primaryCode: Int32 { code & 0xFF }

    /// The disk, a quota, the file size limit of the process or `max_page_count` is used up.
    package var isFull: Bool {
        if primaryCode == SQLITE_FULL { return true }
        return primaryCode == SQLITE_IOERR && [ENOSPC, EFBIG, EDQUOT].contains(systemCode)
    }

    /// Another connection holds the lock; the same call may succeed later.
    package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    /// The file is damaged or is no database.
    package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    /// The file, its directory or the connection forbids writing.
    package var isReadOnly: Bool { primaryCode == SQLITE_READONLY }

    /// A UNIQUE, NOT NULL, CHECK or foreign key constraint was violated.
    package var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }

    package var description: String { "SQLite: \(operation) failed with code \(code): \(message)" }
}
