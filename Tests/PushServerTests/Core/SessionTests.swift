import PushBytes
import PushCore
import PushCourier
import PushCrypto
import Testing

@testable import PushServer

@Suite struct SessionTests {
    private let harness = CoreHarness()
    private var core: ServerCore { harness.core }

    // MARK: Order of speech

    @Test func aDeviceThatSpeaksBeforeItsIntroductionIsDisconnected() {
        let hash = harness.topic().hash.bytes
        let token = [UInt8](repeating: 0, count: 32)
        let now = harness.now
        let words: [(Int) -> Void] = [
            { self.core.received(CourierFilter(baseToken: token, enabled: [hash]), from: $0, now: now) },
            { self.core.received(CourierTokenRequest(baseToken: token, topicHash: hash), from: $0, now: now) },
            { self.core.received(CourierAcknowledgement(messageID: 1), from: $0, now: now) },
            { self.core.receivedKeepAlive(from: $0, now: now) },
            { self.core.receivedOther(from: $0, now: now) },
        ]
        for (connection, say) in words.enumerated() {
            core.deviceConnected(connection, environment: .sandbox, now: now)
            say(connection)
            #expect(harness.lines() == ["close \(connection): it spoke before introducing itself"])
            say(connection)
            #expect(harness.lines() == [])
        }
    }

    @Test func aDeviceThatIntroducesItselfTwiceIsDisconnected() {
        harness.connect(1)
        core.outputs = []
        core.received(CourierConnect(), from: 1, now: harness.now)
        #expect(
            harness.lines() == ["close 1: it introduced itself twice", "disconnected push 0 device 1 detail 0"])
        #expect(core.registry.devices.count == 1)
    }

    @Test func aFilterHasALimit() {
        let registration = harness.ready()
        func filter(_ count: Int) {
            let hashes = (0..<count).map { TopicHash(of: "topic \($0)").bytes }
            core.received(
                CourierFilter(baseToken: registration.device.baseToken, enabled: hashes), from: 1, now: harness.now)
        }
        filter(CoreLimits.enabledTopicsMax)
        #expect(harness.lines() == [])
        filter(CoreLimits.enabledTopicsMax + 1)
        #expect(harness.lines().first?.hasPrefix("close 1: it enabled more than") == true)
    }

    @Test func otherWordsOnlyShowThatTheDeviceLives() {
        harness.ready()
        core.receivedOther(from: 1, now: harness.now)
        core.receivedOther(from: 99, now: harness.now)
        core.receivedKeepAlive(from: 99, now: harness.now)
        core.deviceDisconnected(99, now: harness.now)
        #expect(harness.allLines() == [])
    }

    // MARK: Taken at its word

    @Test func aNewDeviceGetsATokenAndIsKnownByItAfterwards() throws {
        let device = try #require(harness.connect(1))
        #expect(device.baseToken.count == 32)
        #expect(
            harness.allLines() == [
                "save device 1", "reply 1 accepted \(Hex.encode(device.baseToken))",
                "connected push 0 device 1 detail 0",
            ])
        core.deviceDisconnected(1, now: harness.now)
        #expect(harness.connect(2, token: device.baseToken) === device)
        #expect(harness.connect(3) !== device)
    }

    @Test func anUnknownTokenIsRefusedAndTheConnectionEnds() {
        #expect(harness.connect(1, token: [UInt8](repeating: 9, count: 32)) == nil)
        #expect(harness.lines() == ["reply 1 refused", "close 1: its introduction was refused"])
        #expect(harness.connect(2, token: []) == nil)
        #expect(core.registry.devices.isEmpty)
    }

    @Test func theTokenOfAVirtualDeviceIsRefused() {
        let registration = core.addVirtualDevice(
            app: harness.app, name: nil, environment: nil, isOnline: false, now: harness.now)
        #expect(harness.connect(1, token: registration.device.baseToken) == nil)
        #expect(registration.device.session == nil)
    }

    // MARK: App tokens

    @Test func anAppTokenIsStableForEachDeviceAndTopic() {
        harness.connect(1)
        let registration = harness.register(1)
        let call = harness.register(1, .voip)
        core.outputs = []
        #expect(harness.register(1) === registration)
        let hash = Hex.encode(harness.topic().hash.bytes)
        #expect(harness.allLines() == ["reply 1 token \(registration.token.hex) \(hash)"])
        harness.connect(2)
        let tokens = [registration, call, harness.register(2)].map(\.token)
        #expect(Set(tokens).count == 3 && tokens.allSatisfy { $0.bytes.count == 32 })
    }

    @Test func tokensFollowFromTheSecret() {
        func tokens(secret: UInt8) -> [String] {
            let harness = CoreHarness(secret: secret)
            harness.connect(1)
            harness.connect(2)
            return [1, 2].flatMap { connection in
                let registration = harness.register(connection)
                return [Hex.encode(registration.device.baseToken), registration.token.hex]
            }
        }
        #expect(tokens(secret: 1) == tokens(secret: 1))
        #expect(Set(tokens(secret: 1) + tokens(secret: 2)).count == 8)
    }

    @Test func askingAgainRegistersAnAppAgain() {
        let registration = harness.ready()
        core.setRegistered(registration, false, now: harness.now)
        core.outputs = []
        harness.register(1)
        #expect(registration.unregisteredAt == nil)
        #expect(harness.lines().first == "registered push 0 device 1 detail 0")
    }

    private func ask(_ hash: [UInt8], name: String? = nil, token: [UInt8]? = nil) -> [String] {
        let device = harness.core.sessions[1]!.device!
        core.received(
            CourierTokenRequest(baseToken: token ?? device.baseToken, topicHash: hash, topicName: name), from: 1,
            now: harness.now)
        return harness.lines()
    }

    @Test func aTokenRequestWithAnotherBaseTokenIsRefused() {
        harness.ready()
        let token = [UInt8](repeating: 9, count: 32)
        #expect(ask(harness.topic(.voip).hash.bytes, token: token) == ["reply 1 token refused"])
        #expect(ask(harness.topic().hash.bytes, token: token) == ["reply 1 token refused"])
    }

    @Test func anUnknownTopicNeedsItsName() {
        harness.ready()
        let hash = TopicHash(of: "com.new.app.voip").bytes
        #expect(ask(hash) == ["reply 1 token refused"])
        #expect(ask(hash, name: "com.other.app") == ["reply 1 token refused"])
        #expect(ask(TopicHash(of: "not a topic").bytes, name: "not a topic") == ["reply 1 token refused"])
        #expect(ask([1, 2, 3], name: "com.new.app") == ["reply 1 token refused"])
        #expect(core.registry.app("com.new.app") == nil && core.registry.app("com.other.app") == nil)
        let lines = ask(hash, name: "com.new.app.voip")
        #expect(lines.last?.hasPrefix("reply 1 token ") == true && lines.last?.contains("refused") == false)
        #expect(core.registry.app("com.new.app")?.team == core.settings.defaultTeam)
    }

    @Test func appsAreMadeOnceAndOnlyWithABundleID() {
        #expect(core.addApp(bundle: CoreHarness.bundle, team: nil, storageRule: nil) == nil)
        #expect(core.addApp(bundle: "com.example.app.voip", team: nil, storageRule: nil) == nil)
        #expect(core.addApp(bundle: "", team: nil, storageRule: nil) == nil)
        #expect(harness.allLines() == [])
        #expect(core.addApp(bundle: "com.example.b", team: nil, storageRule: nil)?.team == core.settings.defaultTeam)
        #expect(harness.allLines() == ["save app com.example.b"])
    }
}
