@testable import PushCore
import Testing

/// The tokens of one connection, as they come.
private struct Connection {
    var binding = TokenBinding()
    var settings = AuthSettings()
    var environment = PushEnvironment.sandbox
    /// Seconds since the connection was opened.
    var seconds: Int64 = 0

    init(_ change: (inout AuthSettings) -> Void = { _ in }) { change(&settings) }

    var now: Moment {
        Moment(monotonicMilliseconds: 1000 * seconds, unixMilliseconds: startMilliseconds + 1000 * seconds)
    }

    /// `age` in seconds, at the opening of the connection.
    mutating func use(
        _ token: String, key: String = "KEY0000001", team: String = "TEAM000001", age: Int64 = 0,
        environment only: PushEnvironment? = nil, topics: [String]? = nil, related: String? = nil
    ) -> APNsReason? {
        let claims = ProviderTokenClaims(
            keyID: key, team: team, issuedAtSeconds: startMilliseconds / 1000 - age, environment: only, topics: topics,
            relatedKey: related)
        return binding.admit(Array(token.utf8)[...], claims, environment: environment, now: now, settings: settings)
    }

    var current: String { String(decoding: binding.bytes, as: UTF8.self) }
}

@Suite struct TokenBindingTests {
    private static func strict(_ tolerated: Int = 0) -> Connection {
        Connection {
            $0.limitsTokenChanges = true
            $0.tokenChangesTolerated = tolerated
        }
    }

    @Test func withoutTheLimitTokensMayChangeAtWill() {
        var connection = Connection()
        for index in 0..<50 { #expect(connection.use("token \(index)") == nil) }
        #expect(connection.current == "token 49")
    }

    @Test func anotherTokenWithinTwentyMinutesIsRefusedAndTheFirstStays() {
        var connection = Self.strict()
        #expect(connection.use("a") == nil)
        connection.seconds = 20 * 60 - 1
        #expect(connection.use("b") == .tooManyProviderTokenUpdates)
        #expect(connection.current == "a")
        #expect(connection.use("a") == nil)
        connection.seconds = 20 * 60
        #expect(connection.use("b") == nil)
        #expect(connection.current == "b")
        // From here the time runs anew, and the way back is a change, too.
        #expect(connection.use("a") == .tooManyProviderTokenUpdates)
        connection.seconds = 40 * 60
        #expect(connection.use("a") == nil)
    }

    @Test func aTokenCountsFromWhenItWasFirstSeenNotFromWhenItWasIssued() {
        var connection = Self.strict()
        connection.seconds = 0
        #expect(connection.use("a", age: 50 * 60) == nil)
        connection.seconds = 10 * 60 + 1
        #expect(
            connection.binding.objection(environment: .sandbox, now: connection.now, settings: connection.settings)
                == .expiredProviderToken)
        #expect(connection.use("b", age: -600) == .tooManyProviderTokenUpdates)
    }

    @Test(arguments: 0...5)
    func soManyEarlyChangesAreTolerated(tolerated: Int) {
        var connection = Self.strict(tolerated)
        #expect(connection.use("first") == nil)
        for index in 0..<tolerated {
            connection.seconds += 60
            #expect(connection.use("early \(index)") == nil)
        }
        connection.seconds += 60
        #expect(connection.use("one more") == .tooManyProviderTokenUpdates)
        connection.seconds += 20 * 60
        #expect(connection.use("later") == nil)
        for index in 0..<tolerated { #expect(connection.use("early again \(index)") == nil) }
        #expect(connection.use("one more") == .tooManyProviderTokenUpdates)
    }

    @Test func refusedTokensDoNotCountAsChanges() {
        var connection = Self.strict()
        #expect(connection.use("a") == nil)
        #expect(connection.use("x", team: "TEAM000002") == .invalidProviderToken)
        #expect(connection.use("y", age: 3601) == .expiredProviderToken)
        #expect(connection.use("z", environment: .production) == .badEnvironmentKeyIDInToken)
        #expect(connection.use("w", key: "KEY0000002", topics: ["com.example.app"]) == .unrelatedKeyIDInToken)
        #expect(connection.current == "a")
        #expect(connection.use("a") == nil)
    }

    @Test func aRefusedFirstTokenBindsNothing() {
        var connection = Self.strict()
        #expect(connection.use("old", team: "TEAM000002", age: 3601) == .expiredProviderToken)
        #expect(connection.use("good") == nil)
        #expect(connection.current == "good")
    }

    @Test func theFirstTeamIsTheConnections() {
        var connection = Connection()
        #expect(connection.use("a") == nil)
        #expect(connection.use("b", team: "TEAM000002") == .invalidProviderToken)
        #expect(connection.use("c", key: "KEY0000002") == nil)
    }

    /// First key, second key, what the second gets. Topics make a key topic-specific; the last word is its related key.
    private static let successions:
        [(first: (String, [String]?, String?), (String, [String]?, String?), isFine: Bool)] =
            [
                (("A", nil, nil), ("B", nil, nil), true),
                (("A", nil, nil), ("B", ["t"], nil), false),
                (("A", nil, nil), ("B", ["t"], "A"), false),
                (("A", ["t"], nil), ("A", ["t"], nil), true),
                (("A", ["t"], nil), ("B", ["t"], nil), false),
                (("A", ["t"], "B"), ("B", ["t"], nil), true),
                (("A", ["t"], nil), ("B", ["u"], "A"), true),
                (("A", ["t"], "B"), ("C", ["t"], nil), false),
                (("A", ["t"], "B"), ("B", nil, nil), false),
                (("A", ["t"], nil), ("B", nil, nil), false),
            ]

    @Test(arguments: successions.indices)
    func keysFollowOthersOnlyWhenRelated(index: Int) {
        let (first, second, isFine) = Self.successions[index]
        var connection = Connection()
        #expect(connection.use("1", key: first.0, topics: first.1, related: first.2) == nil)
        let reason = connection.use("2", key: second.0, topics: second.1, related: second.2)
        #expect(reason == (isFine ? nil : .unrelatedKeyIDInToken))
        // It is the first key that counts, whichever came last.
        #expect(connection.use("3", key: first.0, topics: first.1, related: first.2) == nil)
    }

    @Test func theReasonsThatAreUncertainCanBeChosen() {
        var connection = Connection()
        #expect(connection.use("a", age: -3601) == .expiredProviderToken)
        #expect(connection.use("a", environment: .production) == .badEnvironmentKeyIDInToken)
        connection.settings.futureToken = .invalid
        connection.settings.environmentKeyReason = .observed
        #expect(connection.use("a", age: -3601) == .invalidProviderToken)
        #expect(connection.use("a", age: 3601) == .expiredProviderToken)
        #expect(connection.use("a", environment: .production) == .badEnvironmentKeyInToken)
        #expect(connection.use("a", age: -3600) == nil)
    }

    @Test func objectionsComeInTheDocumentedOrder() {
        var connection = Self.strict()
        #expect(connection.use("a", key: "A") == nil)
        // Everything is wrong, then one thing less each time.
        #expect(
            connection.use("b", key: "B", team: "T2", age: 9999, environment: .production, topics: ["t"])
                == .invalidProviderToken)
        #expect(
            connection.use("b", key: "B", age: 9999, environment: .production, topics: ["t"])
                == .badEnvironmentKeyIDInToken)
        #expect(connection.use("b", key: "B", age: 9999, topics: ["t"]) == .expiredProviderToken)
        #expect(connection.use("b", key: "B", topics: ["t"]) == .unrelatedKeyIDInToken)
        #expect(connection.use("b", key: "B") == .tooManyProviderTokenUpdates)
        #expect(connection.use("a", key: "A") == nil)
    }

    @Test func aKeyCoversItsTopicsAndABundleIDItsSuffixes() {
        let registry = Registry()
        registry.add(App(bundle: "com.example.app", team: "TEAM000001", storageRule: nil))
        registry.add(App(bundle: "com.example.apple", team: "TEAM000001", storageRule: nil))
        func covers(_ topics: [String]?, _ name: String) -> Bool {
            let claims = ProviderTokenClaims(
                keyID: "K", team: "T", issuedAtSeconds: 0, environment: nil, topics: topics, relatedKey: nil)
            guard let topic = registry.topic(named: Array(name.utf8)) else { return false }
            return claims.covers(topic)
        }
        #expect(covers(nil, "com.example.app") && covers(nil, "com.example.apple.voip"))
        #expect(covers(["com.example.app"], "com.example.app") && covers(["com.example.app"], "com.example.app.voip"))
        #expect(!covers(["com.example.app"], "com.example.apple"))
        #expect(covers(["com.example.app.voip"], "com.example.app.voip"))
        #expect(!covers(["com.example.app.voip"], "com.example.app"))
    }
}
