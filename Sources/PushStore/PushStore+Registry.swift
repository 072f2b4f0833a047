package import PushCore
import PushCrypto
import PushSQLite

extension PushStore {
    package func save(_ app: App) {
        write { () throws(SQLiteError) in
            statements.saveApp.bind(1, app.bundle)
            statements.saveApp.bind(2, app.team)
            statements.saveApp.bind(3, app.storageRule.map { Int64($0.rawValue) })
            statements.saveApp.bind(4, app.isBroadcastEnabled.map { Int64($0 ? 1 : 0) })
            try statements.saveApp.run()
        }
    }

    package func removeApp(bundle: String) {
        write { () throws(SQLiteError) in
            statements.removeApp.bind(1, bundle)
            try statements.removeApp.run()
        }
        for suffix in TopicSuffix.allCases {
            write { () throws(SQLiteError) in
                statements.removeTopicRegistrations.bind(1, bundle + suffix.text)
                try statements.removeTopicRegistrations.run()
            }
        }
    }

    package func save(_ key: ProviderKey) {
        write { () throws(SQLiteError) in
            statements.saveKey.bind(1, key.id)
            statements.saveKey.bind(2, key.team)
            statements.saveKey.bind(3, key.environment.map { Int64($0.rawValue) })
            statements.saveKey.bind(4, key.publicKey.pem)
            statements.saveKey.bind(5, key.topics?.joined(separator: " "))
            statements.saveKey.bind(6, key.relatedKey)
            try statements.saveKey.run()
        }
    }

    package func removeKey(id: String) {
        write { () throws(SQLiteError) in
            statements.removeKey.bind(1, id)
            try statements.removeKey.run()
        }
    }

    package func save(_ device: Device) {
        write { () throws(SQLiteError) in
            let statement = statements.saveDevice
            statement.bind(1, device.id)
            statement.bind(2, device.name)
            statement.bind(3, device.identity)
            statement.bind(4, device.baseToken)
            statement.bind(5, Int64(device.environment.rawValue))
            statement.bind(6, Int64(device.isVirtual ? 1 : 0))
            statement.bind(7, Int64(device.isSwitchedOn ? 1 : 0))
            statement.bind(8, Int64(device.notificationsEnabled ? 1 : 0))
            try statement.run()
        }
    }

    package func removeDevice(id: Int64) {
        write { () throws(SQLiteError) in
            statements.removeDevice.bind(1, id)
            try statements.removeDevice.run()
            statements.removeDeviceRegistrations.bind(1, id)
            try statements.removeDeviceRegistrations.run()
        }
    }

    package func save(_ registration: Registration) {
        write { () throws(SQLiteError) in
            let statement = statements.saveRegistration
            statement.bind(1, registration.id)
            statement.bind(2, registration.device.id)
            statement.bind(3, registration.topic.name)
            statement.bind(4, registration.token.bytes)
            statement.bind(5, registration.unregisteredAt)
            statement.bind(6, registration.expiredAt)
            try statement.run()
        }
    }

    package func loadApps() throws(StoreError) -> [App] {
        try rows("SELECT * FROM apps ORDER BY bundle") { row in
            let app = App(
                bundle: row.text(0), team: row.text(1),
                storageRule: row.isNull(2) ? nil : StorageRule(rawValue: UInt8(row.integer(2))))
            app.isBroadcastEnabled = row.isNull(3) ? nil : row.integer(3) != 0
            return app
        }
    }

    package func loadKeys() throws(StoreError) -> [ProviderKey] {
        try rows("SELECT * FROM keys ORDER BY id") { row in
            guard let publicKey = try? ES256PublicKey(pem: row.text(3)) else { return nil }
            let topics = row.isNull(4) ? nil : row.text(4).split(separator: " ").map(String.init)
            return ProviderKey(
                id: row.text(0), team: row.text(1),
                environment: row.isNull(2) ? nil : PushEnvironment(rawValue: UInt8(row.integer(2))), topics: topics,
                relatedKey: topics == nil || row.isNull(5) ? nil : row.text(5), publicKey: publicKey)
        }
    }

    package func loadDevices() throws(StoreError) -> [Device] {
        try rows("SELECT * FROM devices ORDER BY id") { row in
            let device = Device(
                id: row.integer(0), name: row.text(1), identity: row.blob(2), baseToken: row.blob(3),
                environment: PushEnvironment(rawValue: UInt8(row.integer(4))) ?? .sandbox,
                isVirtual: row.integer(5) != 0, isSwitchedOn: row.integer(6) != 0)
            device.notificationsEnabled = row.integer(7) != 0
            return device
        }
    }

    /// Registrations of the devices and topics the registry holds by now.
    package func loadRegistrations(into registry: Registry) throws(StoreError) -> [Registration] {
        try rows("SELECT * FROM registrations ORDER BY id") { row in
            guard let device = registry.device(row.integer(1)),
                let topic = registry.topic(named: Array(row.text(2).utf8)), let token = AppToken(bytes: row.blob(3))
            else { return nil }
            let registration = Registration(id: row.integer(0), device: device, topic: topic, token: token)
            registration.unregisteredAt = row.isNull(4) ? nil : row.integer(4)
            registration.expiredAt = row.isNull(5) ? nil : row.integer(5)
            return registration
        }
    }

    /// Empties the journal and, unless told to keep them, the registry's tables. The secret stays, so that tokens do,
    /// and so does the count: a number is never given out twice.
    package func reset(keepingApps: Bool, keepingKeys: Bool, lastSequence: Int64) {
        setValue(Self.sequenceName, Array(String(lastSequence).utf8))
        write { () throws(SQLiteError) in
            try database.execute(
                "DELETE FROM pushes; DELETE FROM events; DELETE FROM registrations; DELETE FROM devices; "
                    + "DELETE FROM channels; DELETE FROM subscriptions")
            if !keepingApps { try database.execute("DELETE FROM apps") }
            if !keepingKeys { try database.execute("DELETE FROM keys") }
        }
    }

    func rows<Row>(_ sql: String, _ make: (Statement) -> Row?) throws(StoreError) -> [Row] {
        try storing { () throws(SQLiteError) in
            let statement = try database.prepare(sql)
            var rows: [Row] = []
            while try statement.step() {
                if let row = make(statement) { rows.append(row) }
            }
            return rows
        }
    }
}
