internal import CPushSQLite

/// One SQLite connection with one owner.
///
/// Not Sendable, and SQLite's own mutex is off: use a database and its statements on one thread at a time. The
/// connection closes in `deinit`, or earlier with `close()`, which also finalizes statements that are still alive;
/// using one of those afterwards is a programming mistake and traps.
package final class Database {
    /// How far a commit goes before it returns.
    package enum Durability: Sendable {
        /// Survives a killed process, not a power cut (`synchronous=NORMAL` with a write-ahead log).
        case process
        /// Survives a power cut: every commit waits for the disk (`synchronous=FULL`).
        case disk
        /// The system decides; a power cut may damage the file (`synchronous=OFF`).
        case none
    }

    private(set) var handle: OpaquePointer?
    // Raw handles, not `Statement`s: a statement keeps its database alive, and these must not.
    private var begin: OpaquePointer?
    private var commit: OpaquePointer?
    private var rollback: OpaquePointer?

    /// Asked before every `run()` and every commit; an answer is thrown in place of doing the work.
    /// For tests that fail the Nth step. Default `nil`.
    package var injectedFailure: ((_ operation: String) -> SQLiteError?)?

    /// Opens or creates the file at `path`; an empty path is a private temporary database, gone when closed.
    ///
    /// A file that is no database is only noticed by the first statement. `busyWaitMilliseconds` is how long a call
    /// blocks for another connection's lock before it throws `isBusy`; default 0, as a loop must not block.
    package init(
        path: String, readOnly: Bool = false, busyWaitMilliseconds: Int32 = 0
    ) throws(SQLiteError) {
        precondition(busyWaitMilliseconds >= 0, "a wait is not negative")
        let access = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK else {
            let error = SQLiteError(handle: opened, code: code, operation: "open")
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        sqlite3_busy_timeout(opened, busyWaitMilliseconds)
    }

    deinit { close() }

    package var isOpen: Bool { handle != nil }

    /// Finalizes all statements and closes the file; an open transaction is rolled back. Harmless when repeated.
    package func close() {
        guard let open = handle else { return }
        handle = nil
        while let statement = sqlite3_next_stmt(open, nil) { sqlite3_finalize(statement) }
        let code = sqlite3_close(open)
        precondition(code == SQLITE_OK, "a connection without statements can always be closed")
    }

    /// Runs every statement of `sql` and drops the rows they answer with.
    package func execute(_ sql: String) throws(SQLiteError) {
        let open = openHandle
        try check(sqlite3_exec(open, sql, nil, nil, nil), "execute")
    }

    /// Compiles exactly one statement, to be kept and run many times.
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        Statement(database: self, handle: try compile(sql))
    }

    /// The first column of the first row as an integer, or `nil` without a row. For pragmas and counts.
    package func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Switches to a write-ahead log; throws when the file system cannot have one. A temporary database keeps its
    /// journal in memory instead.
    package func useWriteAheadLog(_ durability: Durability) throws(SQLiteError) {
        let statement = try prepare("PRAGMA journal_mode=WAL")
        let mode = try statement.step() ? statement.text(0) : nil
        statement.reset()
        guard mode == "wal" || isTemporary else {
            throw SQLiteError(
                code: SQLITE_ERROR, message: "the journal stays \(mode ?? "unknown")", operation: "write-ahead log")
        }
        switch durability {
        case .process: try execute("PRAGMA synchronous=NORMAL")
        case .disk: try execute("PRAGMA synchronous=FULL")
        case .none: try execute("PRAGMA synchronous=OFF")
        }
    }

    /// The number the owner keeps in the file for its schema; 0 in a new file.
    package var userVersion: Int32 {
        get throws(SQLiteError) { Int32(truncatingIfNeeded: try integer("PRAGMA user_version") ?? 0) }
    }

    package func setUserVersion(_ version: Int32) throws(SQLiteError) {
        try execute("PRAGMA user_version=\(version)")
    }

    package var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(openHandle) }

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    package var changes: Int { Int(sqlite3_changes64(openHandle)) }

    package var isInTransaction: Bool { sqlite3_get_autocommit(openHandle) == 0 }

    // MARK: Transactions

    /// Takes the write lock at once, so that a busy file shows here and not in the middle of the work.
    package func beginTransaction() throws(SQLiteError) {
        precondition(!isInTransaction, "transactions do not nest")
        try runOnce(&begin, "BEGIN IMMEDIATE", "begin")
    }

    /// After an error the transaction is rolled back: nothing of it is kept, and the database can be used again.
    package func commitTransaction() throws(SQLiteError) {
        precondition(isInTransaction, "there is a transaction to commit")
        do throws(SQLiteError) {
            if let failure = injectedFailure?("commit") { throw failure }
            try runOnce(&commit, "COMMIT", "commit")
        } catch {
            rollbackTransaction()
            throw error
        }
    }

    /// Does nothing when SQLite has already rolled back by itself, as it does on a full disk.
    package func rollbackTransaction() {
        guard isInTransaction else { return }
        // A rollback can only fail by an I/O error, and then the next open of the file finishes it.
        try? runOnce(&rollback, "ROLLBACK", "rollback")
    }

    /// Runs `body` in one transaction: committed when it returns, rolled back when it throws.
    package func transaction<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        try beginTransaction()
        let result: Result
        do throws(SQLiteError) {
            result = try body()
        } catch {
            rollbackTransaction()
            throw error
        }
        try commitTransaction()
        return result
    }

    // MARK: Helpers

    var openHandle: OpaquePointer {
        guard let handle else { preconditionFailure("the database is open") }
        return handle
    }

    private var isTemporary: Bool {
        guard let name = sqlite3_db_filename(openHandle, "main") else { return true }
        return name.pointee == 0
    }

    private func check(_ code: Int32, _ operation: String) throws(SQLiteError) {
        if code != SQLITE_OK { throw SQLiteError(handle: handle, code: code, operation: operation) }
    }

    private func compile(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        let open = openHandle
        var statement: OpaquePointer?
        var code = SQLITE_OK
        var isAlone = true
        var text = sql
        text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { characters in
                var rest: UnsafePointer<CChar>?
                code = sqlite3_prepare_v3(
                    open, characters.baseAddress, Int32(characters.count), UInt32(SQLITE_PREPARE_PERSISTENT),
                    &statement, &rest)
                if let rest, let start = characters.baseAddress {
                    isAlone = characters[(rest - start)...].allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x3B }
                }
            }
        }
        try check(code, "prepare")
        guard let statement else { preconditionFailure("SQL to prepare holds a statement") }
        precondition(isAlone, "SQL to prepare holds one statement only")
        return statement
    }

    private func runOnce(_ slot: inout OpaquePointer?, _ sql: String, _ operation: String) throws(SQLiteError) {
        if slot == nil { slot = try compile(sql) }
        let statement = slot
        let code = sqlite3_step(statement)
        let error = code == SQLITE_DONE ? nil : SQLiteError(handle: handle, code: code, operation: operation)
        sqlite3_reset(statement)
        if let error { throw error }
    }
}
