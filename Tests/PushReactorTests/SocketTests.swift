import Glibc
import PushBytes
import PushReactor
import Testing

@Suite struct SocketTests {
    @Test func tenMegabytesEchoThroughSmallSendBuffersUnchanged() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop, sendBuffer: 16384) {
            let echo = Recorder()
            echo.isEcho = true
            echo.keepsBytes = false
            return echo
        }
        var random = SeededRandom(seed: 7)
        let sent = (0..<1_250_000).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
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
        #expect(client.drains > 0 && server.handlers[0].drains > 0, "both sides were too slow at some time")
        #expect(client.closes == [.local])
        #expect(server.handlers[0].closes == [.endOfFile])
        turn(loop) { loop.openSockets == 0 }
    }

    @Test func answerToAHalfClosedPeerArrivesBeforeTheEnd() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) {
            let handler = Recorder()
            handler.isEcho = true
            return handler
        }
        let raw = RawClient(port: server.port)
        raw.write("question")
        raw.halfClose()
        var answer: [UInt8] = []
        turn(loop) { raw.collect(into: &answer) }
        #expect(String(decoding: answer, as: UTF8.self) == "question")
        #expect(server.handlers[0].closes == [.endOfFile])
    }

    @Test func handlerMayGoOnSendingAfterThePeersEnd() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) {
            let handler = Recorder()
            handler.onEnd = { _ in }
            return handler
        }
        let raw = RawClient(port: server.port)
        raw.halfClose()
        turn(loop) { server.handlers.first?.ends == 1 }
        for _ in 0..<10 { loop.turn(wait: .milliseconds(1)) }
        #expect(server.handlers[0].ends == 1 && server.handlers[0].closes.isEmpty)
        let socket = server.sockets[0]
        socket.output.append("late answer")
        socket.wantsFlush()
        loop.turn(wait: .zero)
        socket.close()
        var answer: [UInt8] = []
        turn(loop) { raw.collect(into: &answer) }
        #expect(String(decoding: answer, as: UTF8.self) == "late answer")
        turn(loop) { loop.openSockets == 0 }
        #expect(server.handlers[0].closes == [.endOfFile])
    }

    @Test func resetByThePeerIsAFailureNamingIt() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let raw = RawClient(port: server.port)
        turn(loop) { server.sockets.count == 1 }
        raw.reset()
        turn(loop) { server.handlers[0].closes.count == 1 }
        #expect(server.handlers[0].closes == [.failed(ReactorError(operation: "read", errno: ECONNRESET))])
        #expect(server.handlers[0].closes.description.contains("Connection reset by peer"))
    }

    @Test func closeWithResetReachesThePeerAsReset() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) {
            let handler = Recorder()
            handler.onReceive = { socket in
                socket.output.append("lost")
                socket.wantsFlush()
                socket.close(.reset)
            }
            return handler
        }
        let raw = RawClient(port: server.port)
        raw.write("x")
        turn(loop) { server.handlers.first?.closes == [.local] }
        #expect(raw.readError() == ECONNRESET)
        #expect(loop.openSockets == 0)
    }

    @Test func closeFlushesOutputThenSendsEnd() throws {
        let loop = try EventLoop()
        let big = [UInt8](repeating: 9, count: 3_000_000)
        let server = try TestServer(loop, sendBuffer: 16384) {
            let handler = Recorder()
            handler.onReceive = { socket in
                socket.output.append(big)
                socket.close()
                #expect(handler.closes.isEmpty, "the close is not heard within close")
                socket.close()
            }
            return handler
        }
        let raw = RawClient(port: server.port)
        raw.write("go")
        var answer: [UInt8] = []
        turn(loop) { raw.collect(into: &answer) }
        #expect(answer == big)
        raw.end()
        turn(loop) { loop.openSockets == 0 }
        #expect(server.handlers[0].closes == [.local])
    }

    @Test func resetCutsShortAClosingSocket() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop, sendBuffer: 16384) { Recorder() }
        let raw = RawClient(port: server.port)
        turn(loop) { server.sockets.count == 1 }
        let socket = server.sockets[0]
        socket.output.append([UInt8](repeating: 1, count: 20_000_000))
        socket.close()
        for _ in 0..<5 { loop.turn(wait: .zero) }
        #expect(server.handlers[0].closes == [.local] && loop.openSockets == 1)
        socket.close(.reset)
        loop.turn(wait: .zero)
        #expect(server.handlers[0].closes == [.local] && loop.openSockets == 0)
        raw.end()
    }

    @Test func bytesAfterCloseAreNotHandedOut() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) {
            let handler = Recorder()
            handler.onReceive = { $0.close() }
            return handler
        }
        let raw = RawClient(port: server.port)
        raw.write("first")
        turn(loop) { server.handlers.first?.closes == [.local] }
        raw.write("second")
        var rest: [UInt8] = []
        turn(loop) { raw.collect(into: &rest) }
        raw.end()
        turn(loop) { loop.openSockets == 0 }
        #expect(server.handlers[0].bytes == Array("first".utf8))
    }

    @Test func aCallbackMayCloseAnyOtherSocket() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let clients = (0..<20).map { _ in RawClient(port: server.port) }
        turn(loop) { server.sockets.count == 20 }
        for (index, handler) in server.handlers.enumerated() {
            handler.onReceive = { _ in
                for socket in server.sockets { socket.close(index % 2 == 0 ? .fin : .reset) }
            }
            handler.onClose = { _ in
                for socket in server.sockets { socket.close(.reset) }
            }
        }
        for client in clients { client.write("all at once") }
        turn(loop) { server.handlers.allSatisfy { $0.closes.count == 1 } }
        turn(loop) { loop.openSockets == 0 }
        #expect(server.handlers.filter { $0.received > 0 }.count == 1, "only the first one heard anything")
    }

    @Test func pausedReadingLeavesBytesInTheKernel() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let raw = RawClient(port: server.port)
        turn(loop) { server.sockets.count == 1 }
        server.sockets[0].pausesReading = true
        raw.write("later")
        for _ in 0..<10 { loop.turn(wait: .milliseconds(1)) }
        #expect(server.handlers[0].received == 0)
        server.sockets[0].pausesReading = false
        turn(loop) { server.handlers[0].bytes == Array("later".utf8) }
    }

    @Test func aSocketReadsABoundedAmountPerTurn() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let raw = RawClient(port: server.port)
        turn(loop) { server.sockets.count == 1 }
        raw.write(String(repeating: "x", count: 150_000))
        loop.turn(wait: .seconds(1))
        #expect(server.handlers[0].received > 0 && server.handlers[0].received <= EventLoop.readBytesMax)
        turn(loop) { server.handlers[0].received == 150_000 }
    }

    @Test func aThousandConnectionsLeaveNoDescriptorOpen() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) {
            let handler = Recorder()
            handler.isEcho = true
            return handler
        }
        var clients: [Recorder] = []
        for round in 0..<10 {
            for index in 0..<100 {
                let client = Recorder()
                client.onConnect = { socket in
                    socket.output.append("hello")
                    socket.wantsFlush()
                }
                client.onReceive = { $0.close((index + round) % 3 == 0 ? .reset : .fin) }
                clients.append(client)
                _ = try Socket.connect(loop: loop, host: "127.0.0.1", port: server.port, handler: client)
            }
            turn(loop) { clients.allSatisfy { $0.closes.count == 1 } && loop.openSockets == 0 }
        }
        #expect(server.handlers.count == 1000)
        #expect(descriptorsOnPort(server.port) == 1, "only the listener is left")
        #expect(server.handlers.allSatisfy { $0.closes.count == 1 && $0.bytes == Array("hello".utf8) })
    }

    @Test func socketsLetGoOfTheirHandlersAndTheLoop() throws {
        weak var weakLoop: EventLoop?
        weak var weakHandler: Recorder?
        try {
            let loop = try EventLoop()
            weakLoop = loop
            let server = try TestServer(loop) { Recorder() }
            let client = Recorder()
            weakHandler = client
            let socket = try Socket.connect(loop: loop, host: "127.0.0.1", port: server.port, handler: client)
            turn(loop) { client.connects == 1 && server.sockets.count == 1 }
            #expect(socket.peerAddress == "127.0.0.1:\(server.port)")
            socket.output.append("bytes that warm the output")
            socket.close()
            turn(loop) { loop.openSockets == 0 }
            #expect(socket.peerAddress == "?" && !socket.isOpen)
        }()
        #expect(weakHandler == nil)
        #expect(weakLoop == nil)
    }

    @Test func idleOutputGivesItsMemoryBack() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let raw = RawClient(port: server.port)
        turn(loop) { server.sockets.count == 1 }
        let socket = server.sockets[0]
        socket.output.append([UInt8](repeating: 1, count: 10_000))
        socket.wantsFlush()
        loop.turn(wait: .zero)
        #expect(socket.output.isEmpty && socket.output.capacity >= 10_000)
        turn(loop) { socket.output.capacity == 0 }
        raw.end()
    }
}
