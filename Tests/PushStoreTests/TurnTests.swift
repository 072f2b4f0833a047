import Foundation
import PushCore
import PushSQLite
import Testing

@testable import PushStore

@Suite struct TurnTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("store") }

    init() throws { directory = try TemporaryDirectory() }

    private static let full = SQLiteError(code: 13, message: "database or disk is full", operation: "test")

    private func open() throws -> PushStore { try PushStore(.file(path)) }

    // MARK: Commit and rollback

    @Test(arguments: PushStore.Durability.allCases)
    func whatWasCommittedIsThereAfterReopening(durability: PushStore.Durability) throws {
        let sample = try SampleRegistry()
        var store = try PushStore(.file(path), durability: durability)
        sample.saveAll(into: store)
        store.add(record(1))
        store.add(event(2, .acknowledged, push: 1))
        #expect(store.needsCommit)
        try store.commit()
        #expect(!store.needsCommit)
        let before = try store.dump()
        store.close()
        #expect(!store.isOpen)
        store = try PushStore(.file(path), durability: durability)
        #expect(try store.dump() == before)
        store.close()
        #expect(try integrity(of: path) == "ok")
    }

    @Test func whatWasNotCommittedIsGone() throws {
        var store = try open()
        store.add(record(1))
        try store.commit()
        store.add(record(2))
        store.setValue("secret", [1])
        #expect(try store.push(2) != nil)
        store.close()
        store = try open()
        #expect(try store.push(1) != nil && store.push(2) == nil && store.value("secret") == nil)
        #expect(try store.lastSequence() == 1)
    }

    @Test func aStoreThatIsDroppedWithoutClosingLosesTheOpenTurnOnly() throws {
        do {
            let store = try open()
            store.add(record(1))
            try store.commit()
            store.add(record(2))
        }
        let store = try open()
        #expect(try store.push(1) != nil && store.push(2) == nil)
    }

    @Test func aCommitWithoutWritesDoesNothing() throws {
        let store = try open()
        store.injectedFailure = { _ in Self.full }
        try store.commit()
        #expect(!store.needsCommit)
    }

    // MARK: Failures

    /// A few turns that use every kind of write.
    private static func turns(_ sample: SampleRegistry) -> [(PushStore) -> Void] {
        [
            { store in
                sample.saveAll(into: store)
                store.setValue("secret", [1, 2, 3])
            },
            { store in
                var first = record(1)
                first.id = APNsID("8a3c2f1e-0000-4000-8000-00000000abcd")
                first.collapseID = "c"
                first.detail = "d"
                store.add(first)
                store.add(event(2, .sent, push: 1, detail: 1))
                store.add(event(3, .acknowledged, push: 1))
            },
            { store in
                store.add(record(4))
                store.save(sample.device)
                store.removeApp(bundle: "com.example.plain")
            },
            { store in
                store.trim(before: 4, count: 10)
                store.removeDevice(id: 4)
                store.removeKey(id: "KEY")
            },
            { store in store.reset(keepingApps: true, keepingKeys: false, lastSequence: 20) },
            { store in store.add(record(21)) },
        ]
    }

    @Test func aFailureOfAnyWriteUndoesItsTurnAndNothingElse() throws {
        let sample = try SampleRegistry()
        var number = 1
        while true {
            let path = directory.file("store\(number)")
            let store = try PushStore(.file(path))
            // The same turns without those that failed.
            let expected = try PushStore(.temporary)
            var operations = 0
            var hasFailed = false
            store.injectedFailure = { _ in
                operations += 1
                guard operations == number else { return nil }
                hasFailed = true
                return Self.full
            }
            for (index, turn) in Self.turns(sample).enumerated() {
                let hadFailed = hasFailed
                turn(store)
                do {
                    try store.commit()
                    #expect(hasFailed == hadFailed, "turn \(index) with failure \(number) claims success")
                    turn(expected)
                    try expected.commit()
                } catch {
                    #expect(hasFailed && !hadFailed, "turn \(index) with failure \(number): \(error)")
                }
                #expect(!store.needsCommit)
                #expect(try store.dump() == expected.dump(), "turn \(index) with failure \(number)")
            }
            let last = try store.dump()
            store.close()
            #expect(try integrity(of: path) == "ok")
            #expect(try PushStore(.file(path)).dump() == last, "failure \(number)")
            if !hasFailed { break }
            number += 1
            try #require(number < 200, "the turns have an end")
        }
        #expect(number > 30)
    }

    @Test func afterAFailureTheRestOfTheTurnIsIgnored() throws {
        let store = try open()
        var asked = 0
        store.injectedFailure = { _ in
            asked += 1
            return Self.full
        }
        store.add(record(1))
        store.add(record(2))
        store.setValue("secret", [1])
        #expect(asked == 1)
        #expect(store.needsCommit)
        #expect(throws: StoreError.self) { try store.commit() }
        store.injectedFailure = nil
        try store.commit()
        #expect(try store.lastSequence() == 0)
    }

    @Test func aNumberThatIsUsedTwiceSpoilsItsTurn() throws {
        let store = try open()
        store.add(record(1))
        try store.commit()
        store.add(record(2))
        store.add(record(1))
        #expect(throws: StoreError.self) { try store.commit() }
        #expect(try store.push(2) == nil && store.push(1) != nil)
        store.add(record(2))
        try store.commit()
        #expect(try store.push(2) != nil)
    }

    @Test func aTrialTellsWhetherTheStoreWorksAgain() throws {
        let store = try open()
        store.injectedFailure = { _ in Self.full }
        #expect(!store.isWritable() && !store.needsCommit)
        store.injectedFailure = { $0 == "commit" ? Self.full : nil }
        #expect(!store.isWritable())
        store.injectedFailure = nil
        #expect(store.isWritable() && !store.needsCommit)
        store.add(record(1))
        try store.commit()
        #expect(try store.push(1) != nil)
    }

    @Test func aFullFileIsReportedAsAFullDiskAndWorksAgainWithRoom() throws {
        let store = try open()
        try store.database.execute("PRAGMA max_page_count=40")
        let payload = [UInt8](repeating: 0x20, count: 4000)
        var kept: Int64 = 0
        let failure = #expect(throws: StoreError.self) {
            for sequence in Int64(1)...200 {
                store.add(record(sequence), payload: payload.span)
                try store.commit()
                kept = sequence
            }
        }
        #expect(failure?.description.hasPrefix("the disk is full") == true)
        #expect(kept > 5)
        #expect(try store.lastSequence() == kept)
        try store.database.execute("PRAGMA max_page_count=1000000")
        #expect(store.isWritable())
        store.add(record(kept + 1), payload: payload.span)
        try store.commit()
        store.close()
        #expect(try integrity(of: path) == "ok")
    }

    // MARK: Opening

    @Test func aNewFileIsBroughtToTheCurrentVersion() throws {
        try Database(path: path).close()
        try open().close()
        #expect(try Database(path: path).userVersion == StoreSchema.version)
        #expect(StoreSchema.version > 0)
    }

    @Test func keysOfAStoreFromBeforeTopicsAreKeysForAllTopics() throws {
        let database = try Database(path: path)
        try database.execute(StoreSchema.steps[0])
        let insert = try database.prepare("INSERT INTO keys VALUES ('KEY0000001', 'TEAM000001', 1, ?)")
        insert.bind(1, publicKeyPEM)
        try insert.run()
        try database.setUserVersion(1)
        database.close()
        let store = try open()
        let key = try #require(try store.loadKeys().first)
        #expect(key.id == "KEY0000001" && key.environment == .sandbox)
        #expect(key.topics == nil && key.relatedKey == nil)
        store.close()
    }

    @Test func aFailedMigrationLeavesTheFileAsItWas() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE pushes (x)")
        database.close()
        #expect(throws: StoreError.self) { try open() }
        let after = try Database(path: path)
        #expect(try after.userVersion == 0)
        #expect(try after.integer("SELECT count(*) FROM sqlite_schema") == 1)
    }

    @Test func aStoreOfALaterVersionIsRefusedAndLeftAlone() throws {
        try open().close()
        let database = try Database(path: path)
        try database.setUserVersion(StoreSchema.version + 1)
        database.close()
        let failure = #expect(throws: StoreError.self) { try open() }
        guard case .newer(let found, let known) = failure else {
            Issue.record("\(text(failure))")
            return
        }
        #expect(found == StoreSchema.version + 1 && known == StoreSchema.version)
        #expect(failure?.description.contains("use the newer LocalPush") == true)
        #expect(try Database(path: path).userVersion == StoreSchema.version + 1)
    }

    @Test func aStoreOfTheFirstVersionIsBroughtUpWithAllItHolds() throws {
        let database = try Database(path: path)
        try database.execute(StoreSchema.steps[0])
        try database.execute(
            """
            INSERT INTO apps VALUES ('com.example.app', 'TEAM1', NULL);
            INSERT INTO pushes VALUES
                (1, 1, 0, 5, NULL, 1, 10, 99, 1, NULL, NULL, 'com.example.app', NULL, 'c', NULL, X'7B7D');
            INSERT INTO events VALUES (2, 4, 1, 1, 6, 0);
            """)
        try database.setUserVersion(1)
        database.close()
        for _ in 1...2 {
            let store = try open()
            #expect(try store.loadApps().map(\.bundle) == ["com.example.app"])
            #expect(try store.loadApps().map(\.isBroadcastEnabled) == [nil])
            let push = try #require(try store.push(1))
            #expect(push.payload == [0x7B, 0x7D] && push.record.collapseID == "c" && push.record.broadcast == nil)
            #expect(push.events.map(\.milestone) == [.acknowledged])
            #expect(try store.loadChannels().isEmpty)
            store.close()
        }
        #expect(try Database(path: path).userVersion == StoreSchema.version)
    }

    @Test func aSecondOwnerIsRefusedFromTheFirstMomentUntilTheFirstIsGone() throws {
        var first = try open()
        for _ in 1...2 {
            let failure = #expect(throws: StoreError.self) { try open() }
            #expect(failure?.description.hasPrefix("the store is in use by another LocalPush") == true)
            first.add(record(try first.lastSequence() + 1))
            try first.commit()
            // The same holds for a file that needed no migration and was not written yet.
            first.close()
            first = try open()
        }
        first.close()
        try open().close()
    }

    @Test func aFileThatIsNoStoreIsCalledDamaged() throws {
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: path))
        let failure = #expect(throws: StoreError.self) { try open() }
        #expect(failure?.description.hasPrefix("the store is damaged") == true)
    }

    @Test func aFolderThatIsNotThereIsAnError() {
        #expect(throws: StoreError.self) { try PushStore(.file(directory.file("no/such/folder/store"))) }
    }

    @Test func aTemporaryStoreBelongsToItself() throws {
        let (first, second) = (try PushStore(.temporary), try PushStore(.temporary))
        first.add(record(1))
        try first.commit()
        #expect(try second.lastSequence() == 0 && first.lastSequence() == 1)
    }
}
