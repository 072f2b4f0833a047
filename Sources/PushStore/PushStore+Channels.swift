package import PushCore
import PushSQLite

extension PushStore {
    package func save(_ channel: Channel) {
        write { () throws(SQLiteError) in
            let statement = statements.saveChannel
            statement.bind(1, channel.number)
            statement.bind(2, channel.id)
            statement.bind(3, channel.bundle)
            statement.bind(4, Int64(channel.environment.rawValue))
            statement.bind(5, channel.policy.rawValue)
            statement.bind(6, channel.lastNanoseconds)
            statement.bind(7, channel.stored?.sequence)
            statement.bind(8, channel.stored?.nanoseconds)
            statement.bind(9, channel.stored?.expiresAt)
            try statement.run()
        }
    }

    /// Forgets a channel and who listened to it.
    package func removeChannel(number: Int64) {
        for statement in [statements.removeChannel, statements.removeChannelSubscriptions] {
            write { () throws(SQLiteError) in
                statement.bind(1, number)
                try statement.run()
            }
        }
    }

    package func save(_ subscription: Subscription) {
        write { () throws(SQLiteError) in
            statements.saveSubscription.bind(1, subscription.registration.id)
            statements.saveSubscription.bind(2, subscription.channel.number)
            statements.saveSubscription.bind(3, subscription.cursor)
            try statements.saveSubscription.run()
        }
    }

    package func removeSubscription(registration: Int64, channel: Int64) {
        write { () throws(SQLiteError) in
            statements.removeSubscription.bind(1, registration)
            statements.removeSubscription.bind(2, channel)
            try statements.removeSubscription.run()
        }
    }

    /// Oldest first.
    package func loadChannels() throws(StoreError) -> [Channel] {
        try rows("SELECT * FROM channels ORDER BY number") { row in
            guard let environment = PushEnvironment(rawValue: UInt8(row.integer(3))),
                let policy = ChannelPolicy(rawValue: row.integer(4))
            else { return nil }
            let stored =
                row.isNull(6)
                ? nil
                : Channel.Stored(
                    sequence: row.integer(6), nanoseconds: row.integer(7), expiresAt: row.integer(8))
            return Channel(
                number: row.integer(0), id: row.blob(1), bundle: row.text(2), environment: environment, policy: policy,
                lastNanoseconds: row.integer(5), stored: stored)
        }
    }

    /// Those whose registration and channel the registry holds by now.
    package func loadSubscriptions(
        into registry: Registry, _ body: (_ registration: Registration, _ channel: Channel, _ cursor: Int64) -> Void
    ) throws(StoreError) {
        let found = try rows(
            """
            SELECT s.registration, c.id, s.cursor FROM subscriptions s JOIN channels c ON c.number = s.channel
            ORDER BY s.registration, s.channel
            """
        ) { (row: Statement) -> (Registration, Channel, Int64)? in
            guard let registration = registry.registration(row.integer(0)),
                let channel = registry.channels[id: row.blob(1)]
            else { return nil }
            return (registration, channel, row.integer(2))
        }
        for (registration, channel, cursor) in found { body(registration, channel, cursor) }
    }

    /// Broadcasts that were on their way to a device when the server ended: sent, and without an end.
    package func loadAbandonedBroadcasts(
        _ body: (_ push: Int64, _ channel: [UInt8], _ device: Int64) -> Void
    ) throws(StoreError) {
        let found = try rows(
            """
            SELECT DISTINCT p.sequence, p.channel, s.device FROM pushes p
            JOIN events s ON s.push = p.sequence AND s.push <> 0 AND s.milestone = 3
            WHERE p.channel IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM events e
                WHERE e.push = p.sequence AND e.push <> 0 AND e.device = s.device AND e.milestone IN (4, 17, 18, 19))
            ORDER BY p.sequence, s.device
            """
        ) { ($0.integer(0), $0.blob(1), $0.integer(2)) }
        for (push, channel, device) in found { body(push, channel, device) }
    }
}
