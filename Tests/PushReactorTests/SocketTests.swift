import Glibc
import PushBytes
import PushReactor
import Testing

@Suite struct SocketTests {
    @Test func tenMegabytesEchoThroughTinyBuffersUnchanged() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop, sendBuffer: 4096) {
            let echo = Recorder()
            echo.isEcho = true
            echo.keepsBytes = false
            return echo
        }
        var random = SeededRandom(seed: 7)
        let sent = (0..<10_000_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let client = Recorder()
        client.onConnect = { socket in
            socket.output.append(sent)
            socket.wantsFlush()
        }
        client.onReceive = { socket in
            if client.received == sent.count { socket.close() }
        }
        _ = try Socket.connect(loop: loop, host: "127.0.0.1", port: server.port, handler: client)
        turn(loop) { !client.closes.isEmpty && server.handlers.first?.closes.isEmpty == false }
        #expect(client.bytes == sent)
        #expect(client.drains > 0, "the peer was slow at some time")
        #expect(client.closes == [.local])
        #expect(server.handlers[0].closes == [.endOfFile])
        turn(loop) { loop.openSockets == 0 }
    }
}
