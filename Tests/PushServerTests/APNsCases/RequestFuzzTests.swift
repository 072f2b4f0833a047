import Foundation
import PushBytes
import PushCore
import PushCrypto
import PushHTTP2
import PushStore
import Testing

@testable import PushServer

/// Nonsense in every place of a request, by the hundred thousand, without sockets. `SEED=… swift test --filter
/// RequestFuzzTests` replays a run.
@Suite struct RequestFuzzTests {
    private static let unix: Int64 = 1_767_225_600_000

    @Test(arguments: RuleProfile.allCases)
    func noRequestBreaksTheServer(profile: RuleProfile) throws {
        let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 0x5EED
        print("request fuzz: SEED=\(seed) \(profile)")
        var fuzz = try RequestFuzz(profile: profile, seed: seed, unix: Self.unix)
        try fuzz.run(requests: 34_000)
        // Every request has an end, and both kinds of it were met.
        #expect(fuzz.unanswered == 0, "replay with SEED=\(seed)")
        #expect(fuzz.problems.isEmpty, "replay with SEED=\(seed)")
        #expect(fuzz.statuses[200, default: 0] > 100 && fuzz.statuses.count >= 6, "\(fuzz.statuses)")
        #expect(fuzz.statuses[201, default: 0] > 10, "channels were made: \(fuzz.statuses)")
    }
}

/// One service, one client in memory at a time, and requests out of a table of good and bad values.
private struct RequestFuzz {
    private(set) var statuses: [Int: Int] = [:]
    private(set) var problems: [String] = []
    private(set) var unanswered = 0
    private let service: PushService
    private let tokens: [String]
    private let bearers: [String]
    private let table: [(String, [String])]
    private var random: SeededRandom
    private var milliseconds: Int64 = 0
    private let unix: Int64
    private var client: HTTP2ClientEngine
    private var connection: ProviderConnection
    private var open: Set<Int32> = []
    /// The connection is one to a port on which channels are managed.
    private var isManaging = false

    init(profile: RuleProfile, seed: UInt64, unix: Int64) throws {
        random = SeededRandom(seed: seed)
        self.unix = unix
        var setup = ServiceSetup()
        setup.rules = RuleSettings(profile: profile)
        setup.rules.defaultTeam = "TEAM1"
        setup.bundles = ["com.example.app", "com.example.second"]
        setup.keys = [
            ProviderKey(id: "KEY1", team: "TEAM1", environment: nil, publicKey: SimulatedProvider.key.publicKey)
        ]
        let now = Moment(monotonicMilliseconds: 0, unixMilliseconds: unix)
        service = try PushService(
            store: try PushStore(.temporary), setup: setup, secret: [UInt8](repeating: 7, count: 32), now: now)
        var tokens: [String] = []
        for (index, bundle) in setup.bundles.enumerated() {
            for isOnline in [true, false] {
                let app = try #require(service.core.registry.app(bundle))
                let made = service.core.addVirtualDevice(
                    app: app, name: nil, environment: index == 0 ? .sandbox : .production, isOnline: isOnline, now: now)
                tokens.append(made.token.hex)
            }
        }
        self.tokens = tokens
        bearers = [0, -3700, 3700].map { SimulatedProvider.makeBearer(unixSeconds: unix / 1000 + $0) }
        table = Self.table(tokens: tokens, bearers: bearers)
        service.perform(now: now)
        client = try HTTP2ClientEngine()
        connection = try service.openProvider(serverName: nil, now: now)
    }

    mutating func run(requests: Int) throws {
        var sent = 0
        while sent < requests {
            for _ in 0..<(1 + Int(random.next() % 20)) where client.canSubmit {
                try submit()
                sent += 1
            }
            milliseconds += Int64(random.next() % 50)
            try exchange()
            if random.next() % 50 == 0 { try reconnect() }
        }
        for _ in 0..<10 { try exchange() }
        unanswered += open.count
    }

    private var now: Moment {
        Moment(monotonicMilliseconds: milliseconds, unixMilliseconds: unix + milliseconds)
    }

    /// Bytes both ways until nothing moves.
    private mutating func exchange() throws {
        for _ in 0..<4 {
            var bytes = ByteQueue()
            try client.drain(into: &bytes)
            do {
                try bytes.withSpan { span throws(HTTP2Error) in try connection.receive(span, now: now) }
            } catch {
                problems.append("the server gave up a connection: \(error)")
                return try reconnect()
            }
            service.timePassed(now: now)
            service.endTurn(now: now)
            bytes.removeAll()
            try connection.drain(into: &bytes)
            try bytes.withSpan { span throws(HTTP2Error) in try client.receive(span) }
            while let event = client.nextEvent() { note(event) }
        }
    }

    private mutating func reconnect() throws {
        unanswered += open.count
        open = []
        client = try HTTP2ClientEngine()
        isManaging = random.next() % 3 == 0
        connection =
            try service.openProvider(isManaging ? .management(.sandbox) : .provider, serverName: nil, now: now)
    }

    private mutating func note(_ event: HTTP2ClientEngine.Event) {
        switch event {
        case .response(let message):
            open.remove(message.streamID)
            let status = Int(message.text(of: ":status") ?? "") ?? 0
            statuses[status, default: 0] += 1
            let body = String(decoding: message.body, as: UTF8.self)
            let reason = body.firstMatch(of: /^\{"reason":"(\w+)"/).map { String($0.output.1) }
            let known = APNsReason.allCases.first { $0.text == reason }
            // Channels that are read and listed have a body, in JSON of another kind.
            let isWell = status < 300 ? known == nil : known?.status == status
            if status >= 500 || !isWell { problems.append("\(status) \(body)") }
            let id = message.text(of: "apns-id") ?? message.text(of: "apns-request-id")
            if id?.utf8.count != 36 { problems.append("\(status) without an id") }
            client.recycle(message)
        case .streamClosed(let stream, let code):
            // The library refuses fields that are not HTTP, and streams too many.
            open.remove(stream)
            if code != HTTP2ErrorCode.protocolError && code != HTTP2ErrorCode.refusedStream && code != 0xb {
                problems.append("stream ended with \(code)")
            }
        case .goAway(_, let code, let data):
            problems.append("GOAWAY \(code) \(String(decoding: data, as: UTF8.self))")
        case .settings, .pingAcknowledged: break
        }
    }

    // MARK: Requests

    private mutating func submit() throws {
        let path = isManaging ? "/1/apps/com.example.app/channels" : "/3/device/\(tokens[0])"
        var fields: [(String, String)] = [
            (":method", "POST"), (":scheme", "https"), (":path", path), (":authority", "localhost"),
            ("authorization", bearers[0]), ("apns-topic", "com.example.app"),
        ]
        for _ in 0..<(random.next() % 5) { spoil(&fields) }
        var list = HTTP2FieldList()
        for (name, value) in fields { list.append(name, value) }
        open.insert(try client.submit(fields: list, body: body()))
    }

    private mutating func spoil(_ fields: inout [(String, String)]) {
        let (name, values) = pick(table)
        let value = random.next() % 4 == 0 ? noise() : pick(values)
        let index = fields.firstIndex { $0.0 == name }
        switch (random.next() % 10, index) {
        case (0, let index?): fields.remove(at: index)
        // Pseudo fields stand first, once: a second one would be the library's own affair.
        case (1, _) where !name.hasPrefix(":"): fields.append((name, value))
        case (_, let index?): fields[index].1 = value
        case (_, nil) where !name.hasPrefix(":"): fields.append((name, value))
        default: break
        }
    }

    private static func table(tokens: [String], bearers: [String]) -> [(String, [String])] {
        let number = [
            "0", "1", "5", "10", "-1", "7", "010", "+5", "9223372036854775807", "9223372036854775808", "1.5", "",
        ]
        return [
            (":method", ["GET", "POST", "PUT", "post", "DELETE", ""]),
            (
                ":path",
                tokens.map { "/3/device/\($0)" } + [
                    "/3/device/", "/3/device", "/3/devices/00", "/", "*", "/3/device/zz", "/3/device/\(tokens[0])0",
                    "/3/device/\(tokens[0].uppercased())", "/3/device/\(tokens[0])/", "/3/device/../\(tokens[0])",
                    "/3/device/" + String(repeating: "ab", count: 80), "/4/broadcasts/apps/x", "/3/device/%00",
                    "/4/broadcasts/apps/com.example.app", "/1/apps/com.example.app/channels",
                    "/1/apps/com.example.app/all-channels", "/1/apps//channels", "/1/apps/com.example.app/",
                ]
            ),
            (":authority", ["api.push.apple.com", "api.sandbox.push.apple.com", "localhost:2197", "", "[::1]"]),
            (
                "authorization",
                bearers + ["bearer", "bearer ", "Basic eDp5", "bearer a.b.c", "bearer ..", bearers[0] + "x"]
            ),
            (
                "apns-topic",
                ["com.example.app", "com.example.second", "com.example.app.voip", "com.other.app", "", ".voip", "a b"]
                    + PushType.allCases.map { "com.example.app" + $0.topicSuffix.text }
            ),
            ("apns-id", ["a1b2c3d4-0000-4000-8000-00000000000f", "x", "", "a1b2c3d4-0000-4000-8000-00000000000"]),
            ("apns-push-type", PushType.allCases.map(\.text) + ["Alert", "", "unknown"]),
            ("apns-expiration", number + ["1767225700", "300"]), ("apns-priority", number),
            ("apns-collapse-id", ["a", "", String(repeating: "x", count: 64), String(repeating: "ä", count: 33)]),
            ("apns-request-id", ["x", "a1b2c3d4-0000-4000-8000-00000000000f"]),
            ("apns-channel-id", ["dHN0", "", "dHN0LXNyY2gtY2hubA==", "!", String(repeating: "A", count: 88)]),
            ("host", ["api.push.apple.com", ""]),
            ("content-length", ["0", "5", "x"]), ("content-encoding", ["gzip"]), ("user-agent", ["fuzz"]),
            ("te", ["trailers", "gzip"]), ("x-" + String(repeating: "y", count: 100), ["z"]),
        ]
    }

    private mutating func body() -> [UInt8] {
        switch random.next() % 12 {
        case 0: []
        case 1: Array(pick(["{", "null", "[]", "{}", "\"x\"", "{\"aps\":{}}", "{\"aps\":[]}", "\u{FEFF}{}"]).utf8)
        case 5,
            6 where isManaging:
            Array(
                pick([
                    #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#, #"{"push-type":"LiveActivity"}"#,
                    #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#, #"{"message-storage-policy":1.5}"#,
                    #"{"message-storage-policy":1,"push-type":"alert"}"#, #"{"message-storage-policy":"1","x":{}}"#,
                ]).utf8)
        case 2: (0..<Int(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        case 3:
            [UInt8](repeating: UInt8(ascii: "["), count: Int(random.next() % 4000))
        case 4:
            Array("{\"a\":\"".utf8) + [UInt8](repeating: 0x78, count: 4080 + Int(random.next() % 2000))
                + Array("\"}".utf8)
        default: Array(#"{"aps":{"alert":"hi"}}"#.utf8)
        }
    }

    /// Bytes a field may hold, and some it may not.
    private mutating func noise() -> String {
        let count = Int(random.next() % (random.next() % 8 == 0 ? 9000 : 40))
        let isWild = random.next() % 4 == 0
        let bytes = (0..<count).map { _ in
            isWild
                ? UInt8(truncatingIfNeeded: random.next() % 256) : 0x21 + UInt8(truncatingIfNeeded: random.next() % 94)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func pick<Item>(_ items: [Item]) -> Item { items[Int(random.next() % UInt64(items.count))] }
}
