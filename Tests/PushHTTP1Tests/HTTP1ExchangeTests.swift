import PushHTTP1
import PushReactor
import Testing

@Suite struct HTTP1ExchangeTests {
    @Test func aLongPollIsAnsweredByATimer() throws {
        var timer: Timer?
        var loop: EventLoop!
        let world = try World { exchange in
            exchange.onClose = { Issue.record("the peer stayed") }
            timer = Timer(loop: loop) { exchange.respond(.json(200, Array("\"late\"".utf8))) }
            timer?.schedule(after: .milliseconds(50))
        }
        loop = world.loop
        #expect(text(try world.call("GET", "/wait").body) == "\"late\"")
        timer = nil
    }

    @Test func answersAtTheEndOfTheTurnWork() throws {
        var pending: [HTTP1Exchange] = []
        let world = try World { pending.append($0) }
        world.loop.beforeSleep(.flush) {
            for exchange in pending { exchange.respond(.json(200, [])) }
            pending = []
        }
        #expect(try world.call("POST", "/").status == 200)
        // A peer that ends its side right after the request still gets an answer of the same turn.
        let raw = RawClient(port: world.server.port)
        raw.write("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        raw.halfClose()
        var bytes: [UInt8] = []
        world.turn { raw.collect(into: &bytes) }
        #expect(text(bytes).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func aPeerGoneDuringALongPollIsHeardOnceAndALateAnswerDoesNothing() throws {
        var exchanges: [HTTP1Exchange] = []
        var closes = 0
        let world = try World { exchange in
            exchanges.append(exchange)
            exchange.onClose = { closes += 1 }
        }
        let raw = RawClient(port: world.server.port)
        raw.write("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        world.turn { exchanges.count == 1 }
        #expect(exchanges[0].isOpen && closes == 0)
        raw.end()
        world.turn { closes == 1 }
        #expect(!exchanges[0].isOpen)
        exchanges[0].respond(.json(200, []))
        for _ in 0..<10 { world.loop.turn(wait: .milliseconds(1)) }
        #expect(closes == 1)
    }

    @Test func aStreamOfAThousandEventsArrivesInOrder() throws {
        let world = try World { exchange in
            exchange.beginStream(status: 200, headers: [("Content-Type", "text/event-stream")])
            for number in 0..<1000 { exchange.send(Array("id: \(number)\n\n".utf8)) }
            exchange.endStream()
        }
        let expected = (0..<1000).map { "id: \($0)\n\n" }.joined()
        let whole = try world.call("GET", "/events")
        #expect(text(whole.body) == expected && whole.header("content-type") == "text/event-stream")
        var pieces: [[UInt8]] = []
        var status = 0
        _ = world.send("GET", "/events", onChunk: { pieces.append($0) }) { status = (try? $0.get().status) ?? -1 }
        world.turn { status != 0 }
        #expect(status == 200 && text(pieces.flatMap(\.self)) == expected)
    }

    @Test func eventsOfAnOpenStreamArriveAsTheyAreSent() throws {
        var stream: HTTP1Exchange?
        var closes = 0
        let world = try World { exchange in
            exchange.beginStream(status: 200, headers: [])
            exchange.onClose = { closes += 1 }
            stream = exchange
        }
        var pieces: [String] = []
        var outcome: Result<HTTP1Response, HTTP1Error>?
        let call = world.send("GET", "/", timeout: nil, onChunk: { pieces.append(text($0)) }) { outcome = $0 }
        world.turn { stream != nil }
        for number in 1...5 {
            stream?.send(Array("event \(number)".utf8))
            world.turn { pieces.count == number }
        }
        #expect(pieces == (1...5).map { "event \($0)" } && outcome == nil)
        call.cancel()
        world.turn { closes == 1 && outcome != nil }
        guard case .failure(.cancelled) = outcome else {
            Issue.record("the call was cancelled, not \(String(describing: outcome))")
            return
        }
        stream?.send([1])
        stream?.endStream()
    }

    @Test func aStreamReaderTooFarBehindIsDropped() throws {
        var stream: HTTP1Exchange?
        var closes = 0
        let world = try World { exchange in
            exchange.beginStream(status: 200, headers: [])
            exchange.onClose = { closes += 1 }
            stream = exchange
        }
        let raw = RawClient(port: world.server.port)
        raw.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        world.turn { stream != nil }
        let piece = [UInt8](repeating: 65, count: 1 << 20)
        var sent = 0
        while closes == 0 && sent < 200 {
            stream?.send(piece)
            sent += 1
            world.loop.turn(wait: .zero)
        }
        #expect(closes == 1 && sent > HTTP1Exchange.streamBytesMax >> 20)
        #expect(stream?.isOpen == false)
        raw.end()
    }

    @Test func http10StreamsEndWithTheConnection() throws {
        let world = try World { exchange in
            exchange.beginStream(status: 200, headers: [])
            exchange.send(Array("one ".utf8))
            exchange.send(Array("two".utf8))
            exchange.endStream()
        }
        for extra in ["", "Connection: keep-alive\r\n"] {
            let raw = RawClient(port: world.server.port)
            let answer = world.exchange(raw, "GET / HTTP/1.0\r\n\(extra)\r\n")
            #expect(answer.hasSuffix("\r\n\r\none two") && !answer.lowercased().contains("content-length"))
        }
    }

    @Test func fiftyLongPollsAtOnceAreAllAnswered() throws {
        var pending: [HTTP1Exchange] = []
        let world = try World { pending.append($0) }
        var answers: [String] = []
        for number in 0..<50 {
            _ = world.send("GET", "/\(number)") { answers.append(text((try? $0.get().body) ?? [])) }
        }
        world.turn { pending.count == 50 }
        #expect(answers.isEmpty)
        for exchange in pending.reversed() {
            exchange.respond(.json(200, Array(exchange.request.path.utf8)))
        }
        world.turn { answers.count == 50 }
        #expect(Set(answers) == Set((0..<50).map { "/\($0)" }))
    }

    @Test func closingTheServerEndsOpenExchangesAndTellsThem() throws {
        var pending: [HTTP1Exchange] = []
        var closes = 0
        let world = try World { exchange in
            pending.append(exchange)
            exchange.onClose = { closes += 1 }
        }
        var failures: [HTTP1Error] = []
        for _ in 0..<3 {
            _ = world.send("GET", "/") { if case .failure(let error) = $0 { failures.append(error) } }
        }
        world.turn { pending.count == 3 }
        world.server.close()
        #expect(closes == 0, "nothing is called from within close")
        world.turn { closes == 3 && failures.count == 3 }
        #expect(failures.allSatisfy { $0 == .connectionLost })
        world.server.close()
        for exchange in pending { exchange.respond(.json(200, [])) }
        var refused: HTTP1Error?
        _ = world.send("GET", "/") { if case .failure(let error) = $0 { refused = error } }
        world.turn { refused != nil }
        guard case .cannotConnect = refused else {
            Issue.record("nobody listens any more: \(String(describing: refused))")
            return
        }
    }

    @Test func aHandlerMayCloseTheServer() throws {
        var world: World!
        world = try World { exchange in
            world.server.close()
            #expect(!exchange.isOpen)
            exchange.respond(.json(200, []))
        }
        var outcomes = 0
        _ = world.send("GET", "/") { _ in outcomes += 1 }
        world.turn { outcomes == 1 }
        world = nil
    }

    @Test func aServerLetGoWithOpenExchangesHarmsNobody() throws {
        let loop = try EventLoop()
        var exchange: HTTP1Exchange?
        var server: HTTP1Server? = try HTTP1Server(loop: loop, host: "127.0.0.1", port: 0) { exchange = $0 }
        let raw = RawClient(port: server!.port)
        raw.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        while exchange == nil { loop.turn(wait: .milliseconds(20)) }
        weak let weakServer = server
        server = nil
        #expect(weakServer == nil && exchange?.isOpen == false)
        exchange?.respond(.json(200, []))
        loop.turn(wait: .zero)
    }

    @Test func abortDropsTheConnectionWithoutAnAnswer() throws {
        var closes = 0
        let world = try World { exchange in
            exchange.onClose = { closes += 1 }
            exchange.abort()
            exchange.abort()
        }
        var failure: HTTP1Error?
        _ = world.send("GET", "/") { if case .failure(let error) = $0 { failure = error } }
        world.turn { failure != nil && closes == 1 }
        #expect(failure == .connectionLost)
    }
}
