import PushCore
import Testing

@Suite struct RegistryTests {
    private let registry = Registry()

    private func device(_ id: Int64, identity: [UInt8] = []) -> Device {
        Device(
            id: id, name: "phone", identity: identity, baseToken: [UInt8](repeating: UInt8(id), count: 32),
            environment: .sandbox, isVirtual: false, isSwitchedOn: false)
    }

    private func topic(_ name: String) -> Topic? { registry.topic(named: Array(name.utf8)) }

    @Test func anAppBringsTheTopicsOfAllSuffixes() throws {
        let app = App(bundle: "com.example.app", team: "TEAM", storageRule: .ideal)
        registry.add(app)
        #expect(registry.app("com.example.app") === app)
        for suffix in TopicSuffix.allCases {
            let found = try #require(topic("com.example.app" + suffix.text))
            #expect(found.app === app && found.suffix == suffix)
            #expect(registry.topic(hash: TopicHash(of: found.name)) === found)
        }
        #expect(topic("com.example") == nil)
        registry.remove(app)
        #expect(registry.app("com.example.app") == nil && topic("com.example.app.voip") == nil)
        #expect(registry.topic(hash: TopicHash(of: "com.example.app")) == nil)
    }

    @Test func removingAnAppLeavesTheOthers() {
        let first = App(bundle: "com.example.a", team: "TEAM", storageRule: nil)
        registry.add(first)
        registry.add(App(bundle: "com.example.b", team: "TEAM", storageRule: nil))
        registry.remove(first)
        #expect(topic("com.example.a") == nil && topic("com.example.b") != nil)
    }

    @Test func aDeviceIsFoundByNumberTokenAndIdentity() {
        let known = device(1, identity: [9, 9])
        let anonymous = device(2)
        registry.add(known)
        registry.add(anonymous)
        #expect(registry.device(1) === known && registry.device(2) === anonymous)
        #expect(registry.device(identity: [9, 9]) === known)
        // A device without an identity is never found by the lack of one.
        #expect(registry.device(identity: []) == nil)
        #expect(registry.device(baseToken: anonymous.baseToken) === anonymous)
        registry.remove(known)
        #expect(registry.device(1) == nil && registry.device(identity: [9, 9]) == nil)
        #expect(registry.device(baseToken: known.baseToken) == nil && registry.device(2) === anonymous)
    }

    @Test func aRegistrationGoesWithItsDevice() throws {
        let app = App(bundle: "com.example.app", team: "TEAM", storageRule: nil)
        registry.add(app)
        let owner = device(1)
        registry.add(owner)
        var made: [Registration] = []
        for (id, name) in [(Int64(2), "com.example.app.voip"), (1, "com.example.app")] {
            let token = try #require(AppToken(bytes: [UInt8](repeating: UInt8(id), count: 32)))
            let registration = Registration(id: id, device: owner, topic: try #require(topic(name)), token: token)
            registry.add(registration)
            made.append(registration)
            #expect(registry.registration(token) === registration && registry.registration(id) === registration)
        }
        #expect(registry.registrations(of: app).map(\.id) == [1, 2])
        #expect(registry.allRegistrations.count == 2 && owner.registrations.count == 2)
        registry.remove(made[0])
        #expect(owner.registrations.map(\.id) == [1] && registry.registration(made[0].token) == nil)
        registry.remove(owner)
        #expect(registry.allRegistrations.isEmpty && registry.registration(made[1].token) == nil)
    }

    @Test func aRegistrationHasOneMailboxForEachTopic() throws {
        let app = App(bundle: "com.example.app", team: "TEAM", storageRule: nil)
        registry.add(app)
        let owner = device(1)
        let plain = try #require(topic("com.example.app"))
        let token = try #require(AppToken(bytes: [UInt8](repeating: 1, count: 32)))
        let registration = Registration(id: 1, device: owner, topic: plain, token: token)
        for (index, suffix) in TopicSuffix.allCases.enumerated() {
            let own = try #require(topic("com.example.app" + suffix.text))
            #expect(registration.mailboxIndex(for: own) == index)
            #expect(registration.mailboxIndex(for: own) == index)
        }
        var departures: [MailboxDeparture] = []
        for sequence in Int64(1)...3 {
            registration.withMailbox(2) {
                $0.admit(
                    MailboxEntry(sequence: sequence, expiresAt: .max, isStorable: true, priority: 10),
                    canDeliver: true, rule: .ideal, departures: &departures)
            }
        }
        _ = registration.withMailbox(2) { $0.takeNext(now: 0, departures: &departures) }
        #expect(registration.waitingCount == 2 && registration.inFlightCount == 1)
    }

    @Test func labelsAreReadBack() {
        #expect(device(17).label == "d17" && Device.id(label: "d17") == 17)
        for text in ["17", "d", "", "x17", "d1x"] { #expect(Device.id(label: text) == nil) }
    }

    @Test func aVirtualDeviceIsOnlineByItsSwitchAndARealOneByItsSession() {
        let real = device(1)
        real.isSwitchedOn = true
        #expect(!real.isOnline)
        real.session = DeviceSession(connection: 1, environment: .sandbox, now: moment())
        #expect(real.isOnline)
        let virtual = Device(
            id: 2, name: "v", identity: [], baseToken: [], environment: .sandbox, isVirtual: true, isSwitchedOn: false)
        #expect(!virtual.isOnline)
        virtual.isSwitchedOn = true
        #expect(virtual.isOnline)
    }
}
