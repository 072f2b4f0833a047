import Foundation
import Glibc
import PushSQLite
import Testing

@Suite struct DatabaseTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func count(_ database: Database) throws -> Int64? { try database.integer("SELECT count(*) FROM t") }

    private func makeFile(_ name: String = "a.db") throws -> Database {
        let database = try Database(path: directory.file(name))
        try database.useWriteAheadLog(.process)
        try database.execute("CREATE TABLE IF NOT EXISTS t (i INTEGER, b BLOB)")
        return database
    }

    @Test func committedRowsAreThereAfterReopening() throws {
        let database = try makeFile()
        try database.transaction { () throws(SQLiteError) in try database.execute("INSERT INTO t (i) VALUES (1)") }
        try database.beginTransaction()
        try database.execute("INSERT INTO t (i) VALUES (2)")
        database.close()
        #expect(try count(try makeFile()) == 1)
    }

    @Test func anErrorInsideATransactionRollsBack() throws {
        let database = try makeFile()
        #expect(throws: SQLiteError.self) {
            try database.transaction { () throws(SQLiteError) in
                try database.execute("INSERT INTO t (i) VALUES (1)")
                try database.execute("INSERT INTO missing VALUES (1)")
            }
        }
        #expect(!database.isInTransaction)
        #expect(try count(database) == 0)
    }

    @Test func userVersionIsKeptInTheFile() throws {
        let database = try makeFile()
        #expect(try database.userVersion == 0)
        try database.setUserVersion(42)
        database.close()
        #expect(try makeFile().userVersion == 42)
    }

    @Test func closingWithLiveStatementsWorksAndMayBeRepeated() throws {
        let database = try makeFile()
        let statement = try database.prepare("SELECT * FROM t")
        _ = try statement.step()
        database.close()
        database.close()
        #expect(!database.isOpen)
        // The log is folded into the file when the last connection closes properly.
        #expect(!FileManager.default.fileExists(atPath: directory.file("a.db-wal")))
    }

    @Test func aDirectoryThatIsNotThereFailsToOpen() {
        let error = #expect(throws: SQLiteError.self) {
            _ = try Database(path: directory.file("none/a.db"))
        }
        #expect(error?.operation == "open" && error?.primaryCode == 14)
    }

    @Test func secondWriterIsBusyUntilTheFirstCommits() throws {
        let first = try makeFile()
        let second = try makeFile()
        try first.beginTransaction()
        let error = #expect(throws: SQLiteError.self) { try second.beginTransaction() }
        #expect(error?.isBusy == true && error?.operation == "begin")
        #expect(!second.isInTransaction)
        try first.commitTransaction()
        try second.transaction { () throws(SQLiteError) in try second.execute("INSERT INTO t (i) VALUES (1)") }
        #expect(try count(first) == 1)
    }

    @Test func readOnlyConnectionRefusesToWrite() throws {
        let writer = try makeFile()
        try writer.execute("INSERT INTO t (i) VALUES (1)")
        let reader = try Database(path: directory.file("a.db"), readOnly: true)
        #expect(try count(reader) == 1)
        let error = #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM t") }
        #expect(error?.isReadOnly == true)
    }

    @Test func aFileThatIsNoDatabaseIsCorrupt() throws {
        try Data(repeating: 0x55, count: 8192).write(to: URL(fileURLWithPath: directory.file("a.db")))
        let error = #expect(throws: SQLiteError.self) { _ = try makeFile() }
        #expect(error?.isCorrupt == true)
    }

    @Test func aDamagedPageIsCorrupt() throws {
        let path = directory.file("a.db")
        let database = try makeFile()
        try database.execute("INSERT INTO t (i, b) VALUES (1, zeroblob(100000))")
        database.close()
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 8192))
        try file.close()
        let damaged = try Database(path: path)
        let error = #expect(throws: SQLiteError.self) { _ = try count(damaged) }
        #expect(error?.isCorrupt == true)
    }

    @Test func pageLimitReadsAsFullAndTheDatabaseGoesOn() throws {
        let database = try makeFile()
        _ = try database.integer("PRAGMA max_page_count=8")
        let insert = try database.prepare("INSERT INTO t (b) VALUES (?1)")
        try database.beginTransaction()
        let error = #expect(throws: SQLiteError.self) {
            for _ in 0..<20 { try insert.run(1, [UInt8](repeating: 1, count: 3000).span) }
        }
        #expect(error?.isFull == true)
        database.rollbackTransaction()
        #expect(try count(database) == 0)
        try insert.run(1, [1].span)
        #expect(try count(database) == 1)
    }

    @Test func fileSizeLimitOfTheProcessReadsAsFull() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let database = try Database(path: directory.file("a.db"))
            try database.useWriteAheadLog(.disk)
            try database.execute("CREATE TABLE t (b BLOB)")
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 60_000, rlim_max: .max)
            precondition(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let insert = try database.prepare("INSERT INTO t VALUES (?1)")
            var failure: SQLiteError?
            var stored: Int64 = 0
            do throws(SQLiteError) {
                while stored < 100 {
                    try database.transaction { () throws(SQLiteError) in
                        try insert.run(1, [UInt8](repeating: 1, count: 3000).span)
                    }
                    stored += 1
                }
            } catch {
                failure = error
            }
            #expect(failure?.isFull == true)
            #expect(!database.isInTransaction)
            limit.rlim_cur = .max
            precondition(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            #expect(stored > 0 && stored < 100)
            #expect(try database.integer("SELECT count(*) FROM t") == stored)
            try database.transaction { () throws(SQLiteError) in try insert.run(1, [1].span) }
            #expect(try database.integer("SELECT count(*) FROM t") == stored + 1)
        }
    }

    @Test func injectedFailureOfEachStepLeavesNothingBehind() throws {
        let database = try makeFile()
        let insert = try database.prepare("INSERT INTO t (i) VALUES (?1)")
        let full = SQLiteError(code: 13, message: "injected", operation: "test")
        // Three runs and one commit can fail; the fifth round is the clean pass.
        for failing in 1...5 {
            var step = 0
            database.injectedFailure = { _ in
                step += 1
                return step == failing ? full : nil
            }
            do throws(SQLiteError) {
                try database.transaction { () throws(SQLiteError) in
                    for value in 1...3 {
                        insert.bind(1, Int64(value))
                        try insert.run()
                    }
                }
                #expect(failing == 5)
            } catch {
                #expect(error == full && failing < 5)
            }
            database.injectedFailure = nil
            #expect(try count(database) == (failing == 5 ? 3 : 0))
        }
    }
}
