import PushBytes
import Testing

@testable import PushHTTP2

/// How streams and connections end, on either side's wish.
@Suite struct EndingTests {
    @Test func clientSeesTheDataOfGoAway() throws {
        let pair = try Pair()
        let data = Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8)
        pair.serve = { server, _, _ in server.goAway(code: 0, data: data, lastStream: 0) }
        let stream = try pair.send()
        try pair.settle()
        #expect(pair.goAways.count == 1)
        #expect(pair.goAways[0].data == data)
        #expect(pair.goAways[0].lastStream == 0)
        #expect(pair.closed == [stream: HTTP2ErrorCode.refusedStream])
        #expect(!pair.client.canSubmit)
        #expect(pair.server.wantsClose)
        #expect(pair.client.wantsClose)
    }

    @Test func openStreamsFinishAfterGoAway() throws {
        let pair = try Pair()
        var waiting: [Int32] = []
        pair.serve = { _, request, _ in waiting.append(request.streamID) }
        try pair.send()
        try pair.settle()
        pair.server.goAway(code: 0, data: Array(#"{"reason":"Shutdown"}"#.utf8))
        try pair.settle()
        #expect(pair.goAways.map(\.lastStream) == [1])
        #expect(!pair.server.wantsClose)
        pair.server.respond(to: waiting[0], fields: .status(200))
        try pair.settle()
        #expect(pair.answers.map(\.status) == ["200"])
        #expect(pair.server.wantsClose)
    }

    @Test func requestAfterGoAwayEndsUnseen() throws {
        let pair = try Pair()
        pair.server.goAway(code: 0, data: [])
        try pair.settle()
        let stream = try pair.send()
        try pair.settle()
        #expect(pair.closed == [stream: HTTP2ErrorCode.refusedStream])
        #expect(pair.client.openStreams == 0)
        #expect(pair.requests.isEmpty)
    }

    @Test func respondingToAStreamTheClientTookBackDoesNothing() throws {
        let pair = try Pair()
        var waiting: [Int32] = []
        pair.serve = { _, request, _ in waiting.append(request.streamID) }
        let stream = try pair.send()
        try pair.settle()
        pair.client.cancel(stream: stream)
        try pair.settle()
        #expect(pair.streamsReset == [stream])
        pair.server.respond(to: stream, fields: .status(200), body: [1])
        try pair.settle()
        #expect(pair.answers.isEmpty)
        #expect(pair.closed.isEmpty)
        #expect(pair.server.openStreams == 0)
        #expect(pair.client.openStreams == 0)
    }

    @Test func requestCancelledBeforeItWentOutIsNeverSent() throws {
        let pair = try Pair()
        try pair.settle()
        let stream = try pair.send()
        pair.client.cancel(stream: stream)
        try pair.settle()
        #expect(pair.requests.isEmpty)
        #expect(pair.closed.isEmpty)
        #expect(pair.client.openStreams == 0)
    }

    @Test func clientSeesTheCodeOfAResetStream() throws {
        let pair = try Pair()
        pair.serve = { server, request, _ in
            server.reset(stream: request.streamID, code: HTTP2ErrorCode.enhanceYourCalm)
            server.respond(to: request.streamID, fields: .status(200))
        }
        let stream = try pair.send(body: [1])
        try pair.settle()
        #expect(pair.closed == [stream: HTTP2ErrorCode.enhanceYourCalm])
        #expect(pair.answers.isEmpty)
        #expect(pair.streamsReset.isEmpty)
        #expect(pair.server.openStreams == 0)
    }

    @Test func changedStreamLimitReachesTheClient() throws {
        var limits = HTTP2ServerEngine.Limits()
        limits.concurrentStreamsMax = 1
        let pair = try Pair(limits: limits)
        #expect(pair.client.concurrentStreamsMax == 100)
        try pair.settle()
        #expect(pair.client.concurrentStreamsMax == 1)
        pair.server.setConcurrentStreams(1000)
        try pair.settle()
        #expect(pair.streamsMaxHeard == [1, 1000])
        #expect(pair.client.concurrentStreamsMax == 1000)
    }

    @Test func requestsAboveTheLimitWaitForTheirTurn() throws {
        var limits = HTTP2ServerEngine.Limits()
        limits.concurrentStreamsMax = 1
        let pair = try Pair(limits: limits)
        try pair.settle()
        #expect(pair.client.canSubmit)
        for _ in 0..<5 { try pair.send() }
        #expect(!pair.client.canSubmit)
        try pair.settle()
        #expect(pair.answers.count == 5)
    }

    @Test func streamsAboveTheLimitAreRefusedBeforeTheClientKnowsIt() throws {
        var limits = HTTP2ServerEngine.Limits()
        limits.concurrentStreamsMax = 1
        let pair = try Pair(limits: limits)
        pair.serve = { server, request, _ in }
        for _ in 0..<3 { try pair.send() }
        try pair.settle()
        #expect(pair.requests.count == 1)
        #expect(pair.closed == [3: HTTP2ErrorCode.refusedStream, 5: HTTP2ErrorCode.refusedStream])
    }

    @Test func pingsAreAcknowledgedBothWays() throws {
        let pair = try Pair()
        pair.client.ping()
        pair.server.ping()
        try pair.settle()
        #expect(pair.clientPings == 1)
        #expect(pair.serverPings == 1)
    }

    @Test func clientShutdownEndsBothSides() throws {
        let pair = try Pair()
        try pair.send()
        pair.client.shutdown()
        try pair.settle()
        #expect(pair.answers.count == 1)
        #expect(pair.client.wantsClose)
        #expect(pair.server.wantsClose)
    }

    @Test func enginesGoAwayWithStreamsOpen() throws {
        for _ in 0..<10 {
            let pair = try Pair()
            pair.serve = { _, _, _ in }
            try pair.send(body: [UInt8](repeating: 0, count: 200_000))
            try pair.carryToServer()
            #expect(pair.server.openStreams == 1)
        }
    }
}
