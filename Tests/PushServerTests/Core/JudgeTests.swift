import PushBytes
import PushCore
import PushCrypto
import PushJSON
import Testing

@testable import PushServer

/// A request to be judged; tests begin with one that passes and break one thing.
struct Trial {
    var headers: [(name: String, value: String)]
    var bodyBytes = 20
    var isJSON = true

    mutating func set(_ name: String, _ value: String?) {
        headers.removeAll { $0.name == name }
        if let value { headers.append((name, value)) }
    }

    var request: APNsRequest {
        var storage: [UInt8] = []
        var fields: [(Range<Int>, Range<Int>)] = []
        for header in headers {
            let name = storage.count..<storage.count + header.name.utf8.count
            storage += header.name.utf8
            fields.append((name, name.upperBound..<name.upperBound + header.value.utf8.count))
            storage += header.value.utf8
        }
        var request = APNsRequest(storage: storage)
        for (name, value) in fields { request.add(name: name, value: value) }
        request.bodyBytes = bodyBytes
        return request
    }
}

/// A core with a key, two apps of the team and one of another, and a device of every kind of bad luck.
final class JudgeBench {
    let harness: CoreHarness
    let key: ES256PrivateKey
    var session = ProviderSession(environment: .sandbox)
    let registration: Registration
    let unregistered: Registration
    let expired: Registration
    let elsewhere: Registration
    let otherApp: Registration

    init(settings: RuleSettings = RuleSettings()) throws {
        harness = CoreHarness(settings: settings)
        key = try ES256PrivateKey()
        let core = harness.core
        for (id, environment) in [(CoreHarness.key, nil), ("KEYPROD001", PushEnvironment.production)] {
            core.verifier.add(
                ProviderKey(id: id, team: CoreHarness.team, environment: environment, publicKey: key.publicKey))
        }
        let other = try #require(core.addApp(bundle: "com.example.other", team: CoreHarness.team, storageRule: nil))
        core.addApp(bundle: "com.stranger.app", team: "TEAM000002", storageRule: nil)
        let now = harness.now
        func device(_ app: App, _ environment: PushEnvironment) -> Registration {
            core.addVirtualDevice(app: app, name: nil, environment: environment, isOnline: true, now: now)
        }
        registration = device(harness.app, .sandbox)
        unregistered = device(harness.app, .sandbox)
        expired = device(harness.app, .sandbox)
        elsewhere = device(harness.app, .production)
        otherApp = device(other, .sandbox)
        core.setRegistered(unregistered, false, now: now)
        core.setExpired(expired, true, now: now)
        core.outputs = []
    }

    func token(
        key id: String = CoreHarness.key, team: String = CoreHarness.team, age seconds: Int64 = 0
    ) throws -> String {
        let header: JSONValue = ["alg": "ES256", "kid": .string(id)]
        let claims: JSONValue = ["iss": .string(team), "iat": .int(CoreHarness.start / 1000 - seconds)]
        let signed = [header, claims].map { Base64.encode(Array($0.text.utf8), .url) }.joined(separator: ".")
        return "bearer " + signed + "." + Base64.encode(try key.sign(Array(signed.utf8)), .url)
    }

    func trial(to registration: Registration? = nil) throws -> Trial {
        Trial(headers: [
            (":method", "POST"), (":path", "/3/device/\((registration ?? self.registration).token.hex)"),
            (":authority", "localhost"), ("authorization", try token()), ("apns-topic", CoreHarness.bundle),
            ("apns-push-type", "alert"), ("apns-priority", "10"), ("apns-expiration", "0"),
        ])
    }

    /// Judges over a connection of its own.
    func judge(_ trial: Trial) -> APNsReason.Failure? {
        var fresh = ProviderSession(environment: .sandbox)
        return judge(trial, &fresh)
    }

    func judge(_ trial: Trial, _ session: inout ProviderSession) -> APNsReason.Failure? {
        let verdict = harness.core.judge(
            trial.request, session: &session, isJSON: { trial.isJSON }, now: harness.now)
        if case .failure(let failure) = verdict { return failure }
        return nil
    }
}

@Suite struct JudgeTests {
    /// One thing that is wrong with a request, and the part of the request it needs for itself.
    private struct Defect {
        let reason: APNsReason
        let part: String
        let apply: (inout Trial) -> Void

        init(_ reason: APNsReason, _ part: String, _ value: String?) {
            self.init(reason, part) { $0.set(part, value) }
        }

        init(_ reason: APNsReason, _ part: String, _ apply: @escaping (inout Trial) -> Void) {
            self.reason = reason
            self.part = part
            self.apply = apply
        }
    }

    /// In the order in which the server looks.
    private func defects(_ bench: JudgeBench) throws -> [Defect] {
        func path(_ registration: Registration) -> String { "/3/device/\(registration.token.hex)" }
        return [
            Defect(.badPath, ":path", "/3/devices/x"),
            Defect(.methodNotAllowed, ":method", "GET"),
            Defect(.missingDeviceToken, ":path", "/3/device/"),
            Defect(.duplicateHeaders, "apns-id") {
                let id = "8a3c2f1e-0000-4000-8000-00000000abcd"
                $0.headers += [("apns-id", id), ("apns-id", id)]
            },
            Defect(.missingProviderToken, "authorization", nil),
            Defect(.invalidProviderToken, "authorization", "bearer a.b.c"),
            Defect(.invalidProviderToken, "authorization", try bench.token(team: "TEAM000002")),
            Defect(.badEnvironmentKeyIDInToken, "authorization", try bench.token(key: "KEYPROD001")),
            Defect(.expiredProviderToken, "authorization", try bench.token(age: 3601)),
            Defect(.badMessageID, "apns-id", "not-a-uuid"),
            Defect(.badExpirationDate, "apns-expiration", "1518080000.5"),
            Defect(.badPriority, "apns-priority", "7"),
            Defect(.badCollapseID, "apns-collapse-id", String(repeating: "x", count: 65)),
            Defect(.invalidPushType, "apns-push-type", "silent"),
            Defect(.missingTopic, "apns-topic", nil),
            Defect(.missingTopic, "apns-topic", ""),
            Defect(.badTopic, "apns-topic", "com example"),
            Defect(.badTopic, "apns-topic", String(repeating: "x", count: 256)),
            Defect(.topicDisallowed, "apns-topic", "com.stranger.app"),
            Defect(.topicDisallowed, "apns-topic", "com.unknown.app"),
            Defect(.invalidPushType, "apns-push-type", "voip"),
            Defect(.badPriority, "apns-push-type", "background"),
            Defect(.payloadEmpty, "body") { $0.bodyBytes = 0 },
            Defect(.payloadTooLarge, "body") { $0.bodyBytes = 4097 },
            Defect(.payloadEmpty, "body") { $0.isJSON = false },
            Defect(.badDeviceToken, ":path", "/3/device/zzz"),
            Defect(.badDeviceToken, ":path", "/3/device/" + String(repeating: "0", count: 64)),
            Defect(.badDeviceToken, ":path", path(bench.elsewhere)),
            Defect(.unregistered, ":path", path(bench.unregistered)),
            Defect(.expiredToken, ":path", path(bench.expired)),
            Defect(.deviceTokenNotForTopic, ":path", path(bench.otherApp)),
        ]
    }

    @Test func aGoodRequestPasses() throws {
        let bench = try JudgeBench()
        #expect(bench.judge(try bench.trial()) == nil)
    }

    @Test func eachDefectHasItsReason() throws {
        let bench = try JudgeBench()
        for (index, defect) in try defects(bench).enumerated() {
            var trial = try bench.trial()
            defect.apply(&trial)
            let failure = bench.judge(trial)
            #expect(failure?.reason == defect.reason, "defect \(index)")
            #expect((failure?.timestamp != nil) == (defect.reason.status == 410), "defect \(index)")
        }
    }

    @Test func ofTwoDefectsTheEarlierIsNamed() throws {
        let bench = try JudgeBench()
        let defects = try defects(bench)
        var pairs = 0
        for (first, earlier) in defects.enumerated() {
            for (second, later) in defects.enumerated() where second > first && later.part != earlier.part {
                var trial = try bench.trial()
                earlier.apply(&trial)
                later.apply(&trial)
                #expect(bench.judge(trial)?.reason == earlier.reason, "defects \(first) and \(second)")
                pairs += 1
            }
        }
        #expect(pairs > 300)
    }

    @Test func a410SaysSinceWhen() throws {
        let bench = try JudgeBench()
        bench.harness.elapsed = 77_000
        #expect(
            bench.judge(try bench.trial(to: bench.unregistered))
                == APNsReason.Failure(.unregistered, timestamp: CoreHarness.start))
        #expect(
            bench.judge(try bench.trial(to: bench.expired))
                == APNsReason.Failure(.expiredToken, timestamp: CoreHarness.start))
        bench.harness.core.setRegistered(bench.unregistered, true, now: bench.harness.now)
        bench.harness.core.setExpired(bench.expired, false, now: bench.harness.now)
        #expect(bench.judge(try bench.trial(to: bench.unregistered)) == nil)
        #expect(bench.judge(try bench.trial(to: bench.expired)) == nil)
    }

    @Test func theBodyIsParsedOnlyWhenAllBeforeItPassed() throws {
        let bench = try JudgeBench()
        var asked = 0
        for (name, value) in [("x", "y"), ("apns-topic", "com.stranger.app"), ("authorization", "bearer a.b.c")] {
            var trial = try bench.trial()
            trial.set(name, value)
            var session = ProviderSession(environment: .sandbox)
            _ = bench.harness.core.judge(
                trial.request, session: &session,
                isJSON: {
                    asked += 1
                    return true
                }, now: bench.harness.now)
        }
        #expect(asked == 1)
    }

    @Test func aVoIPBodyMayBeLonger() throws {
        let bench = try JudgeBench()
        var trial = try bench.trial()
        trial.set("apns-topic", CoreHarness.bundle + ".voip")
        trial.set("apns-push-type", "voip")
        trial.bodyBytes = 5120
        #expect(bench.judge(trial) == nil)
        trial.bodyBytes = 5121
        #expect(bench.judge(trial)?.reason == .payloadTooLarge)
    }

    @Test func aSuffixedTopicWithoutPushTypePasses() throws {
        let bench = try JudgeBench()
        var trial = try bench.trial()
        trial.set("apns-topic", CoreHarness.bundle + ".voip")
        #expect(bench.judge(trial)?.reason == .invalidPushType)
        trial.set("apns-push-type", nil)
        #expect(bench.judge(trial) == nil)
    }

    @Test func upperCaseTokensPass() throws {
        let bench = try JudgeBench()
        var trial = try bench.trial()
        trial.set(":path", "/3/device/" + bench.registration.token.hex.uppercased())
        #expect(bench.judge(trial) == nil)
    }

    // MARK: What a connection remembers

    @Test func aConnectionBelongsToTheTeamOfItsFirstToken() throws {
        let bench = try JudgeBench()
        bench.harness.core.verifier.add(
            ProviderKey(id: "KEY0000002", team: "TEAM000002", environment: nil, publicKey: bench.key.publicKey))
        var stranger = try bench.trial()
        stranger.set("authorization", try bench.token(key: "KEY0000002", team: "TEAM000002"))
        #expect(bench.judge(try bench.trial(), &bench.session) == nil)
        #expect(bench.judge(stranger, &bench.session)?.reason == .invalidProviderToken)
        #expect(bench.judge(try bench.trial(), &bench.session) == nil)
        // On a connection of its own the token is good, and the topic is what is wrong.
        #expect(bench.judge(stranger)?.reason == .topicDisallowed)
    }

    @Test func aTokenExpiresWhileItsConnectionLives() throws {
        let bench = try JudgeBench()
        let trial = try bench.trial()
        #expect(bench.judge(trial, &bench.session) == nil)
        bench.harness.elapsed = 3_600_000
        #expect(bench.judge(trial, &bench.session) == nil)
        bench.harness.elapsed = 3_601_000
        #expect(bench.judge(trial, &bench.session)?.reason == .expiredProviderToken)
        var renewed = trial
        renewed.set("authorization", try bench.token(age: -3601))
        #expect(bench.judge(renewed, &bench.session) == nil)
    }

    @Test func aBadTokenDoesNotSpoilTheGoodOne() throws {
        let bench = try JudgeBench()
        let good = try bench.trial()
        var bad = good
        bad.set("authorization", "bearer a.b.c")
        #expect(bench.judge(good, &bench.session) == nil)
        #expect(bench.judge(bad, &bench.session)?.reason == .invalidProviderToken)
        #expect(bench.judge(good, &bench.session) == nil)
    }

    @Test func removingAKeyReachesConnectionsThatUsedIt() throws {
        let bench = try JudgeBench()
        let trial = try bench.trial()
        #expect(bench.judge(trial, &bench.session) == nil)
        #expect(bench.harness.core.verifier.remove(keyID: CoreHarness.key))
        #expect(bench.judge(trial, &bench.session)?.reason == .invalidProviderToken)
        #expect(bench.judge(trial, &bench.session)?.reason == .invalidProviderToken)
    }

    @Test func anAppThatIsRemovedIsForgottenByConnections() throws {
        let bench = try JudgeBench()
        let trial = try bench.trial()
        #expect(bench.judge(trial, &bench.session) == nil)
        bench.harness.core.removeApp(bench.harness.app, now: bench.harness.now)
        #expect(bench.judge(trial, &bench.session)?.reason == .topicDisallowed)
        bench.harness.core.addApp(bundle: CoreHarness.bundle, team: CoreHarness.team, storageRule: nil)
        #expect(bench.judge(trial, &bench.session)?.reason == .badDeviceToken)
    }

    @Test func anAppThatMovesToAnotherTeamIsDisallowed() throws {
        let bench = try JudgeBench()
        #expect(bench.judge(try bench.trial(), &bench.session) == nil)
        bench.harness.core.registry.move(bench.harness.app, toTeam: "TEAM000002")
        #expect(bench.judge(try bench.trial(), &bench.session)?.reason == .topicDisallowed)
    }

    @Test func aConnectionMayAlternateTopics() throws {
        let bench = try JudgeBench()
        var other = try bench.trial(to: bench.otherApp)
        other.set("apns-topic", "com.example.other")
        for _ in 1...3 {
            #expect(bench.judge(try bench.trial(), &bench.session) == nil)
            #expect(bench.judge(other, &bench.session) == nil)
        }
    }

    // MARK: Environments

    private static let hosts: [(String?, PushEnvironment)] = [
        ("api.push.apple.com", .production), ("api.push.apple.com:443", .production),
        ("api.sandbox.push.apple.com", .sandbox), ("api.development.push.apple.com:2197", .sandbox),
        ("localhost:8443", .production), ("", .production), (nil, .production),
        ("a.long.name.example.com", .production),
    ]

    @Test(arguments: hosts)
    func theHostOfARequestNamesItsEnvironment(host: String?, environment: PushEnvironment) throws {
        let bench = try JudgeBench()
        var trial = try bench.trial()
        trial.set(":authority", host)
        var session = ProviderSession(environment: .production)
        #expect(bench.harness.core.environment(of: trial.request, session: &session) == environment)
        // Asked again, it answers from memory.
        #expect(bench.harness.core.environment(of: trial.request, session: &session) == environment)
    }

    @Test func aTokenIsGoodInItsOwnEnvironmentOnly() throws {
        let bench = try JudgeBench()
        var trial = try bench.trial(to: bench.elsewhere)
        trial.set(":authority", "api.push.apple.com")
        #expect(bench.judge(trial) == nil)
        trial = try bench.trial()
        trial.set(":authority", "api.push.apple.com")
        #expect(bench.judge(trial) == APNsReason.Failure(.badDeviceToken))
        trial.set("authorization", try bench.token(key: "KEYPROD001"))
        #expect(bench.judge(trial)?.reason == .badDeviceToken)
    }

    // MARK: Switches

    @Test func unknownTokensAreRegisteredWhenTheSwitchIsOn() throws {
        var settings = RuleSettings()
        settings.registersUnknownTokens = true
        let bench = try JudgeBench(settings: settings)
        let hex = String(repeating: "ab", count: 80)
        var trial = try bench.trial()
        trial.set(":path", "/3/device/" + hex)
        trial.set("apns-topic", "com.new.app.voip")
        trial.set("apns-push-type", "voip")
        #expect(bench.judge(trial) == nil)
        let registration = try #require(AppToken(hex: hex).flatMap(bench.harness.core.registry.registration))
        #expect(registration.device.isVirtual && registration.device.isOnline)
        #expect(registration.topic.name == "com.new.app.voip" && registration.app.team == CoreHarness.team)
        let devices = bench.harness.core.registry.devices.count
        #expect(bench.judge(trial) == nil)
        #expect(bench.harness.core.registry.devices.count == devices)
        trial.set(":path", "/3/device/zzz")
        #expect(bench.judge(trial)?.reason == .badDeviceToken)
        // A known token of another app stays what it is.
        trial.set(":path", "/3/device/\(bench.registration.token.hex)")
        #expect(bench.judge(trial)?.reason == .deviceTokenNotForTopic)
    }

    @Test func anyKeyIsTrustedWhenTheSwitchIsOn() throws {
        var settings = RuleSettings()
        settings.trustsAnyKey = true
        let bench = try JudgeBench(settings: settings)
        var trial = try bench.trial()
        trial.set("authorization", try bench.token(key: "KEYUNKNOWN", team: "TEAMOTHER1"))
        #expect(bench.judge(trial) == nil)
        trial.set("authorization", try bench.token(key: "KEYUNKNOWN", age: 3601))
        #expect(bench.judge(trial)?.reason == .expiredProviderToken)
        trial.set("authorization", try bench.token(team: "TEAMOTHER1"))
        #expect(bench.judge(trial)?.reason == .invalidProviderToken)
    }
}
