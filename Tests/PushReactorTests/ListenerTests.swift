import Glibc
import PushReactor
import Testing

@Suite struct ListenerTests {
    @Test func aTakenPortIsAnErrorNamingHostPortAndReason() throws {
        let loop = try EventLoop()
        let first = try Listener(loop: loop, host: "127.0.0.1", port: 0) { close($0) }
        let error = #expect(throws: ReactorError.self) {
            _ = try Listener(loop: loop, host: "127.0.0.1", port: first.port) { close($0) }
        }
        #expect(error?.code == EADDRINUSE)
        #expect(error?.description == "listen on 127.0.0.1:\(first.port): Address already in use")
    }

    @Test func anAddressThatIsNotOursIsAnError() throws {
        let loop = try EventLoop()
        let error = #expect(throws: ReactorError.self) {
            _ = try Listener(loop: loop, host: "192.0.2.1", port: 0) { close($0) }
        }
        #expect(error?.code == EADDRNOTAVAIL && error?.operation == "listen on 192.0.2.1:0")
    }

    @Test func anUnknownHostIsAnErrorNamingIt() throws {
        let loop = try EventLoop()
        let error = #expect(throws: ReactorError.self) {
            _ = try Listener(loop: loop, host: "no-such-host.invalid", port: 5) { close($0) }
        }
        #expect(error?.operation == "listen on no-such-host.invalid:5")
    }

    @Test(arguments: ["::1", "[::1]"]) func ipv6LiteralsListenAndConnect(host: String) throws {
        let loop = try EventLoop()
        let server = try TestServer(loop, host: host) { Recorder() }
        #expect(server.listener.address == "[::1]:\(server.port)" && server.port != 0)
        let client = Recorder()
        let socket = try Socket.connect(loop: loop, host: host, port: server.port, handler: client)
        turn(loop) { client.connects == 1 && server.sockets.count == 1 }
        #expect(socket.peerAddress == "[::1]:\(server.port)")
        loop.shutDown()
    }

    @Test func portZeroReportsTheRealPort() throws {
        let loop = try EventLoop()
        let listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) { close($0) }
        #expect(listener.port != 0 && listener.address == "127.0.0.1:\(listener.port)")
    }

    @Test func acceptsAtMostABatchPerTurn() throws {
        let loop = try EventLoop()
        var accepted = 0
        let listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) {
            accepted += 1
            close($0)
        }
        let clients = (0..<100).map { _ in RawClient(port: listener.port) }
        loop.turn(wait: .zero)
        #expect(accepted == Listener.acceptsPerTurnMax)
        turn(loop) { accepted == clients.count }
    }

    @Test func pausedListenerAcceptsAfterResume() throws {
        let loop = try EventLoop()
        var accepted = 0
        let listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) {
            accepted += 1
            close($0)
        }
        listener.pause()
        let client = RawClient(port: listener.port)
        for _ in 0..<5 { loop.turn(wait: .milliseconds(1)) }
        #expect(accepted == 0)
        listener.resume()
        turn(loop) { accepted == 1 }
        client.end()
    }

    @Test func aListenerMayBeClosedAndDroppedWhileAccepting() throws {
        let loop = try EventLoop()
        var listener: Listener?
        var accepted = 0
        listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) {
            accepted += 1
            close($0)
            listener?.close()
            listener = nil
        }
        let port = listener!.port
        let clients = (0..<3).map { _ in RawClient(port: port) }
        turn(loop) { accepted == 1 }
        loop.turn(wait: .zero)
        #expect(accepted == 1 && listener == nil && clients.count == 3)
    }
}
