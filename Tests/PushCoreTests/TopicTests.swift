import PushBytes
import PushCore
import PushCrypto
import Testing

@Suite struct TopicTests {
    @Test(arguments: [
        ("com.example.app", "com.example.app", TopicSuffix.none), ("com.example.app.voip", "com.example.app", .voip),
        ("com.example.app.voip-ptt", "com.example.app", .pushtotalk),
        ("com.example.app.complication", "com.example.app", .complication),
        ("com.example.app.location-query", "com.example.app", .location),
        ("com.example.app.pushkit.fileprovider", "com.example.app", .fileprovider),
        ("com.example.app.push-type.liveactivity", "com.example.app", .liveactivity),
        ("com.example.app.push-type.widgets", "com.example.app", .widgets),
        ("com.example.app.push-type.controls", "com.example.app", .controls), (".voip", ".voip", .none),
        ("voip", "voip", .none), ("com.example.voipapp", "com.example.voipapp", .none), ("", "", .none),
        ("a.voip.voip", "a.voip", .voip), ("com.example.app.VOIP", "com.example.app.VOIP", .none),
    ])
    func aTopicIsABundleIDAndASuffix(topic: String, bundle: String, suffix: TopicSuffix) {
        #expect(TopicSuffix.split(topic) == (bundle, suffix))
    }

    @Test func noSuffixEndsAnother() {
        for suffix in TopicSuffix.allCases {
            #expect(TopicSuffix.split("app" + suffix.text) == ("app", suffix))
        }
    }

    @Test(arguments: ["a", "com.example.app", "A-9.b_c", String(repeating: "x", count: 155), "com.example.voip2"])
    func bundleIDsHaveLettersDigitsHyphensAndPeriods(bundle: String) {
        #expect(App.isValid(bundle: bundle))
    }

    @Test(arguments: [
        "", "com.example app", "com/example", "com.exämple", "com.example.voip", "a*", "a\0",
        String(repeating: "x", count: 156), "com.example.app.push-type.widgets",
    ])
    func otherTextsAreNoBundleIDs(bundle: String) {
        #expect(!App.isValid(bundle: bundle))
    }

    @Test func aHashIsSHA1OfTheName() throws {
        // `printf com.example.app | sha1sum`
        let hash = TopicHash(of: "com.example.app")
        #expect(hash.bytes == SHA1.digest(Array("com.example.app".utf8)))
        #expect(hash.bytes.count == 20)
        #expect(TopicHash(bytes: hash.bytes) == hash)
    }

    @Test func aHashHasTwentyBytesAndEachCounts() throws {
        for count in 0...24 {
            #expect((TopicHash(bytes: [UInt8](repeating: 1, count: count)) != nil) == (count == 20))
        }
        let bytes = (1...20).map { UInt8($0) }
        let hash = try #require(TopicHash(bytes: bytes))
        #expect(hash.bytes == bytes)
        for position in 0..<20 {
            var other = bytes
            other[position] ^= 1
            #expect(TopicHash(bytes: other) != hash, "byte \(position)")
        }
    }

    @Test(arguments: [
        ("api.push.apple.com", PushEnvironment.production), ("api.push.apple.com:443", .production),
        ("API.PUSH.APPLE.COM", .production), ("api.sandbox.push.apple.com", .sandbox),
        ("api.sandbox.push.apple.com:2197", .sandbox), ("api.development.push.apple.com", .sandbox),
        ("courier.push.apple.com", .production), ("courier.sandbox.push.apple.com", .sandbox),
        ("7-courier.push.apple.com", .production), ("7-courier.sandbox.push.apple.com", .sandbox),
        ("api-broadcast.sandbox.push.apple.com", .sandbox),
    ])
    func applesNamesTellTheEnvironment(host: String, environment: PushEnvironment) {
        for local in PushEnvironment.allCases {
            #expect(PushEnvironment.named(by: host, local: local) == environment)
        }
    }

    @Test(arguments: [
        "localhost", "127.0.0.1:8443", "[::1]:8443", "", "push.example.com", "api.push.apple.com.evil", ":",
    ])
    func otherNamesMeanTheLocalSetting(host: String) {
        for local in PushEnvironment.allCases {
            #expect(PushEnvironment.named(by: host, local: local) == local)
        }
    }

    @Test func wordsOfTheCoreAreReadBack() {
        for environment in PushEnvironment.allCases { #expect(PushEnvironment(text: environment.text) == environment) }
        for rule in StorageRule.allCases { #expect(StorageRule(text: rule.text) == rule) }
        for milestone in Milestone.allCases { #expect(Milestone(text: milestone.text) == milestone) }
        #expect(PushEnvironment(text: "Sandbox") == nil)
        #expect(StorageRule(text: "") == nil)
        #expect(Milestone(text: "delivered") == nil)
    }

    @Test func fiveMilestonesEndADelivery() {
        #expect(
            Milestone.allCases.filter(\.endsDelivery) == [.acknowledged, .rejected, .replaced, .expired, .dropped])
        #expect(Milestone.allCases.filter(\.isFailure) == [.rejected, .replaced, .expired, .dropped])
        for cause in DropCause.allCases { #expect(!cause.explanation.isEmpty) }
    }
}
