import PushBytes
import Testing

@testable import PushHTTP2

@Suite struct LimitTests {
    @Test func headerListLongerThanTheLimitResetsItsStreamOnly() throws {
        let pair = try Pair()
        let long = try pair.send(.push(("a", String(repeating: "x", count: 8000))))
        let short = try pair.send(.push(("a", String(repeating: "x", count: 7000))))
        try pair.settle()
        #expect(pair.closed == [long: HTTP2ErrorCode.enhanceYourCalm])
        #expect(pair.answers.map(\.stream) == [short])
        #expect(pair.server.openStreams == 0)
    }

    @Test func headerListIsCountedWithThirtyTwoBytesAField() throws {
        // Method, scheme, authority and path come to 64 bytes and four times 32.
        let rest = 8000 - (64 + 4 * 32) - 1 - 32
        let pair = try Pair()
        try pair.send(.push(("a", String(repeating: "x", count: rest))))
        let long = try pair.send(.push(("a", String(repeating: "x", count: rest + 1))))
        try pair.settle()
        #expect(pair.answers.count == 1)
        #expect(Array(pair.closed.keys) == [long])
    }

    @Test func peerThatPingsAndNeverReadsLosesTheConnection() throws {
        let server = try HTTP2ServerEngine.started()
        #expect(throws: HTTP2Error.self) {
            for _ in 0..<2000 { try server.receive(Frame(type: Frame.ping, payload: [UInt8](repeating: 1, count: 8))) }
        }
    }

    @Test func peerThatChangesSettingsAndNeverReadsLosesTheConnection() throws {
        let server = try HTTP2ServerEngine.started()
        #expect(throws: HTTP2Error.self) {
            for _ in 0..<2000 { try server.receive(Frame(type: Frame.settings)) }
        }
    }

    @Test func peerThatOpensRefusedStreamsAndNeverReadsLosesTheConnection() throws {
        var limits = HTTP2ServerEngine.Limits()
        limits.concurrentStreamsMax = 1
        let server = try HTTP2ServerEngine.started(limits)
        let error = #expect(throws: HTTP2Error.self) {
            for index in 0..<5000 {
                try server.receive(
                    Frame(
                        type: Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: UInt32(2 * index + 1),
                        payload: Frame.request))
            }
        }
        #expect(error?.code == HTTP2Error.peerDoesNotRead)
    }

    @Test func drainStopsAtItsLimitAndGoesOnLater() throws {
        var limits = HTTP2ServerEngine.Limits()
        limits.outputBytesMax = 1000
        let server = try HTTP2ServerEngine.started(limits)
        for index in 0..<10 {
            let stream = Int32(2 * index + 1)
            try server.receive(
                Frame(
                    type: Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: UInt32(stream),
                    payload: Frame.request))
            server.respond(to: stream, fields: .status(400), body: [UInt8](repeating: 0, count: 500))
        }
        var output = ByteQueue()
        try server.drain(into: &output)
        #expect(output.count >= 1000 && output.count < 1600)
        var total = 0
        while !output.isEmpty {
            total += Frame.all(in: output.bytes).filter { $0.type == Frame.data }.reduce(0) { $0 + $1.payload.count }
            output.removeAll()
            try server.drain(into: &output)
        }
        #expect(total == 5000)
        #expect(server.openStreams == 0)
    }

    @Test func answerLongerThanTheWindowArrivesUpToTheClientsLimit() throws {
        let pair = try Pair()
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        pair.serve = { server, request, _ in server.respond(to: request.streamID, fields: .status(200), body: body) }
        try pair.send()
        try pair.settle()
        let isCut = pair.answers.first?.body == Array(body.prefix(64 * 1024))
        #expect(isCut)
        #expect(pair.server.openStreams == 0)
    }

    @Test func warmEngineReusesItsMessages() throws {
        let pool = HTTP2Pool()
        let server = try HTTP2ServerEngine(pool: pool)
        try server.receive(Frame.preface)
        try server.receive(Frame(type: Frame.settings))
        var seen = Set<ObjectIdentifier>()
        for index in 0..<1000 {
            let stream = Int32(2 * index + 1)
            try server.receive(
                Frame(
                    type: Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: UInt32(stream),
                    payload: Frame.request))
            guard case .request(let request, _) = server.nextEvent() else { break }
            seen.insert(ObjectIdentifier(request))
            server.respond(to: stream, fields: .status(200))
            server.recycle(request)
            _ = try server.frames()
        }
        #expect(seen.count == 1)
        #expect(pool.idleMessages == 1)
    }

    @Test func poolKeepsNoMoreThanItsLimit() throws {
        let pool = HTTP2Pool(countMax: 2)
        let server = try HTTP2ServerEngine(pool: pool)
        try server.receive(Frame.preface)
        try server.receive(Frame(type: Frame.settings))
        for index in 0..<5 {
            try server.receive(
                Frame(
                    type: Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: UInt32(2 * index + 1),
                    payload: Frame.request))
        }
        while case .request(let request, _) = server.nextEvent() { server.recycle(request) }
        #expect(pool.idleMessages == 2)
    }
}
