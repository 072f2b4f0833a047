import PushSQLite

/// The tables, as a list of steps: step n brings a store of version n to version n + 1. Steps that were released are
/// never changed, only followed by others.
enum StoreSchema {
    static let steps: [String] = [
        """
        CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE apps (bundle TEXT PRIMARY KEY, team TEXT NOT NULL, storage_rule INTEGER) WITHOUT ROWID;
        CREATE TABLE keys (id TEXT PRIMARY KEY, team TEXT NOT NULL, environment INTEGER, public_key TEXT NOT NULL)
            WITHOUT ROWID;
        CREATE TABLE devices (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, identity BLOB NOT NULL, base_token BLOB NOT NULL UNIQUE,
            environment INTEGER NOT NULL, is_virtual INTEGER NOT NULL, is_switched_on INTEGER NOT NULL,
            notifications_enabled INTEGER NOT NULL);
        CREATE TABLE registrations (
            id INTEGER PRIMARY KEY, device INTEGER NOT NULL, topic TEXT NOT NULL, token BLOB NOT NULL UNIQUE,
            unregistered_at INTEGER, expired_at INTEGER);
        -- What providers asked for; `sequence` is shared with `events`. An id the server made is not stored: it
        -- follows from the sequence. `previous` is the push before it to the same registration: a chain to walk
        -- instead of an index, which would cost every push a page somewhere in the middle of the file.
        CREATE TABLE pushes (
            sequence INTEGER PRIMARY KEY, registration INTEGER NOT NULL, previous INTEGER NOT NULL,
            at INTEGER NOT NULL, reason INTEGER,
            environment INTEGER NOT NULL, priority INTEGER NOT NULL, expires_at INTEGER NOT NULL,
            is_storable INTEGER NOT NULL, push_type INTEGER, expiration INTEGER, topic TEXT, id TEXT,
            collapse_id TEXT, detail TEXT, payload BLOB NOT NULL);
        CREATE INDEX pushes_by_id ON pushes (id COLLATE NOCASE) WHERE id IS NOT NULL;
        CREATE TABLE events (
            sequence INTEGER PRIMARY KEY, milestone INTEGER NOT NULL, push INTEGER NOT NULL, device INTEGER NOT NULL,
            at INTEGER NOT NULL, detail INTEGER NOT NULL);
        CREATE INDEX events_by_push ON events (push, milestone) WHERE push <> 0;
        CREATE INDEX events_inbox ON events (device, sequence) WHERE milestone = 4;
        """,
        // Channels. A push has a channel when it was broadcast; what a channel keeps is kept once, as a number of a
        // push, and every subscription has a cursor (unix nanoseconds) that says whether its device has that.
        """
        CREATE TABLE channels (
            number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, bundle TEXT NOT NULL, environment INTEGER NOT NULL,
            policy INTEGER NOT NULL, last_at INTEGER NOT NULL, stored INTEGER, stored_at INTEGER,
            stored_until INTEGER);
        CREATE INDEX channels_stored ON channels (stored) WHERE stored IS NOT NULL;
        CREATE TABLE subscriptions (
            registration INTEGER NOT NULL, channel INTEGER NOT NULL, cursor INTEGER NOT NULL,
            PRIMARY KEY (registration, channel)) WITHOUT ROWID;
        ALTER TABLE apps ADD COLUMN is_broadcast_enabled INTEGER;
        ALTER TABLE pushes ADD COLUMN channel BLOB;
        ALTER TABLE pushes ADD COLUMN channel_at INTEGER;
        CREATE INDEX pushes_by_channel ON pushes (channel, sequence) WHERE channel IS NOT NULL;
        """,
        // Keys for certain topics: their names with blanks between them, NULL for all; and the key related to it.
        """
        ALTER TABLE keys ADD COLUMN topics TEXT;
        ALTER TABLE keys ADD COLUMN related_key TEXT;
        """,
    ]

    static var version: Int32 { Int32(steps.count) }

    /// Brings a store to the current version, each step in a transaction of its own.
    static func migrate(_ database: Database) throws(StoreError) {
        do {
            var version = try database.userVersion
            guard version <= Self.version else { throw StoreError.newer(found: version, known: Self.version) }
            while version < Self.version {
                try database.transaction { () throws(SQLiteError) in
                    try database.execute(steps[Int(version)])
                    try database.setUserVersion(version + 1)
                }
                version += 1
            }
        } catch let error as SQLiteError {
            throw .failed(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("only these two are thrown")
        }
    }
}
