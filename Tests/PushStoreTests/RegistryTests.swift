import PushCore
import PushSQLite
import PushStore
import Testing

@Suite struct RegistryTests {
    private let store: PushStore
    private let sample: SampleRegistry

    init() throws {
        store = try PushStore(.temporary)
        sample = try SampleRegistry()
    }

    private func devices() throws -> [Int64] { try store.loadDevices().map(\.id) }

    private func registrations() throws -> [Int64] { try store.loadRegistrations(into: sample.registry).map(\.id) }

    @Test func appsAreReadBack() throws {
        sample.saveAll(into: store)
        try store.commit()
        let apps = try store.loadApps()
        #expect(apps.map(\.bundle) == ["com.example.app", "com.example.plain"])
        #expect(apps.map(\.team) == ["TEAM000001", "TEAM000002"])
        #expect(apps.map(\.storageRule) == [.ideal, nil])
    }

    @Test func devicesAreReadBack() throws {
        sample.saveAll(into: store)
        try store.commit()
        let devices = try store.loadDevices()
        try #require(devices.map(\.id) == [3, 4])
        for (read, written) in zip(devices, [sample.device, sample.virtual]) {
            #expect(read.name == written.name && read.identity == written.identity)
            #expect(read.baseToken == written.baseToken && read.environment == written.environment)
            #expect(read.isVirtual == written.isVirtual && read.isSwitchedOn == written.isSwitchedOn)
            #expect(read.notificationsEnabled == written.notificationsEnabled)
        }
    }

    @Test func registrationsAreReadBack() throws {
        sample.saveAll(into: store)
        try store.commit()
        let read = try store.loadRegistrations(into: sample.registry)
        try #require(read.map(\.id) == [10, 11])
        #expect(read[0].device === sample.device && read[1].device === sample.virtual)
        #expect(read.map(\.topic.name) == ["com.example.app", "com.example.app.voip"])
        #expect(read.map(\.token) == [sample.registration.token, sample.ended.token])
        #expect(read.map(\.unregisteredAt) == [nil, 1234] && read.map(\.expiredAt) == [nil, 5678])
    }

    @Test func keysAreReadBack() throws {
        // The first key enters as a row, since this target does not make keys.
        let directory = try TemporaryDirectory()
        try PushStore(.file(directory.file("store"))).close()
        let database = try Database(path: directory.file("store"))
        let insert = try database.prepare("INSERT INTO keys VALUES ('KEY0000001', 'TEAM000001', NULL, ?, NULL, NULL)")
        insert.bind(1, publicKeyPEM)
        try insert.run()
        try database.execute("INSERT INTO keys VALUES ('KEYBROKEN0', 'TEAM000001', NULL, 'no key', NULL, NULL)")
        database.close()

        let store = try PushStore(.file(directory.file("store")))
        var key = try #require(try store.loadKeys().first)
        #expect(try store.loadKeys().count == 1)
        key.id = "KEY0000002"
        key.team = "TEAM000002"
        key.environment = .production
        store.save(key)
        try store.commit()
        let keys = try store.loadKeys()
        #expect(keys.map(\.id) == ["KEY0000001", "KEY0000002"])
        #expect(keys.map(\.team) == ["TEAM000001", "TEAM000002"])
        #expect(keys.map(\.environment) == [nil, .production])
        #expect(keys.allSatisfy { $0.topics == nil && $0.relatedKey == nil })
        key.topics = ["com.example.app", "com.example.app.voip"]
        key.relatedKey = "KEY0000003"
        store.save(key)
        try store.commit()
        #expect(try store.loadKeys().map(\.topics) == [nil, ["com.example.app", "com.example.app.voip"]])
        #expect(try store.loadKeys().map(\.relatedKey) == [nil, "KEY0000003"])
        key.environment = nil
        store.save(key)
        store.removeKey(id: "KEY0000001")
        try store.commit()
        #expect(try store.loadKeys().map(\.id) == ["KEY0000002"])
        #expect(try store.loadKeys().map(\.environment) == [nil])
    }

    @Test func savingAgainReplaces() throws {
        sample.saveAll(into: store)
        try store.commit()
        sample.registry.move(sample.app, toTeam: "TEAM000009")
        sample.app.storageRule = nil
        sample.device.name = "renamed"
        sample.device.notificationsEnabled = false
        sample.ended.unregisteredAt = nil
        sample.ended.expiredAt = nil
        sample.saveAll(into: store)
        try store.commit()
        #expect(try store.loadApps().map(\.team) == ["TEAM000009", "TEAM000002"])
        #expect(try store.loadApps().map(\.storageRule) == [nil, nil])
        #expect(try store.loadDevices().map(\.name) == ["renamed", ""])
        let read = try store.loadRegistrations(into: sample.registry)
        #expect(read.map(\.unregisteredAt) == [nil, nil] && read.map(\.expiredAt) == [nil, nil])
    }

    @Test func anAppGoesWithTheRegistrationsOfItsTopicsAndNoOthers() throws {
        sample.saveAll(into: store)
        let token = try #require(AppToken(bytes: [UInt8](repeating: 70, count: 32)))
        let topic = try #require(sample.registry.topic(named: Array("com.example.plain".utf8)))
        store.save(Registration(id: 12, device: sample.device, topic: topic, token: token))
        store.removeApp(bundle: "com.example.app")
        try store.commit()
        #expect(try store.loadApps().map(\.bundle) == ["com.example.plain"])
        #expect(try registrations() == [12])
    }

    @Test func aDeviceGoesWithItsRegistrations() throws {
        sample.saveAll(into: store)
        store.removeDevice(id: 3)
        try store.commit()
        #expect(try devices() == [4])
        #expect(try registrations() == [11])
    }

    @Test func registrationsOfWhatTheRegistryDoesNotKnowAreLeftOut() throws {
        sample.saveAll(into: store)
        try store.commit()
        #expect(try store.loadRegistrations(into: Registry()).isEmpty)
    }

    @Test func valuesAreReadBack() throws {
        #expect(try store.value("secret") == nil)
        store.setValue("secret", [0, 1, 255])
        store.setValue("empty", [])
        try store.commit()
        #expect(try store.value("secret") == [0, 1, 255])
        #expect(try store.value("empty") == [])
        store.setValue("secret", [7])
        try store.commit()
        #expect(try store.value("secret") == [7])
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func aResetKeepsWhatItIsToldAndAlwaysTheCountAndTheSecret(keepsApps: Bool, keepsKeys: Bool) throws {
        sample.saveAll(into: store)
        store.setValue("secret", [7])
        store.add(record(41))
        store.add(event(42, .acknowledged, push: 41))
        try store.commit()
        store.reset(keepingApps: keepsApps, keepingKeys: keepsKeys, lastSequence: 50)
        try store.commit()
        #expect(try store.lastSequence() == 50)
        #expect(try store.loadApps().isEmpty == !keepsApps)
        #expect(try devices().isEmpty && registrations().isEmpty)
        #expect(try store.pushes(PushQuery()).isEmpty && store.events(after: 0, limit: 10).isEmpty)
        #expect(try store.value("secret") == [7])
        store.add(record(51))
        try store.commit()
        #expect(try store.lastSequence() == 51)
    }
}
