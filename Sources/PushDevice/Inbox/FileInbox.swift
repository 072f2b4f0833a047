package import PushSQLite

/// The durable part of a device: inbox, base token and identity in one SQLite file with a write-ahead log.
///
/// A message stays as a row until the app is done with it; then the row is emptied and its key remains, as memory of
/// the id. Keys are looked up in memory and have no index: in a file their order is random, and an index would rewrite
/// a page for each. So a commit only appends. Belongs to the loop. The file is locked for as long as it is open: two processes with one identity would
/// take each other's messages.
package final class FileInbox {
    private static let schemaVersion: Int32 = 2
    /// Inserts between two looks for keys that may be forgotten.
    private static let pruneInterval: Int64 = 256

    private let database: Database
    private let seenMax: Int64
    private var seen: SeenKeys
    private let insertMessage: Statement
    private let consumeMessage: Statement
    private let prune: Statement
    private let setState: Statement

    /// Opens or creates the file. Throws `isBusy` when another device has it open, `isCorrupt` when it is damaged.
    package init(path: String, seenMax: Int) throws(SQLiteError) {
        seen = SeenKeys(max: seenMax)
        let database = try Database(path: path)
        self.database = database
        self.seenMax = Int64(seenMax)
        try database.execute("PRAGMA locking_mode=EXCLUSIVE")
        try database.useWriteAheadLog(.process)
        try Self.migrate(database)
        insertMessage = try database.prepare(
            """
            INSERT INTO message
              (payload, key, topic, received_at, expiry, timestamp, flags, priority, push_id, channel, task_id,
               vendor_message_id, collapse_id, push_type, broadcast_channel)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            """)
        consumeMessage = try database.prepare(
            """
            UPDATE message SET consumed = 1, payload = NULL, topic = NULL, push_id = NULL, channel = NULL,
              task_id = NULL, vendor_message_id = NULL, collapse_id = NULL, push_type = NULL,
              broadcast_channel = NULL
            WHERE sequence = ?1 AND consumed = 0
            """)
        prune = try database.prepare("DELETE FROM message WHERE sequence <= ?1 AND consumed = 1")
        setState = try database.prepare("INSERT OR REPLACE INTO state (name, value) VALUES (?1, ?2)")
        let keys = try database.prepare("SELECT key FROM message ORDER BY sequence")
        while try keys.step() {
            if let key = MessageKey(bytes: keys.blob(0)) { seen.insert(key) }
        }
    }

    private static func migrate(_ database: Database) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            switch try database.userVersion {
            case 0:
                try database.execute(
                    """
                    CREATE TABLE state (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
                    CREATE TABLE message (
                      sequence INTEGER PRIMARY KEY, key BLOB NOT NULL, consumed INTEGER NOT NULL DEFAULT 0,
                      topic TEXT, payload BLOB, received_at INTEGER, expiry INTEGER, timestamp INTEGER, flags INTEGER,
                      priority INTEGER, push_id BLOB, channel TEXT, task_id TEXT, vendor_message_id TEXT,
                      collapse_id TEXT, push_type TEXT, broadcast_channel BLOB);
                    """)
                try database.setUserVersion(schemaVersion)
            case 1:
                try database.execute("ALTER TABLE message ADD COLUMN broadcast_channel BLOB")
                try database.setUserVersion(schemaVersion)
            case schemaVersion:
                break
            case let version:
                throw SQLiteError(
                    code: 1, message: "the file has format \(version), this program knows \(schemaVersion)",
                    operation: "open")
            }
        }
    }

    package func close() { database.close() }

    /// For tests that fail the Nth step.
    package var injectedFailure: ((String) -> SQLiteError?)? {
        get { database.injectedFailure }
        set { database.injectedFailure = newValue }
    }

    // MARK: Messages

    package func commit(_ change: DeviceInbox.Change) throws(SQLiteError) -> DeviceInbox.Outcome {
        var arrived: Set<MessageKey> = []
        let outcome = try database.transaction { () throws(SQLiteError) in
            var outcome = DeviceInbox.Outcome()
            for message in change.arrivals {
                let isNew = !seen.contains(message.key) && arrived.insert(message.key).inserted
                outcome.sequences.append(isNew ? try insert(message) : nil)
            }
            for sequence in change.consumed {
                consumeMessage.bind(1, sequence)
                try consumeMessage.run()
                outcome.consumed += database.changes
            }
            if let baseToken = change.baseToken { try setState("base_token", baseToken) }
            return outcome
        }
        // Only what is durable counts as seen.
        for (index, sequence) in outcome.sequences.enumerated() where sequence != nil {
            seen.insert(change.arrivals[index].key)
        }
        return outcome
    }

    private func insert(_ message: InboxMessage) throws(SQLiteError) -> Int64 {
        let statement = insertMessage
        statement.bind(2, message.key.bytes)
        statement.bind(3, message.topic)
        statement.bind(4, message.receivedAtMilliseconds)
        statement.bind(5, message.expirySeconds.map { Int64($0) })
        statement.bind(6, message.timestampNanoseconds.map { Int64(bitPattern: $0) })
        statement.bind(7, Int64(message.isFromStorage ? 1 : 0) | Int64(message.isLastStored ? 2 : 0))
        statement.bind(8, message.priority.map { Int64($0) })
        statement.bind(9, message.pushID)
        statement.bind(10, message.channel)
        statement.bind(11, message.taskID)
        statement.bind(12, message.vendorMessageID)
        statement.bind(13, message.collapseID)
        statement.bind(14, message.pushType)
        statement.bind(15, message.broadcastChannel)
        try statement.run(1, message.payload.span)
        let sequence = database.lastInsertRowID
        if sequence % Self.pruneInterval == 0 {
            prune.bind(1, sequence - seenMax)
            try prune.run()
        }
        return sequence
    }

    /// What the app has not acknowledged, oldest first.
    package func unconsumed() throws(SQLiteError) -> [(sequence: Int64, message: InboxMessage)] {
        let rows = try database.prepare(
            """
            SELECT sequence, key, topic, payload, received_at, expiry, timestamp, flags, priority, push_id, channel,
              task_id, vendor_message_id, collapse_id, push_type, broadcast_channel
            FROM message WHERE consumed = 0 ORDER BY sequence
            """)
        var messages: [(sequence: Int64, message: InboxMessage)] = []
        while try rows.step() {
            guard let key = MessageKey(bytes: rows.blob(1)) else {
                throw SQLiteError(code: 11, message: "a message has no valid key", operation: "read messages")
            }
            messages.append((rows.integer(0), Self.message(rows, key)))
        }
        return messages
    }

    private static func message(_ row: Statement, _ key: MessageKey) -> InboxMessage {
        func text(_ column: Int32) -> String? { row.isNull(column) ? nil : row.text(column) }
        var message = InboxMessage(
            topic: row.text(2), payload: row.blob(3), key: key, receivedAtMilliseconds: row.integer(4))
        message.expirySeconds = row.isNull(5) ? nil : UInt32(truncatingIfNeeded: row.integer(5))
        message.timestampNanoseconds = row.isNull(6) ? nil : UInt64(bitPattern: row.integer(6))
        message.isFromStorage = row.integer(7) & 1 != 0
        message.isLastStored = row.integer(7) & 2 != 0
        message.priority = row.isNull(8) ? nil : UInt8(truncatingIfNeeded: row.integer(8))
        message.pushID = row.isNull(9) ? nil : row.blob(9)
        message.channel = text(10)
        message.taskID = text(11)
        message.vendorMessageID = text(12)
        message.collapseID = text(13)
        message.pushType = text(14)
        message.broadcastChannel = row.isNull(15) ? nil : row.blob(15)
        return message
    }

    // MARK: State

    package func baseToken() throws(SQLiteError) -> [UInt8]? { try state("base_token") }

    /// Key and certificate as PEM, if they were saved.
    package func identity() throws(SQLiteError) -> (key: String, certificate: String)? {
        guard let key = try state("key"), let certificate = try state("certificate") else { return nil }
        return (String(decoding: key, as: UTF8.self), String(decoding: certificate, as: UTF8.self))
    }

    package func saveIdentity(key: String, certificate: String) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            try setState("key", Array(key.utf8))
            try setState("certificate", Array(certificate.utf8))
        }
    }

    private func state(_ name: String) throws(SQLiteError) -> [UInt8]? {
        let row = try database.prepare("SELECT value FROM state WHERE name = ?1")
        row.bind(1, name)
        return try row.step() && !row.isNull(0) ? row.blob(0) : nil
    }

    private func setState(_ name: String, _ value: [UInt8]?) throws(SQLiteError) {
        setState.bind(1, name)
        setState.bind(2, value)
        try setState.run()
    }
}
