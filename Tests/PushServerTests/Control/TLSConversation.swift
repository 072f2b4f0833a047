import Foundation
import PushBytes
import PushReactor
import PushServer
import PushTLS

/// A client's end of one TLS connection to a server, turned by hand.
final class TLSConversation: SocketHandler {
    /// All that came, decrypted.
    private(set) var received: [UInt8] = []
    private(set) var isClosed = false
    private let loop: EventLoop
    private let tls: TLSEngine
    private var socket: Socket?
    private var plain = ByteQueue()

    init(_ ready: LocalPushReady, address: String, protocols: [String]) throws {
        loop = try EventLoop()
        let authority = try String(contentsOfFile: ready.authorityPath, encoding: .utf8)
        let context = try TLSContext.client(trust: .authorities(pem: authority), applicationProtocols: protocols)
        tls = try TLSEngine(client: context, host: "127.0.0.1")
        socket = try Socket.connect(
            loop: loop, host: "127.0.0.1", port: ControlBench.port(address), handler: self)
        try tls.start()
        flush()
    }

    func send(_ bytes: [UInt8]) throws {
        try tls.send(bytes.span)
        flush()
    }

    /// Turns until `condition` holds or the connection has ended; `false` when it does not hold after many turns.
    func turn(until condition: () throws -> Bool) rethrows -> Bool {
        for _ in 0..<2000 {
            if try condition() { return true }
            if isClosed { return false }
            loop.turn(wait: .milliseconds(20))
        }
        return false
    }

    func close() {
        socket?.close(.reset)
        _ = turn { isClosed }
    }

    func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
        do throws(TLSError) { try tls.receive(bytes, into: &plain) } catch { socket.close(.reset) }
        received += plain.bytes
        plain.removeAll()
        flush()
        if tls.peerClosed { socket.close() }
    }

    func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) {
        isClosed = true
        self.socket = nil
    }

    private func flush() {
        guard let socket else { return }
        tls.drain(into: &socket.output)
        socket.wantsFlush()
    }
}
