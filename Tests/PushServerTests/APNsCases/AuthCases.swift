import Foundation
import PushBytes
import PushCrypto
import PushJSON
import PushServer
import Testing

/// Cases 5 to 13: provider tokens over real TLS.
@Suite(.serialized) struct AuthCases {
    /// A token of the server's own key with other claims or another form of signature.
    private func token(_ bench: CaseBench, claims: String, isDER: Bool = false) throws -> String {
        let parts = [#"{"alg":"ES256","kid":"\#(LocalPushDefaults.keyID)"}"#, claims]
        let signed = parts.map { Base64.encode(Array($0.utf8), .url) }.joined(separator: ".")
        var signature = try bench.key.sign(Array(signed.utf8))
        if isDER {
            let numbers = [signature[0..<32], signature[32..<64]].flatMap { half in
                var digits = Array(half.drop { $0 == 0 })
                if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
                return [0x02, UInt8(digits.count)] + digits
            }
            signature = [0x30, UInt8(numbers.count)] + numbers
        }
        return "bearer " + signed + "." + Base64.encode(signature, .url)
    }

    private var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// A refusal has the answer's usual shape: an id, JSON, and the body in one frame.
    private func expect(
        _ answer: CaseClient.Answer, _ status: Int, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == status, sourceLocation: sourceLocation)
        #expect(answer.body == #"{"reason":"\#(reason)"}"#, sourceLocation: sourceLocation)
        #expect(answer["content-type"] == "application/json", sourceLocation: sourceLocation)
        #expect(answer["apns-id"]?.count == 36, sourceLocation: sourceLocation)
    }

    @Test("case 5: without authorization and certificate MissingProviderToken") func case5() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            for header in [nil, "", "basic abc", "bearer"] as [String?] {
                let push = try bench.push(to: phone.token, ["authorization": header])
                expect(try client.request(push, body: CaseBench.body), 403, "MissingProviderToken")
            }
            #expect(try bench.inbox(phone).isEmpty)
            // The connection goes on.
            #expect(try client.request(bench.push(to: phone.token), body: CaseBench.body).status == 200)
        }
    }

    @Test("case 6: a bad signature wins over a bad device token") func case6() async throws {
        try await CaseBench.run { bench in
            let client = try bench.client()
            let stranger = try ES256PrivateKey()
            let bad = "bearer " + (try bench.providerToken(key: stranger))
            let push = try bench.push(to: "zzz", ["authorization": bad])
            expect(try client.request(push, body: CaseBench.body), 403, "InvalidProviderToken")
            expect(try client.request(bench.push(to: "zzz"), body: CaseBench.body), 400, "BadDeviceToken")
        }
    }

    @Test("case 7: a DER signature is as good as a raw one") func case7() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let der = try token(bench, claims: #"{"iss":"\#(LocalPushDefaults.team)","iat":\#(now)}"#, isDER: true)
            let answer = try client.request(
                bench.push(to: phone.token, ["authorization": der]), body: CaseBench.body)
            #expect(answer.status == 200)
            try bench.expect(try #require(answer["apns-id"]), reaches: "acknowledged")
        }
    }

    @Test("case 8: a token older than an hour is expired, and one from the future as set", arguments: [nil, true])
    func case8(isFutureInvalid: Bool?) async throws {
        let settings = isFutureInvalid == true ? ["auth.futureTokenReason": "invalid"] : [:]
        try await CaseBench.run(settings: settings) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            func answer(age: Int64) throws -> CaseClient.Answer {
                let token = "bearer " + (try bench.providerToken(age: age))
                return try client.request(
                    bench.push(to: phone.token, ["authorization": token]), body: CaseBench.body)
            }
            expect(try answer(age: 3601), 403, "ExpiredProviderToken")
            expect(
                try answer(age: -3660), 403,
                isFutureInvalid == true ? "InvalidProviderToken" : "ExpiredProviderToken")
            #expect(try answer(age: 3500).status == 200)
            #expect(try answer(age: -3500).status == 200)
        }
    }

    @Test("case 8: iat as digits in a string passes unless strict", arguments: [false, true])
    func case8String(isStrict: Bool) async throws {
        try await CaseBench.run(settings: ["auth.strictIssuedAt": isStrict ? "on" : "off"]) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            func answer(_ issuedAt: String) throws -> CaseClient.Answer {
                let text = try token(bench, claims: #"{"iss":"\#(LocalPushDefaults.team)","iat":\#(issuedAt)}"#)
                return try client.request(
                    bench.push(to: phone.token, ["authorization": text]), body: CaseBench.body)
            }
            if isStrict {
                expect(try answer("\"\(now)\""), 403, "InvalidProviderToken")
            } else {
                #expect(try answer("\"\(now)\"").status == 200)
            }
            expect(try answer("\"soon\""), 403, "InvalidProviderToken")
            expect(try answer("null"), 403, "InvalidProviderToken")
            #expect(try answer("\(now).5").status == 200)
        }
    }

    @Test("case 9: a second token too soon gets 429, and the first goes on") func case9() async throws {
        try await CaseBench.run(.faithful) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let first = try bench.push(to: phone.token)
            let second = try bench.push(
                to: phone.token, ["authorization": "bearer " + (try bench.providerToken(age: 5))])
            #expect(try client.request(first, body: CaseBench.body).status == 200)
            expect(try client.request(second, body: CaseBench.body), 429, "TooManyProviderTokenUpdates")
            #expect(try client.request(first, body: CaseBench.body).status == 200)
            #expect(try bench.inbox(phone).count == 2)
        }
    }

    @Test("case 9: as many early changes as tolerated, or any number when the rule is off")
    func case9Tolerated() async throws {
        func statuses(_ settings: [String: String]) async throws -> [Int] {
            var statuses: [Int] = []
            try await CaseBench.run(settings: settings) { bench in
                let phone = try bench.device()
                let client = try bench.client()
                for age in 0..<5 {
                    let token = "bearer " + (try bench.providerToken(age: Int64(age)))
                    let push = try bench.push(to: phone.token, ["authorization": token])
                    statuses.append(try client.request(push, body: CaseBench.body).status)
                }
            }
            return statuses
        }
        #expect(try await statuses([:]) == [200, 200, 200, 200, 200])
        let rule = ["auth.limitTokenChanges": "on", "auth.tokenChangesTolerated": "2"]
        #expect(try await statuses(rule) == [200, 200, 200, 429, 429])
    }

    @Test("case 10: the same two tokens on two connections are fine") func case10() async throws {
        try await CaseBench.run(.faithful) { bench in
            let phone = try bench.device()
            for age in [0, 5] as [Int64] {
                let token = "bearer " + (try bench.providerToken(age: age))
                let push = try bench.push(to: phone.token, ["authorization": token])
                #expect(try bench.client().request(push, body: CaseBench.body).status == 200)
            }
        }
    }

    @Test("case 11: a connection belongs to the team of its first push") func case11() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let stranger = try CaseKey(bench, "KEYTEAMTWO", team: "TEAM000002")
            let client = try bench.client()
            #expect(try client.request(bench.push(to: phone.token), body: CaseBench.body).status == 200)
            let push = try bench.push(to: phone.token, ["authorization": try stranger.token(bench)])
            expect(try client.request(push, body: CaseBench.body), 403, "InvalidProviderToken")
            #expect(try client.request(bench.push(to: phone.token), body: CaseBench.body).status == 200)
            // On its own connection the token is good; only the topic is another team's.
            expect(try bench.client().request(push, body: CaseBench.body), 400, "TopicDisallowed")
        }
    }

    @Test("case 12: a key of the other environment", arguments: [nil, "BadEnvironmentKeyInToken"])
    func case12(spelling: String?) async throws {
        let settings = spelling == nil ? [:] : ["auth.environmentKeyReason": "observed"]
        try await CaseBench.run(settings: settings) { bench in
            let phone = try bench.device()
            let key = try CaseKey(bench, "KEYPRODUCE", #", "environment":"production""#)
            let push = try bench.push(to: phone.token, ["authorization": try key.token(bench)])
            let reason = spelling ?? "BadEnvironmentKeyIdInToken"
            expect(try bench.client().request(push, body: CaseBench.body), 403, reason)
            // In production it is good, and the device is not there.
            let there = try bench.push(
                to: phone.token, [":authority": "api.push.apple.com", "authorization": try key.token(bench)])
            let production = try bench.client(serverName: "api.push.apple.com")
            expect(try production.request(there, body: CaseBench.body), 400, "BadDeviceToken")
        }
    }

    @Test("case 13: another team's topic, and one of nobody, are disallowed") func case13() async throws {
        try await CaseBench.run { bench in
            try bench.control("POST", "apps", #"{"bundle":"com.other.app","team":"TEAM000002"}"#)
            let phone = try bench.device()
            let client = try bench.client()
            for topic in ["com.other.app", "com.nobody.app"] {
                let push = try bench.push(to: phone.token, ["apns-topic": topic])
                expect(try client.request(push, body: CaseBench.body), 400, "TopicDisallowed")
            }
        }
    }

    // MARK: Keys with a scope

    @Test func keysFollowOthersOnOneConnectionOnlyWhenRelated() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let one = try CaseKey(bench, "KEYTOPIC01", #", "topics":["com.example.app"],"relatedKey":"KEYTOPIC02""#)
            let two = try CaseKey(bench, "KEYTOPIC02", #", "topics":["com.example.app"]"#)
            let three = try CaseKey(bench, "KEYTOPIC03", #", "topics":["com.example.app"]"#)
            let team = try CaseKey(bench, "KEYTEAM001")
            func answer(_ client: CaseClient, _ key: CaseKey) throws -> CaseClient.Answer {
                let push = try bench.push(to: phone.token, ["authorization": try key.token(bench)])
                return try client.request(push, body: CaseBench.body)
            }
            let specific = try bench.client()
            for key in [one, two, one] { #expect(try answer(specific, key).status == 200) }
            for key in [three, team] { expect(try answer(specific, key), 403, "UnrelatedKeyIdInToken") }
            #expect(try answer(specific, one).status == 200)
            let wide = try bench.client()
            #expect(try answer(wide, team).status == 200)
            #expect(try wide.request(bench.push(to: phone.token), body: CaseBench.body).status == 200)
            expect(try answer(wide, one), 403, "UnrelatedKeyIdInToken")
        }
    }

    @Test(
        arguments: [
            ("disallowed", "TopicDisallowed"), ("invalid", "InvalidProviderToken"),
            ("unrelated", "UnrelatedKeyIdInToken"),
        ])
    func aTopicOutsideATopicSpecificKeyIsRefusedAsSet(value: String, refusal: String) async throws {
        let settings = ["auth.topicOutsideKeyReason": value]
        try await CaseBench.run(settings: settings) { bench in
            try bench.control("POST", "apps", #"{"bundle":"com.example.second"}"#)
            let phone = try bench.device()
            let second = try bench.device(app: "com.example.second")
            let key = try CaseKey(bench, "KEYTOPIC01", #", "topics":["com.example.app"],"environment":"sandbox""#)
            let client = try bench.client()
            func answer(_ token: String, _ topic: String, _ type: String = "alert") throws -> CaseClient.Answer {
                let push = try bench.push(
                    to: token,
                    ["authorization": try key.token(bench), "apns-topic": topic, "apns-push-type": type])
                return try client.request(push, body: CaseBench.body)
            }
            #expect(try answer(phone.token, "com.example.app").status == 200)
            #expect(try answer(phone.token, "com.example.app.voip", "voip").status == 200)
            expect(
                try answer(second.token, "com.example.second"), refusal == "TopicDisallowed" ? 400 : 403, refusal)
            #expect(try answer(phone.token, "com.example.app").status == 200)
        }
    }

    @Test func appsThatComeLaterNeedANewConnectionInTheFaithfulProfile() async throws {
        for profile in [LocalPushConfiguration.Profile.faithful, .lenient] {
            try await CaseBench.run(profile) { bench in
                let phone = try bench.device()
                let client = try bench.client()
                #expect(try client.request(bench.push(to: phone.token), body: CaseBench.body).status == 200)
                try bench.control("POST", "apps", #"{"bundle":"com.example.later"}"#)
                let later = try bench.device(app: "com.example.later")
                let push = try bench.push(to: later.token, ["apns-topic": "com.example.later"])
                let answer = try client.request(push, body: CaseBench.body)
                if profile == .faithful {
                    expect(answer, 400, "TopicDisallowed")
                } else {
                    #expect(answer.status == 200)
                }
                #expect(try bench.client().request(push, body: CaseBench.body).status == 200)
            }
        }
    }

    @Test func aRevokedKeyIsRefusedOnOpenConnections() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let key = try CaseKey(bench, "KEYTEAM001")
            let client = try bench.client()
            let push = try bench.push(to: phone.token, ["authorization": try key.token(bench)])
            #expect(try client.request(push, body: CaseBench.body).status == 200)
            try bench.control("DELETE", "keys/KEYTEAM001")
            expect(try client.request(push, body: CaseBench.body), 403, "InvalidProviderToken")
        }
    }

    // MARK: The control API

    @Test func aKeyShowsItsScope() async throws {
        try await CaseBench.run { bench in
            _ = try CaseKey(
                bench, "KEYTOPIC01", #", "topics":["a.b","a.b.voip"],"relatedKey":"KEYTOPIC02","environment":"both""#)
            let shown = try bench.control("GET", "keys/KEYTOPIC01")
            #expect(shown["topics"]?.arrayValue?.compactMap(\.stringValue) == ["a.b", "a.b.voip"])
            #expect(shown["relatedKey"]?.stringValue == "KEYTOPIC02")
            #expect(shown["environment"] == nil)
            let own = try bench.control("GET", "keys/\(LocalPushDefaults.keyID)")
            #expect(own["topics"] == nil && own["relatedKey"] == nil)
        }
    }

    private static let badScopes: [(fields: String, part: String)] = [
        (#""topics":[]"#, "topics"), (#""topics":"a.b""#, "topics"), (#""topics":["a b"]"#, "a b"),
        (#""topics":[1]"#, "topics"), (#""relatedKey":"K2""#, "relatedKey"),
        (#""topics":["a.b"],"relatedKey":"K1""#, "relatedKey"), (#""environment":"moon""#, "environment"),
        ("\"topics\":[\(Array(repeating: "\"a.b\"", count: 401).joined(separator: ","))]", "400"),
        (#""topic":["a.b"]"#, "topic"),
    ]

    @Test func scopesThatMakeNoSenseAreNamed() async throws {
        try await CaseBench.run { bench in
            let pem = try ES256PrivateKey().publicKey.pem.replacing("\n", with: "\\n")
            for (fields, part) in Self.badScopes {
                let (status, json) = try bench.controlStatus(
                    "POST", "keys", #"{"id":"K1","team":"T","pem":"\#(pem)",\#(fields)}"#)
                #expect(status == 400, "\(fields)")
                #expect(json[path: "error.message"]?.stringValue?.contains(part) == true, "\(json.text)")
            }
        }
    }
}
