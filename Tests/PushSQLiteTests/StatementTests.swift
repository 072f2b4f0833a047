import PushSQLite
import Testing

@Suite struct StatementTests {
    let database: Database

    init() throws {
        database = try Database(path: "")
        try database.execute("CREATE TABLE t (i INTEGER, d REAL, s TEXT, b BLOB)")
    }

    private func row() throws -> Statement {
        let statement = try database.prepare("SELECT i, d, s, b FROM t")
        #expect(try statement.step())
        return statement
    }

    @Test func everyKindOfValueComesBack() throws {
        let insert = try database.prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4)")
        insert.bind(1, Int64.min)
        insert.bind(2, 0.5)
        insert.bind(3, "zwölf\0nach")
        insert.bind(4, [0, 255, 1] as [UInt8])
        try insert.run()
        let row = try row()
        #expect(row.integer(0) == Int64.min)
        #expect(row.double(1) == 0.5)
        #expect(row.text(2) == "zwölf\0nach")
        #expect(row.blob(3) == [0, 255, 1])
        #expect(try !row.step())
    }

    @Test func emptyTextAndEmptyBlobAreNotNull() throws {
        let insert = try database.prepare("INSERT INTO t (s, b) VALUES (?1, ?2)")
        insert.bind(1, "")
        insert.bind(2, [] as [UInt8])
        try insert.run()
        let row = try row()
        #expect(row.isNull(0) && !row.isNull(2) && !row.isNull(3))
        #expect(row.text(2).isEmpty && row.blob(3).isEmpty)
    }

    @Test func absentOptionalsBindNull() throws {
        let insert = try database.prepare("INSERT INTO t (i, s, b) VALUES (?1, ?2, ?3)")
        insert.bind(1, nil as Int64?)
        insert.bind(2, nil as String?)
        insert.bind(3, nil as [UInt8]?)
        try insert.run()
        let row = try row()
        #expect(row.isNull(0) && row.isNull(2) && row.isNull(3))
    }

    @Test func runClearsTheBindings() throws {
        let insert = try database.prepare("INSERT INTO t (i) VALUES (?1)")
        insert.bind(1, 7 as Int64)
        try insert.run()
        try insert.run()
        #expect(try database.integer("SELECT count(*) FROM t WHERE i IS NULL") == 1)
    }

    @Test func borrowedBlobsNestAndAreForgotten() throws {
        let first: [UInt8] = [1, 2, 3]
        let second = [UInt8](repeating: 9, count: 5000)
        let insert = try database.prepare("INSERT INTO t (s, b) VALUES (?1, ?2)")
        try insert.binding(1, first.span) { () throws(SQLiteError) in
            try insert.run(2, second.span)
        }
        try insert.run()
        let select = try database.prepare("SELECT s, b FROM t ORDER BY rowid")
        #expect(try select.step())
        #expect(select.blob(0) == first && select.blob(1) == second)
        #expect(try select.step())
        #expect(select.isNull(0) && select.isNull(1))
    }

    @Test func lentBlobHasTheStoredBytes() throws {
        let insert = try database.prepare("INSERT INTO t (b) VALUES (?1)")
        try insert.run(1, [4, 5, 6].span)
        let row = try row()
        let sum = row.withBlob(3) { bytes in bytes.indices.reduce(0) { $0 + Int(bytes[$1]) } }
        #expect(sum == 15)
        #expect(row.withBlob(2) { $0.count } == 0)
    }

    @Test func constraintErrorNamesTheColumnAndLeavesTheStatementUsable() throws {
        try database.execute("CREATE TABLE u (k INTEGER PRIMARY KEY)")
        let insert = try database.prepare("INSERT INTO u VALUES (?1)")
        insert.bind(1, 1 as Int64)
        try insert.run()
        insert.bind(1, 1 as Int64)
        let error = #expect(throws: SQLiteError.self) { try insert.run() }
        #expect(error?.isConstraint == true)
        #expect(error?.message.contains("u.k") == true)
        insert.bind(1, 2 as Int64)
        try insert.run()
        #expect(database.lastInsertRowID == 2 && database.changes == 1)
    }

    @Test func faultySQLIsAnErrorThatShowsIt() throws {
        let error = #expect(throws: SQLiteError.self) { _ = try database.prepare("SELEKT 1") }
        #expect(error?.operation == "prepare")
        #expect(error?.message.contains("SELEKT") == true)
    }

    @Test func missingParameterTraps() async {
        await #expect(processExitsWith: .failure) {
            let database = try Database(path: "")
            try database.prepare("SELECT 1").bind(1, 1 as Int64)
        }
    }

    @Test func statementOfAClosedDatabaseTraps() async {
        await #expect(processExitsWith: .failure) {
            let database = try Database(path: "")
            let statement = try database.prepare("SELECT 1")
            database.close()
            _ = try statement.step()
        }
    }
}
