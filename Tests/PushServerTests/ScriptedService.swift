import Foundation
import PushBytes
import PushCrypto
import PushHTTP2
import PushReactor
import PushTLS
import Synchronization

/// A push service of the test's own: HTTP/2 over TLS on a free port, doing with each request what a script says.
final class ScriptedService: Sendable {
    struct Request: Sendable {
        /// Counted from 0 over all connections.
        var index: Int
        var connection: Int
        var stream: Int32
        var fields: [String: String]
        var body: [UInt8]
    }

    enum Action: Sendable {
        case answer(status: Int, fields: [(String, String)] = [], body: String = "")
        case silence
        case reset(code: UInt32)
        /// Sends the connection away, having looked at the streams up to `lastStream` only.
        case goAway(data: String, lastStream: Int32)
        /// Sends the connection away after this request, which is answered with 200.
        case lastAnswer
        case setStreamsMax(UInt32, thenStatus: Int)
        case close
    }

    static let accepted = Action.answer(status: 200, fields: [("apns-id", "27CFDC15-E305-27E0-E290-8FC98E115899")])

    let port: UInt16
    /// PEM of the authority that vouches for it.
    let authorityPEM: String
    private let thread: LoopThread

    private final class Store: Sendable {
        let requests = Mutex<[Request]>([])
        let open = Atomic<Int>(0)
        let accepted = Atomic<Int>(0)
    }

    private let store: Store

    init(
        names: [String] = ["127.0.0.1", "localhost"], streamsMax: UInt32 = 1000,
        farewell: String? = nil, _ script: @escaping @Sendable (Request) -> Action
    ) throws {
        let now = Int64(Date().timeIntervalSince1970)
        let authorityKey = try ES256PrivateKey()
        let serverKey = try ES256PrivateKey()
        let authority = try CertificateMaker.authority(
            commonName: "Test", key: authorityKey, serial: [1], notBefore: now - 60, notAfter: now + 3600)
        let certificate = try CertificateMaker.server(
            names: names, key: serverKey, issuer: authority, issuerKey: authorityKey, serial: [2], notBefore: now - 60,
            notAfter: now + 3600)
        authorityPEM = authority.pem
        let context = try TLSContext.server(
            certificateChain: certificate.pem, privateKey: serverKey.pem, applicationProtocols: ["h2"])
        let store = Store()
        self.store = store
        (thread, port) = try LoopThread.start(name: "scripted") { loop in
            let acceptor = Acceptor(loop: loop, context: context, streamsMax: streamsMax)
            acceptor.script = { request in
                store.requests.withLock { $0.append(request) }
                return script(request)
            }
            acceptor.farewell = farewell
            acceptor.countOpen = { change in
                store.open.add(change, ordering: .relaxed)
                if change > 0 { store.accepted.add(change, ordering: .relaxed) }
            }
            return try acceptor.listen()
        }
    }

    deinit { thread.stop() }

    var requests: [Request] { store.requests.withLock { $0 } }

    /// Connections that are open now.
    var openConnections: Int { store.open.load(ordering: .relaxed) }

    /// Connections ever made.
    var acceptedConnections: Int { store.accepted.load(ordering: .relaxed) }

    /// Connections that ever carried a request.
    var connections: Int { Set(requests.map(\.connection)).count }
}

/// Accepts and keeps the connections; held by the listener's body.
private final class Acceptor {
    let loop: EventLoop
    let context: TLSContext
    let streamsMax: UInt32
    var script: (ScriptedService.Request) -> ScriptedService.Action = { _ in .silence }
    var countOpen: (Int) -> Void = { _ in }
    /// Said as soon as a connection is made; nil: nothing.
    var farewell: String?
    var listener: Listener?
    var connections = 0
    var requests = 0

    init(loop: EventLoop, context: TLSContext, streamsMax: UInt32) {
        self.loop = loop
        self.context = context
        self.streamsMax = streamsMax
    }

    func listen() throws -> UInt16 {
        let listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) { [self] fd in
            connections += 1
            countOpen(1)
            do {
                let peer = try Peer(number: connections, acceptor: self)
                _ = Socket(loop: loop, accepted: fd, handler: peer)
            } catch {
                fatalError("\(error)")
            }
        }
        self.listener = listener
        return listener.port
    }
}

private final class Peer: SocketHandler {
    let number: Int
    let acceptor: Acceptor
    let tls: TLSEngine
    let http: HTTP2ServerEngine
    var plainIn = ByteQueue()
    var plainOut = ByteQueue()

    init(number: Int, acceptor: Acceptor) throws {
        self.number = number
        self.acceptor = acceptor
        tls = try TLSEngine(server: acceptor.context)
        var limits = HTTP2ServerEngine.Limits()
        limits.concurrentStreamsMax = acceptor.streamsMax
        http = try HTTP2ServerEngine(limits: limits)
        if let farewell = acceptor.farewell { http.goAway(code: 0, data: Array(farewell.utf8)) }
    }

    func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
        do {
            try tls.receive(bytes, into: &plainIn)
            try plainIn.withSpan { (bytes) throws(HTTP2Error) in try http.receive(bytes) }
            plainIn.removeAll()
            while let event = http.nextEvent() {
                guard case .request(let message, _) = event else { continue }
                serve(message, socket)
                http.recycle(message)
            }
            if tls.isEstablished {
                try http.drain(into: &plainOut)
                try plainOut.withSpan { (bytes) throws(TLSError) in try tls.send(bytes) }
                plainOut.removeAll()
            }
        } catch {
            socket.close()
        }
        tls.drain(into: &socket.output)
        socket.wantsFlush()
        if tls.peerClosed || (tls.isEstablished && http.wantsClose) { socket.close() }
    }

    func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) { acceptor.countOpen(-1) }

    private func serve(_ message: HTTP2Message, _ socket: Socket) {
        var request = ScriptedService.Request(
            index: acceptor.requests, connection: number, stream: message.streamID, fields: [:], body: message.body)
        for field in message.fields {
            let name = String(decoding: message.bytes[field.name], as: UTF8.self)
            request.fields[name] = String(decoding: message.bytes[field.value], as: UTF8.self)
        }
        acceptor.requests += 1
        switch acceptor.script(request) {
        case .answer(let status, let fields, let body): answer(message.streamID, status, fields, body)
        case .silence: break
        case .reset(let code): http.reset(stream: message.streamID, code: code)
        case .goAway(let data, let lastStream): http.goAway(code: 0, data: Array(data.utf8), lastStream: lastStream)
        case .lastAnswer:
            http.goAway(code: 0, data: [])
            answer(message.streamID, 200, [], "")
        case .setStreamsMax(let count, let status):
            http.setConcurrentStreams(count)
            answer(message.streamID, status, [], "")
        case .close: socket.close(.reset)
        }
    }

    private func answer(_ stream: Int32, _ status: Int, _ fields: [(String, String)], _ body: String) {
        var list = HTTP2FieldList()
        list.append(name: ":status", decimal: status)
        for (name, value) in fields { list.append(name, value) }
        http.respond(to: stream, fields: list, body: Array(body.utf8))
    }
}
