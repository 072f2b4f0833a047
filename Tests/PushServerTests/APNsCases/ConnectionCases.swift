import Foundation
import PushServer
import Testing

/// Cases about the connection itself: streams, silence, and clients that speak something else.
@Suite(.serialized) struct ConnectionCases {
    private static let violation = "Maximum active streams violated for this endpoint."

    @Test(
        "the first SETTINGS are Apple's",
        arguments: [
            (LocalPushConfiguration.Profile.lenient, 1000), (.faithful, 1), (.ideal, 1000),
        ] as [(LocalPushConfiguration.Profile, UInt32)])
    func firstSettings(profile: LocalPushConfiguration.Profile, streams: UInt32) async throws {
        try await CaseBench.run(profile) { bench in
            let client = try bench.client()
            try client.wait("SETTINGS") { !$0.streamLimits.isEmpty }
            #expect(client.frames[0].settings == [[1, 4096], [3, streams], [4, 65535], [5, 16384], [6, 8000]])
        }
    }

    @Test("case 34: as faithful, a second stream before the first answer is refused, and the limit rises after it")
    func secondStreamAtOnce() async throws {
        try await CaseBench.run(.faithful) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            // Both leave before the client has seen a SETTINGS frame.
            let first = try client.submit(bench.push(to: phone.token), body: CaseBench.body)
            let second = try client.submit(bench.push(to: phone.token), body: CaseBench.body)
            try client.flush()
            let answer = try client.answer(to: first)
            #expect(answer.status == 200)
            try client.wait("the refusal") { $0.resets[second] != nil }
            #expect(client.resets[second] == 7)
            try client.wait("the new limit") { $0.streamLimits == [1, 1000] }
            // The provider sends it again.
            #expect(try client.request(bench.push(to: phone.token), body: CaseBench.body).status == 200)
        }
    }

    @Test("case 34: as lenient, any number of streams is served at once")
    func manyStreamsAtOnce() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let streams = try (0..<100).map { _ in
                try client.submit(bench.push(to: phone.token), body: CaseBench.body)
            }
            try client.flush()
            for stream in streams { #expect(try client.answer(to: stream).status == 200) }
            #expect(client.resets.isEmpty && client.streamLimits == [1000])
        }
    }

    @Test("a rejected push lowers the limit to one stream, and the next accepted one raises it")
    func rejectionLowersTheLimit() async throws {
        try await CaseBench.run(.faithful) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            func push(_ changes: [String: String?] = [:]) throws -> Int {
                try client.request(bench.push(to: phone.token, changes), body: CaseBench.body).status
            }
            #expect(try push() == 200)
            try client.wait("1000") { $0.streamLimits == [1, 1000] }
            #expect(try push(["apns-priority": "7"]) == 400)
            try client.wait("1") { $0.streamLimits == [1, 1000, 1] }
            #expect(try push(["apns-priority": "7"]) == 400)
            #expect(try push() == 200)
            try client.wait("1000 again") { $0.streamLimits == [1, 1000, 1, 1000] }
        }
    }

    @Test("a 410 lowers nothing")
    func goneLowersNothing() async throws {
        try await CaseBench.run(.faithful, settings: ["delivery.unregisteredGraceSends": "0"]) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            #expect(try client.request(bench.push(to: phone.token), body: CaseBench.body).status == 200)
            try bench.change(phone, #"{"registered":false}"#)
            #expect(try client.request(bench.push(to: phone.token), body: CaseBench.body).status == 410)
            try client.listen(milliseconds: 100)
            #expect(client.streamLimits == [1, 1000])
        }
    }

    @Test("without dropsAfterRejection a refused push with a good token opens the connection")
    func refusalWithGoodToken() async throws {
        let settings = ["connection.streamsBeforeToken": "1", "connection.streams": "50"]
        try await CaseBench.run(settings: settings) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let unknown = try bench.push(to: phone.token, ["authorization": "bearer nonsense"])
            #expect(try client.request(unknown, body: CaseBench.body).status == 403)
            try client.listen(milliseconds: 100)
            #expect(client.streamLimits == [1])
            let bad = try bench.push(to: phone.token, ["apns-priority": "7"])
            #expect(try client.request(bad, body: CaseBench.body).status == 400)
            try client.wait("50") { $0.streamLimits == [1, 50] }
        }
    }

    @Test("streams above an acknowledged limit end the connection in plain words, after what came before is answered")
    func violation() async throws {
        try await CaseBench.run(.faithful) { bench in
            let phone = try bench.device()
            let wire = try RawStreams(bench.client().wire)
            let fields = try bench.push(to: phone.token)
            try wire.settle(acknowledging: true)
            // A whole request, then two streams that stay open: the second of these is one too many.
            try wire.headers(1, fields, endsStream: false)
            try wire.data(1, CaseBench.body)
            try wire.headers(3, fields, endsStream: false)
            try wire.headers(5, fields, endsStream: false)
            let frames = try wire.untilEnd()
            let goAway = try #require(frames.first { $0.type == 7 })
            #expect(Array(goAway.payload[4..<8]) == [0, 0, 0, 7])
            #expect(String(decoding: goAway.payload[8...], as: UTF8.self) == Self.violation)
            #expect(frames.count { $0.type == 7 } == 1)
        }
    }

    @Test("streams above a limit that was lowered and is not acknowledged are refused one by one")
    func refusedInFlight() async throws {
        try await CaseBench.run(.faithful, settings: ["connection.streamsBeforeToken": "10"]) { bench in
            let phone = try bench.device()
            let wire = try RawStreams(bench.client().wire)
            let bad = try bench.push(to: phone.token, ["apns-priority": "7"])
            try wire.settle(acknowledging: true)
            try wire.headers(1, bad, endsStream: true)
            _ = try wire.frames { $0.contains { $0.settings == [[3, 1]] } }
            try wire.headers(3, bad, endsStream: false)
            try wire.headers(5, bad, endsStream: false)
            let frames = try wire.frames { $0.contains { $0.type == 3 } }
            let reset = try #require(frames.first { $0.type == 3 })
            #expect(reset.stream == 5 && reset.payload == [0, 0, 0, 7])
        }
    }

    @Test("silence ends a connection with IdleTimeout", arguments: [true, false])
    func idle(isSet: Bool) async throws {
        try await CaseBench.run(settings: isSet ? ["connection.idleTimeout": "300ms"] : [:]) { bench in
            let client = try bench.client()
            try client.listen(milliseconds: 100)
            guard isSet else {
                try client.listen(milliseconds: 2000)
                #expect(client.goAways.isEmpty && !client.isAtEnd)
                return
            }
            try client.wait("the goodbye") { !$0.goAways.isEmpty }
            #expect(client.goAways[0].code == 0 && client.goAways[0].text == #"{"reason":"IdleTimeout"}"#)
            try client.listen(milliseconds: 3000)
            #expect(client.isAtEnd)
        }
    }

    @Test("a PING is answered and counts as life")
    func ping() async throws {
        try await CaseBench.run(settings: ["connection.idleTimeout": "1s"]) { bench in
            let client = try bench.client()
            for count in 1...8 {
                try client.ping()
                try client.wait("a PING") { $0.pingsAcknowledged == count }
                try client.listen(milliseconds: 300)
            }
            #expect(client.goAways.isEmpty)
        }
    }

    @Test("case 40: HTTP/2 without ALPN works")
    func withoutALPN() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client(protocols: [])
            #expect(client.wire.applicationProtocol == nil)
            #expect(try client.request(bench.push(to: phone.token), body: CaseBench.body).status == 200)
        }
    }

    @Test("HTTP/1.1 inside TLS gets a readable refusal", arguments: [[], ["http/1.1"]])
    func http1(protocols: [String]) async throws {
        try await CaseBench.run { bench in
            let port = UInt16(bench.server.ready.apns.split(separator: ":").last ?? "") ?? 0
            let wire = try CaseWire(port: port, authority: bench.authority, protocols: protocols)
            try wire.send(Array("POST /3/device/00 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".utf8))
            let text = String(decoding: try wire.receiveAll(), as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 505 HTTP Version Not Supported\r\n"))
            #expect(text.hasSuffix("use a client that offers h2.\n"))
        }
    }

    @Test("while the server stops, new streams are answered 503 Shutdown")
    func shutdown() async throws {
        try await CaseBench.run(settings: ["connection.shutdownGrace": "1s"]) { bench in
            let phone = try bench.device()
            let wire = try RawStreams(bench.client().wire)
            try wire.settle(acknowledging: true)
            let server = bench.server
            let stopping = Task { await server.stop() }
            try await Task.sleep(for: .milliseconds(20))
            var frames = try wire.frames { $0.contains { $0.type == 7 } }
            // A client that has not seen the GOAWAY yet.
            try wire.headers(1, bench.push(to: phone.token), endsStream: false)
            try wire.data(1, CaseBench.body)
            frames += try wire.untilEnd()
            await stopping.value
            let goAways = frames.filter { $0.type == 7 }
            #expect(Array(goAways[0].payload.prefix(4)) == [0x7F, 0xFF, 0xFF, 0xFF])
            #expect(goAways.last.map { String(decoding: $0.payload[8...], as: UTF8.self) } == #"{"reason":"Shutdown"}"#)
            let body = try #require(frames.first { $0.type == 0 && $0.stream == 1 })
            #expect(String(decoding: body.payload, as: UTF8.self) == #"{"reason":"Shutdown"}"#)
        }
    }

    @Test("more pushes to one token than allowed are refused", arguments: [true, false])
    func tooManyRequests(isSet: Bool) async throws {
        let settings = ["delivery.requestsPerToken": "3", "delivery.requestsInterval": "1s"]
        try await CaseBench.run(settings: isSet ? settings : [:]) { bench in
            let (phone, other) = (try bench.device(), try bench.device())
            let client = try bench.client()
            func statuses(_ token: String, _ count: Int) throws -> [Int] {
                try (0..<count).map { _ in
                    let answer = try client.request(bench.push(to: token), body: CaseBench.body)
                    #expect(answer.reason == (answer.status == 429 ? "TooManyRequests" : nil))
                    return answer.status
                }
            }
            #expect(try statuses(phone.token, 5) == [200, 200, 200] + (isSet ? [429, 429] : [200, 200]))
            #expect(try statuses(other.token, 1) == [200])
            try client.listen(milliseconds: isSet ? 1100 : 0)
            #expect(try statuses(phone.token, 1) == [200])
        }
    }
}
