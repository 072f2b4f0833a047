import PushJSON
import PushServer
import Testing

/// Cases about one request and its answer, over real TLS.
@Suite(.serialized) struct RequestCases {
    private static let uuid = "a1b2c3d4-0000-4000-8000-00000000000f"

    /// Sends the good request with changes; `body` may be told, too.
    private func answer(
        _ bench: CaseBench, to token: String, _ changes: [String: String?] = [:], body: [UInt8] = CaseBench.body,
        client: CaseClient? = nil
    ) throws -> CaseClient.Answer {
        try (client ?? bench.client()).request(bench.push(to: token, changes), body: body)
    }

    private func isServerMade(_ id: String?) -> Bool {
        id?.wholeMatch(of: /[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/) != nil
    }

    @Test("case 1: a good request is answered by HEADERS alone, with its id as it was written")
    func goodRequest() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let answer = try answer(bench, to: phone.token, ["apns-id": Self.uuid], client: client)
            #expect(answer.status == 200 && answer.body.isEmpty)
            #expect(answer["apns-id"] == Self.uuid)
            #expect(isServerMade(answer["apns-unique-id"]))
            #expect(answer["content-type"] == nil)
            let frames = client.frames(of: answer.stream)
            #expect(frames.count == 1 && frames[0].type == 1 && frames[0].endsStream)
            try bench.expect(Self.uuid, reaches: "acknowledged")
        }
    }

    @Test("case 2: without apns-id the server makes another one in capitals each time")
    func serverMadeID() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let ids = try (0..<3).map { _ in try answer(bench, to: phone.token, client: client)["apns-id"] ?? "" }
            #expect(ids.allSatisfy(isServerMade) && Set(ids).count == 3)
            for id in ids { try bench.expect(id, reaches: "acknowledged") }
        }
    }

    @Test("case 3: production gives no apns-unique-id", arguments: [true, false])
    func production(isByServerName: Bool) async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device(environment: "production")
            let client = try bench.client(serverName: isByServerName ? "api.push.apple.com" : nil)
            let changes: [String: String?] = isByServerName ? [:] : [":authority": "api.push.apple.com"]
            let answer = try answer(bench, to: phone.token, changes, client: client)
            #expect(answer.status == 200)
            #expect(answer["apns-unique-id"] == nil)
        }
    }

    @Test("case 4: a bad apns-id is refused, and the answer has a fresh one")
    func badID() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let answer = try answer(bench, to: phone.token, ["apns-id": "not-a-uuid"], client: client)
            #expect(answer.status == 400 && answer.reason == "BadMessageId")
            #expect(isServerMade(answer["apns-id"]))
            #expect(answer["content-type"] == "application/json")
            // The body is one DATA frame, and that ends the stream.
            let frames = client.frames(of: answer.stream)
            #expect(frames.map(\.type) == [1, 0] && frames.map(\.endsStream) == [false, true])
            #expect(try bench.inbox(phone).isEmpty)
        }
    }

    @Test("case 14: a token of another app of the team is refused")
    func tokenOfAnotherApp() async throws {
        try await CaseBench.run { bench in
            try bench.control("POST", "apps", #"{"bundle":"com.example.second"}"#)
            let phone = try bench.device()
            let answer = try answer(bench, to: phone.token, ["apns-topic": "com.example.second"])
            #expect(answer.status == 400 && answer.reason == "DeviceTokenNotForTopic")
        }
    }

    @Test("case 15: alert to a voip topic is refused, and passes without apns-push-type")
    func voipTopic() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let topic = CaseBench.topic + ".voip"
            let refused = try answer(bench, to: phone.token, ["apns-topic": topic], client: client)
            #expect(refused.status == 400 && refused.reason == "InvalidPushType")
            let passed = try answer(
                bench, to: phone.token, ["apns-topic": topic, "apns-push-type": nil], client: client)
            #expect(passed.status == 200)
            try bench.expect(passed["apns-id"] ?? "", reaches: "acknowledged")
        }
    }

    @Test("case 16: the push type controls is known")
    func controls() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let answer = try answer(
                bench, to: phone.token,
                ["apns-push-type": "controls", "apns-topic": CaseBench.topic + ".push-type.controls"],
                body: Array(#"{"aps":{"content-changed":true}}"#.utf8))
            #expect(answer.status == 200)
        }
    }

    @Test(
        "case 17: a background push has no priority 10",
        arguments: [
            (["apns-push-type": "background", "apns-priority": "10"], "BadPriority"),
            (["apns-push-type": "background", "apns-priority": "5"], nil), (["apns-push-type": "background"], nil),
        ] as [([String: String], String?)])
    func backgroundPriority(changes: [String: String], reason: String?) async throws {
        try await expect(changes, reason)
    }

    @Test("case 18: priorities are 10, 5 and 1", arguments: [("1", nil), ("7", "BadPriority"), ("", "BadPriority")])
    func priorities(value: String, reason: String?) async throws {
        try await expect(["apns-priority": value], reason)
    }

    @Test(
        "case 19: a collapse id has at most 64 bytes of UTF-8",
        arguments: [("c", 64, nil), ("c", 65, "BadCollapseId"), ("ä", 32, nil), ("ä", 33, "BadCollapseId")])
    func collapseID(letter: String, count: Int, reason: String?) async throws {
        try await expect(["apns-collapse-id": String(repeating: letter, count: count)], reason)
    }

    @Test(
        "case 20: an expiration is whole seconds",
        arguments: [("1518080000.5", "BadExpirationDate"), ("0", nil), ("soon", "BadExpirationDate")])
    func expiration(value: String, reason: String?) async throws {
        try await expect(["apns-expiration": value], reason)
    }

    /// A push with these headers is refused for `reason`, or arrives.
    private func expect(_ changes: [String: String], _ reason: String?) async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let answer = try answer(bench, to: phone.token, changes.mapValues { $0 })
            #expect(answer.status == (reason == nil ? 200 : 400))
            #expect(answer.reason == reason)
            let id = try #require(answer["apns-id"])
            #expect(try bench.inbox(phone) == (reason == nil ? [id] : []))
            if let collapse = changes["apns-collapse-id"], reason == nil {
                #expect(try bench.view(id)["collapseID"]?.stringValue == collapse)
            }
        }
    }

    @Test(
        "case 22: the size of the body",
        arguments: [
            (4096, false, 200), (4097, false, 413), (4097, true, 200), (5120, true, 200), (5121, true, 413),
            (100_000, false, 413),
        ])
    func bodySize(count: Int, isVoIP: Bool, status: Int) async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let frame = #"{"a":""}"#
            let body = Array((frame.dropLast(2) + String(repeating: "x", count: count - frame.utf8.count) + "\"}").utf8)
            let changes: [String: String?] =
                isVoIP ? ["apns-push-type": "voip", "apns-topic": CaseBench.topic + ".voip"] : [:]
            let answer = try answer(bench, to: phone.token, changes, body: body)
            #expect(body.count == count)
            #expect(answer.status == status)
            #expect(answer.reason == (status == 413 ? "PayloadTooLarge" : nil))
        }
    }

    @Test("case 23: an empty body is refused")
    func emptyBody() async throws {
        try await CaseBench.run { bench in
            let answer = try answer(bench, to: bench.device().token, body: [])
            #expect(answer.status == 400 && answer.reason == "PayloadEmpty")
        }
    }

    @Test("case 26: a token of 160 digits passes")
    func longToken() async throws {
        try await CaseBench.run(configure: { $0.registersUnknownTokens = true }) { bench in
            let answer = try answer(bench, to: String(repeating: "0123456789abcdef", count: 10))
            #expect(answer.status == 200)
            try bench.expect(answer["apns-id"] ?? "", reaches: "acknowledged")
        }
    }

    @Test(
        "case 27: method and path",
        arguments: [
            ("GET", "/3/device/D", 405, "MethodNotAllowed"), ("POST", "/3/devices/D", 404, "BadPath"),
            ("POST", "/3/device/", 400, "MissingDeviceToken"), ("POST", "/3/device", 400, "MissingDeviceToken"),
        ])
    func methodAndPath(method: String, path: String, status: Int, reason: String) async throws {
        try await CaseBench.run { bench in
            let token = try bench.device().token
            let answer = try answer(
                bench, to: token, [":method": method, ":path": path.replacing("D", with: token)])
            #expect(answer.status == status && answer.reason == reason)
            #expect(isServerMade(answer["apns-id"]))
        }
    }

    @Test("case 28: a repeated header is refused")
    func repeatedHeader() async throws {
        try await CaseBench.run { bench in
            let fields = try bench.push(to: bench.device().token) + [("apns-topic", CaseBench.topic)]
            let answer = try bench.client().request(fields, body: CaseBench.body)
            #expect(answer.status == 400 && answer.reason == "DuplicateHeaders")
        }
    }

    @Test("case 41: host stands in for :authority")
    func hostField() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let changes: [String: String?] = [":authority": nil, "host": "api.sandbox.push.apple.com"]
            let answer = try answer(bench, to: phone.token, changes)
            #expect(answer.status == 200)
            try bench.expect(answer["apns-id"] ?? "", reaches: "acknowledged")
        }
    }
}
