import PushBytes
import Testing

@testable import PushHTTP2

@Suite struct RequestResponseTests {
    @Test func requestWithBodyGetsAnswerWithBody() throws {
        let pair = try Pair()
        pair.serve = { server, request, _ in
            server.respond(to: request.streamID, fields: .status(400, ("apns-id", "x")), body: Array("no".utf8))
        }
        try pair.send(body: Array("{}".utf8))
        try pair.settle()
        #expect(
            pair.requests == [
                [":method: POST", ":scheme: https", ":authority: localhost:2197", ":path: /3/device/00"]
            ])
        #expect(pair.requestBodies == [Array("{}".utf8)])
        #expect(
            pair.answers == [
                Pair.Answer(stream: 1, status: "400", fields: [":status: 400", "apns-id: x"], body: Array("no".utf8))
            ])
        #expect(pair.server.openStreams == 0)
        #expect(pair.client.openStreams == 0)
        #expect(pair.closed.isEmpty)
    }

    @Test func requestWithoutBodyGetsAnswerWithoutBody() throws {
        let pair = try Pair()
        try pair.send()
        try pair.settle()
        #expect(pair.answers == [Pair.Answer(stream: 1, status: "200", fields: [":status: 200"], body: [])])
    }

    @Test func bytesSplitAtEveryByteMeanTheSame() throws {
        let pair = try Pair()
        pair.piece = 1
        pair.serve = { server, request, _ in
            server.respond(to: request.streamID, fields: .status(200), body: Array(request.body.reversed()))
        }
        for index in 0..<20 {
            try pair.send(body: (0..<UInt8(index)).map { $0 })
            try pair.settle()
        }
        #expect(pair.answers.map(\.body) == (0..<20).map { (0..<UInt8($0)).reversed() })
    }

    @Test func tenThousandRequestsOnAHundredStreams() throws {
        let pair = try Pair()
        pair.serve = { server, request, _ in
            server.respond(to: request.streamID, fields: .status(200), body: request.body)
        }
        for round in 0..<100 {
            for index in 0..<100 { try pair.send(body: Array("\(round * 100 + index)".utf8)) }
            try pair.settle()
        }
        #expect(pair.answers.count == 10_000)
        #expect(Set(pair.answers.map(\.body)).count == 10_000)
        #expect(pair.server.openStreams == 0)
    }

    @Test func repeatedFieldsAreKeptInOrder() throws {
        let pair = try Pair()
        try pair.send(.push(("apns-id", "a"), ("x", "1"), ("apns-id", "b")))
        try pair.settle()
        #expect(pair.requests[0].suffix(3) == ["apns-id: a", "x: 1", "apns-id: b"])
    }

    @Test func hostStandsInForAuthority() throws {
        let pair = try Pair()
        var fields = HTTP2FieldList()
        fields.append(":method", "GET")
        fields.append(":scheme", "https")
        fields.append(":path", "/")
        fields.append("host", "localhost")
        try pair.send(fields)
        try pair.settle()
        #expect(pair.answers.map(\.status) == ["200"])
    }

    @Test func bodyLongerThanTheLimitIsCountedAndNotKept() throws {
        var limits = HTTP2ServerEngine.Limits()
        limits.bodyBytesMax = 1000
        let pair = try Pair(limits: limits)
        var seen: [(tooLarge: Bool, kept: Int, seen: Int)] = []
        pair.serve = { server, request, bodyTooLarge in
            seen.append((bodyTooLarge, request.body.count, request.bodyBytesSeen))
            server.respond(to: request.streamID, fields: .status(413))
        }
        try pair.send(body: [UInt8](repeating: 7, count: 1000))
        try pair.send(body: [UInt8](repeating: 7, count: 1001))
        try pair.send(body: [UInt8](repeating: 7, count: 500_000))
        try pair.settle()
        #expect(pair.answers.count == 3)
        let bySize = seen.sorted { $0.seen < $1.seen }
        #expect(bySize.map(\.seen) == [1000, 1001, 500_000])
        #expect(bySize.map(\.tooLarge) == [false, true, true])
        #expect(bySize.allSatisfy { $0.kept == 1000 })
    }
}
