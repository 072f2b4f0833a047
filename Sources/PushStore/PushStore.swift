import PushCore
package import PushSQLite

/// The journal and the registry on disk: SQLite, one transaction per turn of the loop.
///
/// Writes open the turn's transaction by themselves; nothing of a turn counts before `commit()` returned. A write that
/// fails spoils the turn: the rest of it is ignored and `commit()` throws and rolls all of it back. Bound to the loop.
/// Its files: `+Registry` keeps apps, keys, devices and registrations; `+Journal` writes and reads pushes and events.
package final class PushStore {
    /// Where a store lives.
    package enum Location: Sendable {
        /// A file of this path.
        case file(String)
        /// Nowhere: a temporary database that is gone when it is closed.
        case temporary
    }

    /// What a commit survives.
    package enum Durability: String, Sendable, CaseIterable {
        /// The end of the process, kill -9 included (default).
        case process
        /// The loss of power.
        case disk
    }

    let database: Database
    private(set) var statements: StoreStatements
    private var failure: SQLiteError?
    private var isInTurn = false

    package init(_ location: Location, durability: Durability = .process) throws(StoreError) {
        let path: String
        switch location {
        case .file(let file): path = file
        case .temporary: path = ""
        }
        database = try storing { () throws(SQLiteError) in
            let database = try Database(path: path)
            // One process owns the store: a second one is refused at the door instead of failing in the middle.
            try database.execute("PRAGMA locking_mode=EXCLUSIVE")
            // Pushes are appended: larger pages mean fewer writes for each commit. Only a new file takes this.
            try database.execute("PRAGMA page_size=16384")
            // Holds the pages that a turn touches; 8 MiB at most, taken as needed.
            try database.execute("PRAGMA cache_size=-8192")
            try database.useWriteAheadLog(durability == .disk ? .disk : .process)
            try database.execute("PRAGMA wal_autocheckpoint=1000")
            return database
        }
        try StoreSchema.migrate(database)
        let database = database
        statements = try storing { () throws(SQLiteError) in try StoreStatements(database) }
    }

    package var isOpen: Bool { database.isOpen }

    /// Whether anything of this turn waits for `commit()`.
    package var needsCommit: Bool { isInTurn }

    /// For tests: see `Database.injectedFailure`.
    package var injectedFailure: ((_ operation: String) -> SQLiteError?)? {
        get { database.injectedFailure }
        set { database.injectedFailure = newValue }
    }

    /// Ends the turn: everything written since the last commit is stored, or none of it and this throws.
    package func commit() throws(StoreError) {
        guard isInTurn else { return }
        isInTurn = false
        if let failure {
            self.failure = nil
            if database.isInTransaction { database.rollbackTransaction() }
            throw .failed(failure)
        }
        do throws(SQLiteError) {
            try database.commitTransaction()
        } catch {
            if database.isInTransaction { database.rollbackTransaction() }
            throw .failed(error)
        }
    }

    /// Tries a small write of its own: whether the store works again after a failure.
    package func isWritable() -> Bool {
        precondition(!isInTurn, "a trial stands between turns")
        setValue("trial", [0])
        return (try? commit()) != nil
    }

    /// Closes the file; what was not committed is gone.
    package func close() {
        if isInTurn && database.isInTransaction { database.rollbackTransaction() }
        isInTurn = false
        database.close()
    }

    /// A small value under a name, such as the server's secret.
    package func value(_ name: String) throws(StoreError) -> [UInt8]? {
        try storing { () throws(SQLiteError) in
            statements.value.bind(1, name)
            defer { statements.value.reset() }
            return try statements.value.step() ? statements.value.blob(0) : nil
        }
    }

    package func setValue(_ name: String, _ value: [UInt8]) {
        write { () throws(SQLiteError) in
            statements.setValue.bind(1, name)
            try statements.setValue.run(2, value.span)
        }
    }

    /// Does one write of the turn; after a failure the rest of the turn is ignored.
    func write(_ body: () throws(SQLiteError) -> Void) {
        guard failure == nil else { return }
        do throws(SQLiteError) {
            if !isInTurn {
                isInTurn = true
                try database.beginTransaction()
            }
            try body()
        } catch {
            failure = error
        }
    }
}
