import PushHTTP1
import PushReactor
import Testing

@Suite struct HTTP1ClientTests {
    private func failure(_ body: (@escaping (Result<HTTP1Response, HTTP1Error>) -> Void) -> EventLoop) -> HTTP1Error? {
        var outcome: Result<HTTP1Response, HTTP1Error>?
        let loop = body { outcome = $0 }
        #expect(outcome == nil, "the completion does not come from within send")
        for _ in 0..<10_000 where outcome == nil { loop.turn(wait: .milliseconds(20)) }
        if case .failure(let error) = outcome { return error }
        return nil
    }

    @Test func localhostIsReachedWhicheverAddressComesFirst() throws {
        let world = try World { $0.respond(.json(200, [])) }
        var status: Int?
        HTTP1Client.send(loop: world.loop, host: "localhost", port: world.server.port, method: "GET", target: "/") {
            status = (try? $0.get().status) ?? -1
        }
        world.turn { status != nil }
        #expect(status == 200)
        #expect(world.seen.first?.header("host") == "localhost:\(world.server.port)")
    }

    @Test func aRefusedConnectionSaysWhereAndWhy() throws {
        let loop = try EventLoop()
        let listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) { _ in }
        let port = listener.port
        listener.close()
        let error = failure {
            HTTP1Client.send(loop: loop, host: "127.0.0.1", port: port, method: "GET", target: "/", completion: $0)
            return loop
        }
        #expect(error == .cannotConnect("127.0.0.1:\(port): Connection refused"))
    }

    @Test func anUnknownHostCannotBeConnected() throws {
        let loop = try EventLoop()
        let error = failure {
            HTTP1Client.send(
                loop: loop, host: "no-such-host.invalid", port: 80, method: "GET", target: "/", timeout: .seconds(120),
                completion: $0)
            return loop
        }
        guard case .cannotConnect(let why) = error else {
            Issue.record("the host is unknown: \(String(describing: error))")
            return
        }
        #expect(why.contains("no-such-host.invalid"))
    }

    @Test func aCallThatTakesTooLongTimesOut() throws {
        var held: [HTTP1Exchange] = []
        var closes = 0
        let world = try World { exchange in
            held.append(exchange)
            exchange.onClose = { closes += 1 }
        }
        let error = failure {
            _ = world.send("GET", "/", timeout: .milliseconds(50), completion: $0)
            return world.loop
        }
        #expect(error == .timedOut)
        if held.isEmpty { return }
        world.turn { closes == held.count }
    }

    @Test(arguments: [
        ("BREW", "h", "/", "v"), ("GET", "", "/", "v"), ("GET", "h", "no-slash", "v"), ("GET", "h", "/a b", "v"),
        ("GET", "h", "/a\r\nX: y", "v"), ("GET", "h", "/", "v\r\nX: y"), ("get", "h", "/", "v"),
    ])
    func whatMakesNoRequestIsRefused(method: String, host: String, target: String, value: String) throws {
        let loop = try EventLoop()
        let error = failure {
            HTTP1Client.send(
                loop: loop, host: host, port: 1, method: method, target: target, headers: [("X-H", value)],
                completion: $0)
            return loop
        }
        guard case .badRequest = error else {
            Issue.record("refused: \(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", HTTP1Error.connectionLost),
        ("", .connectionLost), ("what is this\r\n\r\n", .badResponse), ("HTTP/1.1 999 Odd\r\n\r\n", .badResponse),
    ])
    func aBrokenResponseIsAnError(response: String, expected: HTTP1Error) throws {
        let loop = try EventLoop()
        let listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) { fd in
            _ = Socket(loop: loop, accepted: fd, handler: Answerer(response))
        }
        let error = failure {
            HTTP1Client.send(
                loop: loop, host: "127.0.0.1", port: listener.port, method: "GET", target: "/", completion: $0)
            return loop
        }
        #expect(error == expected)
        loop.shutDown()
    }

    @Test func cancelIsHeardOnce() throws {
        let world = try World { _ in }
        var outcomes: [HTTP1Error?] = []
        let call = world.send("GET", "/") { result in
            if case .failure(let error) = result { outcomes.append(error) } else { outcomes.append(nil) }
        }
        world.turn { world.seen.count == 1 }
        call.cancel()
        call.cancel()
        for _ in 0..<5 { world.loop.turn(wait: .milliseconds(1)) }
        call.cancel()
        world.loop.turn(wait: .zero)
        #expect(outcomes == [.cancelled])
    }

    @Test func callsLetGoOfThemselves() throws {
        let world = try World { $0.respond(.json(200, [])) }
        weak var weakCall: HTTP1Client?
        var isDone = false
        do {
            weakCall = world.send("GET", "/") { _ in isDone = true }
        }
        #expect(weakCall != nil)
        world.turn { isDone }
        #expect(weakCall == nil)
    }
}
