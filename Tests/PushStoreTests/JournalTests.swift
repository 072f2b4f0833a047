import PushCore
@testable import PushStore
import Testing

@Suite struct JournalTests {
    private let store: PushStore

    init() throws { store = try PushStore(.temporary) }

    private func pending() throws -> [Int64] {
        var found: [Int64] = []
        try store.loadPending { _, _, entry in found.append(entry.sequence) }
        return found
    }

    private func sequences(_ change: (inout PushQuery) -> Void) throws -> [Int64] {
        var query = PushQuery()
        change(&query)
        return try store.pushes(query).map(\.record.sequence)
    }

    // MARK: Columns

    @Test func aFullPushIsReadBack() throws {
        var written = PushRecord(
            sequence: 7, id: APNsID("8a3c2f1e-0000-4000-8000-00000000ABCD"), registration: 10, at: 1_767_225_600_123,
            reason: .badPriority, environment: .production)
        written.detail = "apns-priority: 7"
        written.topic = "com.example.app.voip"
        written.pushType = .voip
        written.priority = 5
        written.expiration = -1
        written.expiresAt = 1_767_225_700_000
        written.isStorable = false
        written.collapseID = "ä ' \0 news"
        let payload: [UInt8] = Array("{\"aps\":{}}".utf8) + [0, 255]
        store.add(written, payload: payload.span)
        store.add(event(9, .sent, push: 7, detail: 1))
        store.add(event(8, .stored, push: 7))
        store.add(event(10, .sent, push: 6))
        try store.commit()
        let read = try #require(try store.push(7))
        #expect(
            describe(read)
                == describe(
                    StoredPush(
                        record: written, payload: payload,
                        events: [event(8, .stored, push: 7), event(9, .sent, push: 7, detail: 1)])))
    }

    @Test func anEmptyPushIsReadBack() throws {
        // A full one goes first: nothing of it may stay in the statement.
        var full = record(1)
        full.id = APNsID("8a3c2f1e-0000-4000-8000-00000000abcd")
        full.reason = .badTopic
        full.pushType = .alert
        full.expiration = 5
        full.collapseID = "c"
        full.detail = "d"
        store.add(full)
        let written = PushRecord(
            sequence: 2, id: nil, registration: 0, at: 0, reason: nil, environment: .sandbox)
        store.add(written, payload: Span())
        try store.commit()
        let read = try #require(try store.push(2))
        #expect(describe(read) == describe(StoredPush(record: written, payload: [], events: [])))
        #expect(read.record.expiresAt == .max && read.record.isStorable && read.record.priority == 10)
    }

    @Test func everyReasonTypeAndMilestoneIsReadBack() throws {
        var sequence: Int64 = 0
        for reason in APNsReason.allCases {
            sequence += 1
            var record = record(sequence)
            record.reason = reason
            store.add(record)
            #expect(try store.push(sequence)?.record.reason == reason)
        }
        for type in PushType.allCases {
            sequence += 1
            var record = record(sequence)
            record.pushType = type
            store.add(record)
            #expect(try store.push(sequence)?.record.pushType == type)
        }
        for milestone in Milestone.allCases {
            sequence += 1
            let written = JournalEvent(
                sequence: sequence, milestone: milestone, push: 0, device: .max, at: .min, detail: -1)
            store.add(written)
            #expect(try store.events(after: sequence - 1, limit: 1) == [written])
        }
        try store.commit()
    }

    @Test func aPushIsLentWithItsPayload() throws {
        store.add(record(1), payload: [1, 2, 3].span)
        let lent = try store.withPush(1) { ($0.sequence, $1.count, $1[2]) }
        #expect(lent?.0 == 1 && lent?.1 == 3 && lent?.2 == 3)
        #expect(try store.withPush(2) { _, _ in true } == nil)
        // The statement is free again.
        #expect(try store.push(1)?.payload == [1, 2, 3])
        try store.commit()
    }

    // MARK: Finding

    @Test func idsAreFoundInAnyCaseNewestFirst() throws {
        for (sequence, text) in [
            (Int64(1), "8a3c2f1e-0000-4000-8000-00000000abcd"), (2, "8A3C2F1E-0000-4000-8000-00000000ABCD"),
            (3, "8a3c2f1e-0000-4000-8000-00000000abce"),
        ] {
            var record = record(sequence)
            record.id = APNsID(text)
            store.add(record)
        }
        try store.commit()
        for text in ["8a3c2f1e-0000-4000-8000-00000000abcd", "8A3c2F1e-0000-4000-8000-00000000ABcd"] {
            let found = try #require(try APNsID(text).flatMap { id throws in try store.push(id: id) })
            #expect(found.record.sequence == 2)
        }
        let other = try #require(APNsID("00000000-0000-4000-8000-000000000000"))
        #expect(try store.push(id: other) == nil)
    }

    @Test func aListingIsBoundedByNumbers() throws {
        for sequence in Int64(1)...6 { store.add(record(sequence)) }
        try store.commit()
        #expect(try sequences { _ in } == [1, 2, 3, 4, 5, 6])
        #expect(try sequences { $0.after = 2 } == [3, 4, 5, 6])
        #expect(try sequences { $0.before = 3 } == [1, 2])
        #expect(
            try sequences {
                $0.after = 1
                $0.before = 5
            } == [2, 3, 4])
        #expect(try sequences { $0.limit = 2 } == [5, 6])
        #expect(try sequences { $0.limit = 0 } == [6])
        #expect(try sequences { $0.limit = -5 } == [6])
        #expect(try sequences { $0.limit = .max }.count == 6)
    }

    @Test func oneQueryGivesAThousandAtMost() throws {
        for sequence in Int64(1)...1005 { store.add(record(sequence)) }
        try store.commit()
        let found = try sequences { $0.limit = 5000 }
        #expect(found.count == PushStore.queryLimitMax && found.first == 6 && found.last == 1005)
        #expect(try sequences { _ in }.count == 100)
    }

    @Test func aListingMayFollowTheChainOfOneRegistration() throws {
        for sequence in Int64(1)...6 {
            var record = record(sequence, registration: sequence % 3)
            record.previous = max(sequence - 3, 0)
            store.add(record)
        }
        try store.commit()
        #expect(try sequences { $0.chain = 4 } == [1, 4])
        #expect(try sequences { $0.chain = 6 } == [3, 6])
        #expect(try sequences { $0.chain = 0 } == [])
        #expect(try sequences { $0.chain = 99 } == [])
        #expect(
            try sequences {
                $0.chain = 4
                $0.after = 1
            } == [4])
        #expect(
            try sequences {
                $0.chain = 4
                $0.before = 4
            } == [1])
        #expect(
            try sequences {
                $0.chain = 4
                $0.limit = 1
            } == [4])
        var newest: [Int64: Int64] = [:]
        try store.loadChains { newest[$0] = $1 }
        #expect(newest == [1: 4, 2: 5])
    }

    @Test func aListingOfAnAppHoldsItsTopicsAndNoOtherApps() throws {
        let topics: [String?] = [
            "com.example", "com.example.voip", "com.example.push-type.widgets", "com.example.app", "com.exampleX",
            "com.example.app.voip", nil, "comXexample", "com.example%",
        ]
        for (index, topic) in topics.enumerated() { store.add(record(Int64(index) + 1, topic: topic)) }
        try store.commit()
        #expect(try sequences { $0.bundle = "com.example" } == [1, 2, 3])
        #expect(try sequences { $0.bundle = "com.example.app" } == [4, 6])
        #expect(try sequences { $0.bundle = "com.%" } == [])
        #expect(try sequences { $0.bundle = "" } == [])
        #expect(
            try sequences {
                $0.bundle = "com.example"
                $0.after = 1
                $0.before = 3
            } == [2])
    }

    // MARK: Events

    @Test func pushesStandAmongTheEventsInTheOrderOfTheirNumbers() throws {
        store.add(event(3, .sent, push: 2, detail: 1))
        store.add(event(1, .connected, push: 0))
        store.add(record(2))
        var refused = record(5)
        refused.reason = .badTopic
        store.add(refused)
        store.add(event(4, .acknowledged, push: 2))
        try store.commit()
        let events = try store.events(after: 0, limit: 10)
        #expect(events.map(\.sequence) == [1, 2, 3, 4, 5])
        #expect(events.map(\.milestone) == [.connected, .accepted, .sent, .acknowledged, .rejected])
        #expect(events.map(\.push) == [0, 2, 2, 2, 5])
        #expect(events[1].at == 1002 && events[1].detail == 0)
        #expect(events[4].detail == Int64(APNsReason.badTopic.rawValue))
        #expect(try store.events(after: 2, limit: 2).map(\.sequence) == [3, 4])
        #expect(try store.events(after: 5, limit: 10).isEmpty)
        #expect(try store.lastSequence() == 5)
    }

    @Test func theInboxOfADeviceHoldsWhatItAcknowledged() throws {
        for (sequence, milestone, device) in [
            (Int64(1), Milestone.sent, Int64(3)), (2, .acknowledged, 3), (3, .acknowledged, 4), (4, .dropped, 3),
            (5, .acknowledged, 3), (6, .acknowledged, 3),
        ] {
            store.add(event(sequence, milestone, push: 100 + sequence, device: device))
        }
        try store.commit()
        func inbox(_ device: Int64, after: Int64, limit: Int) throws -> [[Int64]] {
            try store.inbox(of: device, after: after, limit: limit).map { [$0.sequence, $0.push] }
        }
        #expect(try inbox(3, after: 0, limit: 10) == [[2, 102], [5, 105], [6, 106]])
        #expect(try inbox(3, after: 2, limit: 1) == [[5, 105]])
        #expect(try inbox(4, after: 0, limit: 10) == [[3, 103]])
        #expect(try inbox(5, after: 0, limit: 10).isEmpty)
    }

    // MARK: Pending

    @Test func whatWasAcceptedAndHasNotEndedIsPending() throws {
        var sequence: Int64 = 0
        var expected: [Int64] = []
        for milestone in Milestone.allCases {
            sequence += 2
            store.add(record(sequence))
            store.add(event(sequence + 1, milestone, push: sequence))
            if !milestone.endsDelivery || milestone == .rejected { expected.append(sequence) }
        }
        sequence += 2
        var refused = record(sequence)
        refused.reason = .badTopic
        store.add(refused)
        store.add(record(sequence + 1))
        expected.append(sequence + 1)
        try store.commit()
        #expect(try pending() == expected)
    }

    @Test func aPendingPushComesWithAllAMailboxNeeds() throws {
        var written = record(5, registration: 77, topic: "com.example.app.voip")
        written.expiresAt = 123_456
        written.isStorable = false
        written.priority = 1
        store.add(written)
        store.add(record(4))
        store.add(event(6, .sent, push: 4, detail: 1))
        try store.commit()
        var found: [(Int64, String, MailboxEntry)] = []
        try store.loadPending { found.append(($0, $1, $2)) }
        try #require(found.map(\.2.sequence) == [4, 5])
        #expect(found[1].0 == 77 && found[1].1 == "com.example.app.voip")
        #expect(found[1].2 == MailboxEntry(sequence: 5, expiresAt: 123_456, isStorable: false, priority: 1))
        // One that has left once may have arrived: no rule replaces it, also after a restart.
        #expect(found.map(\.2.wasSent) == [true, false])
    }

    // MARK: Trimming

    @Test func trimmingTakesEndedPushesFromBeforeANumberAndTheirEvents() throws {
        for (push, end) in [(Int64(1), Milestone.acknowledged), (3, .dropped), (5, .sent), (7, .replaced)] {
            store.add(record(push))
            store.add(event(push + 1, end, push: push))
        }
        var refused = record(9)
        refused.reason = .badTopic
        store.add(refused)
        store.add(event(10, .connected, push: 0))
        store.add(record(11))
        try store.commit()
        store.trim(before: 7, count: 100)
        try store.commit()
        #expect(try sequences { _ in } == [5, 7, 9, 11])
        #expect(try store.push(5)?.events.map(\.sequence) == [6])
        #expect(try store.events(after: 0, limit: 100).map(\.sequence) == [5, 6, 7, 8, 9, 10, 11])
        #expect(store.trim(before: 100, count: 100) == 2 + 2)
        try store.commit()
        // What still waits stays, with what happened to it.
        #expect(try pending() == [5, 11])
        #expect(try store.events(after: 0, limit: 100).map(\.sequence) == [5, 6, 11])
        #expect(try store.lastSequence() == 11)
    }

    @Test func trimmingIsBoundedAndTakesTheOldestFirst() throws {
        for push in stride(from: Int64(1), through: 19, by: 2) {
            store.add(record(push))
            store.add(event(push + 1, .acknowledged, push: push))
        }
        try store.commit()
        #expect(store.trim(before: 100, count: 3) == 6)
        #expect(try sequences { _ in } == [7, 9, 11, 13, 15, 17, 19])
        var rounds = 0
        while store.trim(before: 100, count: 3) > 0 { rounds += 1 }
        #expect(rounds == 3)
        #expect(try store.events(after: 0, limit: 10).isEmpty)
        try store.commit()
    }

    @Test func anEventOfAPushThatWaitsIsNeverTrimmed() throws {
        store.add(record(1))
        for sequence in Int64(2)...5 { store.add(event(sequence, .sent, push: 1, detail: sequence - 1)) }
        try store.commit()
        #expect(store.trim(before: 100, count: 100) == 0)
        #expect(try store.push(1)?.events.count == 4)
        try store.commit()
    }
}
