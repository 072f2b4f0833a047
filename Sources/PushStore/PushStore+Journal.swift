package import PushCore
import PushSQLite

/// A push as the journal holds it, with everything that happened to it.
package struct StoredPush: Sendable {
    package let record: PushRecord
    package let payload: [UInt8]
    package let events: [JournalEvent]
}

/// Which pushes a listing wants. All conditions must hold; `nil` ones do not count.
package struct PushQuery: Sendable {
    package var after: Int64 = 0
    package var before: Int64?
    /// Pushes of one registration only: its newest one, from which the older ones are found; 0 when it has none.
    package var chain: Int64?
    /// Pushes to this app: its bundle id alone, or with the suffix of a push type.
    package var bundle: String?
    /// Refused ones only, or accepted ones only.
    package var isRejected: Bool?
    /// Which end of the range counts when it holds more than `limit`; the answer is oldest first either way. Without
    /// `chain` only.
    package var prefersOldest = false
    /// At most 1000.
    package var limit = 100

    package init() {}
}

extension PushStore {
    /// Most pushes one query gives.
    package static let queryLimitMax = 1000

    package func add(_ record: PushRecord, payload: Span<UInt8>) {
        write { () throws(SQLiteError) in
            let statement = statements.addPush
            statement.bind(1, record.sequence)
            statement.bind(2, record.registration)
            statement.bind(3, record.previous)
            statement.bind(4, record.at)
            if let reason = record.reason { statement.bind(5, Int64(reason.rawValue)) }
            statement.bind(6, Int64(record.environment.rawValue))
            statement.bind(7, Int64(record.priority))
            statement.bind(8, record.expiresAt)
            statement.bind(9, Int64(record.isStorable ? 1 : 0))
            if let type = record.pushType { statement.bind(10, Int64(type.rawValue)) }
            if let expiration = record.expiration { statement.bind(11, expiration) }
            if let topic = record.topic { statement.bind(12, topic) }
            if let id = record.id { statement.bind(13, id.string) }
            if let collapseID = record.collapseID { statement.bind(14, collapseID) }
            if let detail = record.detail { statement.bind(15, detail) }
            if let broadcast = record.broadcast {
                statement.bind(17, broadcast.channel)
                statement.bind(18, broadcast.nanoseconds)
            }
            try statement.run(16, payload)
        }
    }

    package func add(_ event: JournalEvent) {
        write { () throws(SQLiteError) in
            let statement = statements.addEvent
            statement.bind(1, event.sequence)
            statement.bind(2, Int64(event.milestone.rawValue))
            statement.bind(3, event.push)
            statement.bind(4, event.device)
            statement.bind(5, event.at)
            statement.bind(6, event.detail)
            try statement.run()
        }
    }

    /// Where a reset keeps the count.
    static let sequenceName = "sequence"

    /// The highest number given out.
    package func lastSequence() throws(StoreError) -> Int64 {
        let kept = try value(Self.sequenceName).flatMap { Int64(String(decoding: $0, as: UTF8.self)) } ?? 0
        return try storing { () throws(SQLiteError) in
            let pushes = try database.integer("SELECT max(sequence) FROM pushes") ?? 0
            return max(kept, pushes, try database.integer("SELECT max(sequence) FROM events") ?? 0)
        }
    }

    /// Accepted pushes that have not ended, oldest first: what the mailboxes held.
    package func loadPending(
        _ body: (_ registration: Int64, _ topic: String, _ entry: MailboxEntry) -> Void
    ) throws(StoreError) {
        try storing { () throws(SQLiteError) in
            let statement = try database.prepare(
                """
                SELECT sequence, registration, topic, expires_at, is_storable, priority, EXISTS (
                    SELECT 1 FROM events e WHERE e.push = p.sequence AND e.push <> 0 AND e.milestone = 3)
                FROM pushes p
                WHERE reason IS NULL AND channel IS NULL AND NOT EXISTS (
                    SELECT 1 FROM events e
                    WHERE e.push = p.sequence AND e.push <> 0 AND e.milestone IN (4, 17, 18, 19))
                ORDER BY sequence
                """)
            while try statement.step() {
                var entry = MailboxEntry(
                    sequence: statement.integer(0), expiresAt: statement.integer(3),
                    isStorable: statement.integer(4) != 0, priority: UInt8(statement.integer(5)))
                entry.wasSent = statement.integer(6) != 0
                body(statement.integer(1), statement.text(2), entry)
            }
        }
    }

    package func push(_ sequence: Int64) throws(StoreError) -> StoredPush? {
        try storing { () throws(SQLiteError) in
            statements.push.bind(1, sequence)
            return try one(statements.push)
        }
    }

    /// The newest push with an id that the provider chose.
    package func push(id: APNsID) throws(StoreError) -> StoredPush? {
        try storing { () throws(SQLiteError) in
            statements.pushByID.bind(1, id.string)
            return try one(statements.pushByID)
        }
    }

    /// The record and payload of a push, for sending: its events are not read.
    package func withPush<Result>(
        _ sequence: Int64, _ body: (PushRecord, Span<UInt8>) -> Result
    ) throws(StoreError) -> Result? {
        try storing { () throws(SQLiteError) in
            statements.push.bind(1, sequence)
            defer { statements.push.reset() }
            guard try statements.push.step() else { return nil }
            let record = Self.record(statements.push)
            return statements.push.withBlob(15) { body(record, $0) }
        }
    }

    package func pushes(_ query: PushQuery) throws(StoreError) -> [StoredPush] {
        if let newest = query.chain { return try chain(from: newest, query) }
        var conditions = ["sequence > ?1"]
        if query.before != nil { conditions.append("sequence < ?2") }
        if let isRejected = query.isRejected { conditions.append("reason IS \(isRejected ? "NOT NULL" : "NULL")") }
        let topics = query.bundle.map { bundle in TopicSuffix.allCases.map { bundle + $0.text } } ?? []
        if query.bundle != nil {
            conditions.append("topic IN (\(topics.indices.map { "?\($0 + 3)" }.joined(separator: ",")))")
        }
        let limit = min(max(query.limit, 1), Self.queryLimitMax)
        return try storing { () throws(SQLiteError) in
            let statement = try database.prepare(
                """
                SELECT * FROM pushes WHERE \(conditions.joined(separator: " AND "))
                ORDER BY sequence \(query.prefersOldest ? "ASC" : "DESC") LIMIT \(limit)
                """)
            statement.bind(1, query.after)
            if let before = query.before { statement.bind(2, before) }
            for (index, topic) in topics.enumerated() { statement.bind(Int32(index) + 3, topic) }
            var found: [(PushRecord, [UInt8])] = []
            while try statement.step() { found.append((Self.record(statement), statement.blob(15))) }
            var pushes: [StoredPush] = []
            if !query.prefersOldest { found.reverse() }
            for (record, payload) in found {
                pushes.append(StoredPush(record: record, payload: payload, events: try events(of: record.sequence)))
            }
            return pushes
        }
    }

    private func chain(from newest: Int64, _ query: PushQuery) throws(StoreError) -> [StoredPush] {
        precondition(!query.prefersOldest, "a chain begins at its newest push")
        var pushes: [StoredPush] = []
        var sequence = newest
        let limit = min(max(query.limit, 1), Self.queryLimitMax)
        while sequence > query.after, pushes.count < limit, let push = try push(sequence) {
            sequence = push.record.previous
            let isWanted =
                (query.isRejected == nil || query.isRejected == (push.record.reason != nil))
                && push.record.sequence < query.before ?? .max
                && (query.bundle == nil || push.record.topic.map { TopicSuffix.split($0).bundle } == query.bundle)
            if isWanted { pushes.append(push) }
        }
        return pushes.reversed()
    }

    /// The newest push of each registration: where its chain begins.
    package func loadChains(_ body: (_ registration: Int64, _ newest: Int64) -> Void) throws(StoreError) {
        try storing { () throws(SQLiteError) in
            let statement = try database.prepare(
                "SELECT registration, max(sequence) FROM pushes WHERE registration <> 0 GROUP BY registration")
            while try statement.step() { body(statement.integer(0), statement.integer(1)) }
        }
    }

    /// Journal lines after a number, oldest first; pushes appear as `accepted` or, with the reason as detail, `rejected`.
    package func events(after sequence: Int64, limit: Int) throws(StoreError) -> [JournalEvent] {
        try storing { () throws(SQLiteError) in
            let statement = statements.eventsAfter
            statement.bind(1, sequence)
            statement.bind(2, Int64(limit))
            defer { statement.reset() }
            var events: [JournalEvent] = []
            while try statement.step() { events.append(Self.event(statement)) }
            return events
        }
    }

    /// What a device acknowledged after a number of the journal: (number, push) pairs.
    package func inbox(
        of device: Int64, after sequence: Int64, limit: Int
    ) throws(StoreError) -> [(sequence: Int64, push: Int64)] {
        try storing { () throws(SQLiteError) in
            let statement = statements.inbox
            statement.bind(1, device)
            statement.bind(2, sequence)
            statement.bind(3, Int64(limit))
            defer { statement.reset() }
            var found: [(sequence: Int64, push: Int64)] = []
            while try statement.step() { found.append((statement.integer(0), statement.integer(1))) }
            return found
        }
    }

    /// The lowest number still in the journal; `nil` when it is empty.
    package func oldestSequence() throws(StoreError) -> Int64? {
        try storing { () throws(SQLiteError) in
            let oldest = [
                try database.integer("SELECT min(sequence) FROM pushes"),
                try database.integer("SELECT min(sequence) FROM events"),
            ]
            return oldest.compactMap { $0 == 0 ? nil : $0 }.min()
        }
    }

    /// Forgets at most `count` ended pushes, and as many events, from before a number; what still waits is never
    /// touched. Returns how many rows went.
    @discardableResult
    package func trim(before sequence: Int64, count: Int) -> Int {
        var removed = 0
        for statement in [statements.trimPushes, statements.trimEvents] {
            write { () throws(SQLiteError) in
                statement.bind(1, sequence)
                statement.bind(2, Int64(count))
                try statement.run()
                removed += database.changes
            }
        }
        return removed
    }

    private func one(_ statement: Statement) throws(SQLiteError) -> StoredPush? {
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let record = Self.record(statement)
        return StoredPush(record: record, payload: statement.blob(15), events: try events(of: record.sequence))
    }

    private func events(of push: Int64) throws(SQLiteError) -> [JournalEvent] {
        let statement = statements.eventsOfPush
        statement.bind(1, push)
        defer { statement.reset() }
        var events: [JournalEvent] = []
        while try statement.step() { events.append(Self.event(statement)) }
        return events
    }

    private static func event(_ row: Statement) -> JournalEvent {
        JournalEvent(
            sequence: row.integer(0), milestone: Milestone(rawValue: UInt8(row.integer(1))) ?? .dropped,
            push: row.integer(2), device: row.integer(3), at: row.integer(4), detail: row.integer(5))
    }

    private static func record(_ row: Statement) -> PushRecord {
        var record = PushRecord(
            sequence: row.integer(0), id: row.isNull(12) ? nil : APNsID(row.text(12)), registration: row.integer(1),
            at: row.integer(3), reason: row.isNull(4) ? nil : APNsReason(rawValue: UInt8(row.integer(4))),
            environment: PushEnvironment(rawValue: UInt8(row.integer(5))) ?? .sandbox)
        record.previous = row.integer(2)
        record.priority = UInt8(row.integer(6))
        record.expiresAt = row.integer(7)
        record.isStorable = row.integer(8) != 0
        record.pushType = row.isNull(9) ? nil : PushType(rawValue: UInt8(row.integer(9)))
        record.expiration = row.isNull(10) ? nil : row.integer(10)
        record.topic = row.isNull(11) ? nil : row.text(11)
        record.collapseID = row.isNull(13) ? nil : row.text(13)
        record.detail = row.isNull(14) ? nil : row.text(14)
        if !row.isNull(16) {
            record.broadcast = BroadcastMark(channel: row.blob(16), nanoseconds: row.integer(17))
        }
        return record
    }
}
