import PushBytes
import PushCrypto
import PushHTTP1
import PushReactor
import PushTLS
import Testing

/// A TLS client over a loop's socket, enough to send one text and read the answer.
private final class TLSClient: SocketHandler {
    let engine: TLSEngine
    var plain = ByteQueue()
    var error: TLSError?
    var isClosed = false

    init(_ engine: TLSEngine) { self.engine = engine }

    func socketDidConnect(_ socket: Socket) { move(socket) { () throws(TLSError) in try engine.start() } }

    func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
        do throws(TLSError) { try engine.receive(bytes, into: &plain) } catch { self.error = error }
        move(socket) { () throws(TLSError) in }
    }

    func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) { isClosed = true }

    func move(_ socket: Socket, _ body: () throws(TLSError) -> Void) {
        do throws(TLSError) { try body() } catch { self.error = error }
        engine.drain(into: &socket.output)
        socket.wantsFlush()
    }

    var text: String { String(decoding: plain.bytes, as: UTF8.self) }
}

@Suite struct HTTP1TLSTests {
    private struct Identity {
        let authority: Certificate
        let context: TLSContext

        init() throws {
            let authorityKey = try ES256PrivateKey()
            let key = try ES256PrivateKey()
            authority = try CertificateMaker.authority(
                commonName: "Test CA", key: authorityKey, serial: [1], notBefore: 0, notAfter: 4_000_000_000)
            let certificate = try CertificateMaker.server(
                names: ["localhost", "127.0.0.1"], key: key, issuer: authority, issuerKey: authorityKey, serial: [2],
                notBefore: 0, notAfter: 4_000_000_000)
            context = try TLSContext.server(
                certificateChain: certificate.pem, privateKey: key.pem, applicationProtocols: ["http/1.1"])
        }
    }

    @Test func aRequestOverTLSIsAnsweredAndTheConnectionKept() throws {
        let identity = try Identity()
        let loop = try EventLoop()
        var bodies: [[UInt8]] = []
        var pending: HTTP1Exchange?
        let server = try HTTP1Server(loop: loop, host: "127.0.0.1", port: 0, tls: identity.context) { exchange in
            bodies.append(exchange.request.body)
            if exchange.request.path == "/wait" { pending = exchange } else { exchange.respond(.json(200, [49])) }
        }
        let trust = try TLSContext.client(
            trust: .authorities(pem: identity.authority.pem), applicationProtocols: ["http/1.1"])
        let client = TLSClient(try TLSEngine(client: trust, host: "localhost"))
        let socket = try Socket.connect(loop: loop, host: "127.0.0.1", port: server.port, handler: client)
        let body = String(repeating: "z", count: 100_000)
        let request = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        turn(loop) { client.engine.isEstablished }
        client.move(socket) { () throws(TLSError) in try client.engine.send(Array(request.utf8).span) }
        turn(loop) { client.text.hasSuffix("\r\n\r\n1") }
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n") && bodies.map(\.count) == [100_000])
        #expect(client.engine.applicationProtocol == "http/1.1" && client.error == nil)
        client.plain.removeAll()
        let wait = Array("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        client.move(socket) { () throws(TLSError) in try client.engine.send(wait.span) }
        turn(loop) { pending != nil }
        var closes = 0
        pending?.onClose = { closes += 1 }
        socket.close()
        turn(loop) { closes == 1 && client.isClosed }
        server.close()
    }

    @Test func plainHTTPAndGarbageOnTheTLSPortDoNotHarmTheServer() throws {
        let identity = try Identity()
        let loop = try EventLoop()
        let server = try HTTP1Server(loop: loop, host: "127.0.0.1", port: 0, tls: identity.context) {
            $0.respond(.json(200, []))
        }
        for garbage in ["GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\u{16}\u{3}\u{1}", "x"] {
            let raw = RawClient(port: server.port)
            raw.write(garbage)
            raw.halfClose()
            var bytes: [UInt8] = []
            turn(loop) { raw.collect(into: &bytes) }
            #expect(!text(bytes).contains("200 OK"))
        }
        let trust = try TLSContext.client(
            trust: .authorities(pem: identity.authority.pem), applicationProtocols: [])
        let client = TLSClient(try TLSEngine(client: trust, host: "127.0.0.1"))
        let socket = try Socket.connect(loop: loop, host: "127.0.0.1", port: server.port, handler: client)
        turn(loop) { client.engine.isEstablished }
        let request = Array("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8)
        client.move(socket) { () throws(TLSError) in try client.engine.send(request.span) }
        turn(loop) { client.isClosed }
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        server.close()
    }

    private func turn(_ loop: EventLoop, until condition: () -> Bool) {
        for _ in 0..<20_000 where !condition() { loop.turn(wait: .milliseconds(20)) }
        #expect(condition())
    }
}
