import PushSQLite

/// The prepared statements of a store, compiled once.
struct StoreStatements {
    let value: Statement
    let setValue: Statement
    let saveApp: Statement
    let removeApp: Statement
    let removeTopicRegistrations: Statement
    let saveKey: Statement
    let removeKey: Statement
    let saveDevice: Statement
    let removeDevice: Statement
    let removeDeviceRegistrations: Statement
    let saveRegistration: Statement
    let saveChannel: Statement
    let removeChannel: Statement
    let removeChannelSubscriptions: Statement
    let saveSubscription: Statement
    let removeSubscription: Statement
    let addPush: Statement
    let addEvent: Statement
    let push: Statement
    let pushByID: Statement
    let eventsOfPush: Statement
    let eventsAfter: Statement
    let inbox: Statement
    let trimPushes: Statement
    let trimEvents: Statement

    init(_ database: Database) throws(SQLiteError) {
        value = try database.prepare("SELECT value FROM meta WHERE name = ?")
        setValue = try database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)")
        saveApp = try database.prepare("INSERT OR REPLACE INTO apps VALUES (?, ?, ?, ?)")
        removeApp = try database.prepare("DELETE FROM apps WHERE bundle = ?")
        removeTopicRegistrations = try database.prepare("DELETE FROM registrations WHERE topic = ?")
        saveKey = try database.prepare("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?, ?)")
        removeKey = try database.prepare("DELETE FROM keys WHERE id = ?")
        saveDevice = try database.prepare("INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        removeDevice = try database.prepare("DELETE FROM devices WHERE id = ?")
        removeDeviceRegistrations = try database.prepare("DELETE FROM registrations WHERE device = ?")
        saveRegistration = try database.prepare("INSERT OR REPLACE INTO registrations VALUES (?, ?, ?, ?, ?, ?)")
        saveChannel = try database.prepare("INSERT OR REPLACE INTO channels VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        removeChannel = try database.prepare("DELETE FROM channels WHERE number = ?")
        removeChannelSubscriptions = try database.prepare("DELETE FROM subscriptions WHERE channel = ?")
        saveSubscription = try database.prepare("INSERT OR REPLACE INTO subscriptions VALUES (?, ?, ?)")
        removeSubscription = try database.prepare("DELETE FROM subscriptions WHERE registration = ? AND channel = ?")
        addPush = try database.prepare(
            "INSERT INTO pushes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        addEvent = try database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)")
        push = try database.prepare("SELECT * FROM pushes WHERE sequence = ?")
        pushByID = try database.prepare(
            "SELECT * FROM pushes WHERE id = ? COLLATE NOCASE ORDER BY sequence DESC LIMIT 1")
        eventsOfPush = try database.prepare("SELECT * FROM events WHERE push = ? AND push <> 0 ORDER BY sequence")
        eventsAfter = try database.prepare(
            """
            SELECT sequence, CASE WHEN reason IS NULL THEN 1 ELSE 16 END, sequence, 0, at, coalesce(reason, 0)
            FROM pushes WHERE sequence > ?1
            UNION ALL SELECT * FROM events WHERE sequence > ?1 ORDER BY 1 LIMIT ?2
            """)
        inbox = try database.prepare(
            """
            SELECT sequence, push FROM events
            WHERE device = ? AND milestone = 4 AND sequence > ? ORDER BY sequence LIMIT ?
            """)
        trimPushes = try database.prepare(
            """
            DELETE FROM pushes WHERE sequence IN (
                SELECT sequence FROM pushes p WHERE sequence < ?1 AND (
                    reason IS NOT NULL OR channel IS NOT NULL OR EXISTS (
                    SELECT 1 FROM events e WHERE e.push = p.sequence AND e.push <> 0 AND e.milestone IN (4, 17, 18, 19)))
                    AND NOT EXISTS (SELECT 1 FROM channels c WHERE c.stored = p.sequence AND c.stored IS NOT NULL)
                ORDER BY sequence LIMIT ?2)
            """)
        trimEvents = try database.prepare(
            """
            DELETE FROM events WHERE sequence IN (
                SELECT sequence FROM events e WHERE sequence < ?1
                    AND NOT EXISTS (SELECT 1 FROM pushes p WHERE p.sequence = e.push)
                ORDER BY sequence LIMIT ?2)
            """)
    }
}
