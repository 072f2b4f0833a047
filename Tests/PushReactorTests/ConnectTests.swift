import Glibc
import PushBytes
import PushReactor
import Testing

@Suite struct ConnectTests {
    @Test func localhostIsResolvedAndReached() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let client = Recorder()
        client.onConnect = { $0.close() }
        _ = try Socket.connect(loop: loop, host: "localhost", port: server.port, handler: client)
        #expect(client.connects == 0, "nothing is called back from within connect")
        turn(loop) { client.closes == [.local] }
        #expect(client.connects == 1)
    }

    @Test func unknownHostIsAnErrorNamingIt() throws {
        let loop = try EventLoop()
        let client = Recorder()
        _ = try Socket.connect(loop: loop, host: "no-such-host.invalid", port: 443, handler: client)
        turn(loop) { client.closes.count == 1 }
        guard case .failed(let error) = client.closes[0] else {
            Issue.record("the reason is a failure, not \(client.closes)")
            return
        }
        #expect(error.operation == "resolve no-such-host.invalid" && error.code < 0 && !error.text.isEmpty)
    }

    @Test(arguments: ["127.0.0.1", "localhost"]) func refusedConnectionIsReported(host: String) throws {
        let loop = try EventLoop()
        let listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) { close($0) }
        let port = listener.port
        listener.close()
        let client = Recorder()
        _ = try Socket.connect(loop: loop, host: host, port: port, handler: client)
        #expect(client.closes.isEmpty)
        turn(loop) { client.closes.count == 1 }
        #expect(
            client.closes == [.failed(ReactorError(operation: "connect to \(host):\(port)", errno: ECONNREFUSED))])
        #expect(client.connects == 0 && loop.openSockets == 0)
    }

    @Test(arguments: [CloseKind.fin, .reset], ["127.0.0.1", "localhost"])
    func closeWhileConnectingIsHeardOnceAsLocal(kind: CloseKind, host: String) throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let client = Recorder()
        let socket = try Socket.connect(loop: loop, host: host, port: server.port, handler: client)
        socket.output.append("never sent")
        socket.close(kind)
        turn(loop) { client.closes == [.local] }
        for _ in 0..<20 { loop.turn(wait: .milliseconds(1)) }
        #expect(client.closes == [.local] && client.connects == 0 && loop.openSockets == 0)
    }

    @Test func outputAppendedWhileConnectingIsSentOnceConnected() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let client = Recorder()
        let socket = try Socket.connect(loop: loop, host: "127.0.0.1", port: server.port, handler: client)
        socket.output.append("early")
        socket.wantsFlush()
        turn(loop) { server.handlers.first?.bytes == Array("early".utf8) }
    }

    @Test(arguments: ["", "a\0b"]) func anUnusableHostThrows(host: String) throws {
        let loop = try EventLoop()
        #expect(throws: ReactorError.self) {
            _ = try Socket.connect(loop: loop, host: host, port: 1, handler: Recorder())
        }
        #expect(loop.openSockets == 0)
    }

    @Test func manyLookupsAtOnceAllAnswer() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let clients = (0..<50).map { _ in Recorder() }
        for client in clients {
            _ = try Socket.connect(loop: loop, host: "localhost", port: server.port, handler: client)
        }
        turn(loop) { clients.allSatisfy { $0.connects == 1 } }
        #expect(clients.allSatisfy { $0.closes.isEmpty })
        loop.shutDown()
    }
}
