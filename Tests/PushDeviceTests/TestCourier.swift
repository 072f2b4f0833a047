import Foundation
import PushBytes
import PushCourier
import PushCrypto
import PushReactor
import PushTLS
import Testing

@testable import PushDevice

/// An authority and a server certificate of its own, as PEM.
struct TestAuthority: Sendable {
    let authority: String
    let chain: String
    let key: String

    init(names: [String] = ["127.0.0.1", "localhost"]) throws {
        let now = Int64(Date().timeIntervalSince1970)
        let authorityKey = try ES256PrivateKey()
        let certificate = try CertificateMaker.authority(
            commonName: "Test Authority", key: authorityKey, serial: [1], notBefore: now - 3600, notAfter: now + 3600)
        let serverKey = try ES256PrivateKey()
        let server = try CertificateMaker.server(
            names: names, key: serverKey, issuer: certificate, issuerKey: authorityKey, serial: [2],
            notBefore: now - 3600, notAfter: now + 3600)
        authority = certificate.pem
        chain = server.pem
        key = serverKey.pem
    }
}

/// A courier small enough to be obviously right: one app, one device at a time, redelivery until acknowledged.
final class TestCourier {
    enum Manner: Sendable { case good, mute, noKeepAlive, noTokens }
    enum Ending: Sendable, CaseIterable { case closeNotify, fin, reset }

    struct Hello: Sendable, Equatable {
        var token: [UInt8]?
        var isProven: Bool
        var serverName: String?
        var certificate: [UInt8]
    }

    let loop: EventLoop
    let tls: TLSContext
    private(set) var listener: Listener!
    private var peers: [TestCourierPeer] = []
    var manner = Manner.good
    /// What the next first frames are answered with, instead of acceptance.
    var refusals: [CourierConnectResponse] = []
    var hellos: [Hello] = []
    var filters: [CourierFilter] = []
    var keepAlives = 0
    var acknowledged: [[UInt8]] = []
    /// Payloads not yet acknowledged, in order.
    var waiting: [[UInt8]] = []
    /// Sends everything twice.
    var stutters = false

    init(loop: EventLoop, _ identity: TestAuthority) throws {
        self.loop = loop
        tls = try TLSContext.server(
            certificateChain: identity.chain, privateKey: identity.key, applicationProtocols: ["apns-security-v3"])
        listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) { [unowned self] descriptor in
            peers.append(TestCourierPeer(courier: self, descriptor))
        }
    }

    var port: UInt16 { listener.port }

    func push(_ payload: [UInt8]) {
        waiting.append(payload)
        for peer in peers { peer.deliver() }
    }

    func end(_ ending: Ending) {
        for peer in peers { peer.end(ending) }
    }

    /// Bytes inside TLS that need not be frames.
    func send(_ bytes: [UInt8]) {
        for peer in peers { peer.send(bytes) }
    }

    func close() {
        listener.close()
        end(.reset)
    }

    func removed(_ peer: TestCourierPeer) {
        peers.removeAll { $0 === peer }
    }
}

/// One connection of a `TestCourier`.
final class TestCourierPeer: SocketHandler {
    private unowned let courier: TestCourier
    private var socket: Socket!
    private let engine: TLSEngine
    private var decoder = CourierDecoder()
    private var sent: [UInt32: [UInt8]] = [:]
    private var nextID: UInt32 = 1
    private var isFiltered = false
    private var isMute = false

    init(courier: TestCourier, _ descriptor: Int32) {
        self.courier = courier
        engine = try! TLSEngine(server: courier.tls)
        socket = Socket(loop: courier.loop, accepted: descriptor, handler: self)
    }

    func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
        var plain = ByteQueue()
        // A client that does not trust us sends an alert and goes; the tests look at the client.
        try? engine.receive(bytes, into: &plain)
        plain.withSpan { decoder.receive($0) }
        while let frame = try? decoder.next() { received(frame) }
        drain()
        if engine.peerClosed { socket.close() }
    }

    func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) {
        courier.removed(self)
    }

    private func drain() {
        engine.drain(into: &socket.output)
        if !socket.output.isEmpty { socket.wantsFlush() }
    }

    private func reply(_ message: some CourierMessage) {
        var queue = ByteQueue()
        message.write(into: &queue)
        queue.withSpan { try? engine.send($0) }
    }

    private func received(_ frame: CourierFrame) {
        if isMute || courier.manner == .mute { return }
        switch frame.command {
        case CourierCommand.connect: if let hello = try? CourierConnect(frame) { connect(hello) }
        case CourierCommand.filter:
            guard let filter = try? CourierFilter(frame) else { return }
            courier.filters.append(filter)
            isFiltered = filter.enabled.contains(exampleHash)
            deliver()
        case CourierCommand.tokenRequest:
            guard courier.manner != .noTokens, let request = try? CourierTokenRequest(frame) else { return }
            let token = SHA256.digest(request.baseToken + request.topicHash)
            reply(CourierTokenResponse(token: token, topicHash: request.topicHash))
        case CourierCommand.keepAlive:
            courier.keepAlives += 1
            if courier.manner != .noKeepAlive { reply(CourierKeepAliveResponse()) }
        case CourierCommand.acknowledgement:
            guard let answer = try? CourierAcknowledgement(frame), answer.status == 0,
                let payload = sent.removeValue(forKey: answer.messageID)
            else { return }
            courier.acknowledged.append(payload)
            courier.waiting.removeAll { $0 == payload }
        default: break
        }
    }

    private func connect(_ hello: CourierConnect) {
        guard let nonce = hello.nonce, let signature = hello.signature, let der = hello.certificate,
            let certificate = try? Certificate(der: der)
        else { return }
        let proof = Array(signature.dropFirst(2))
        courier.hellos.append(
            TestCourier.Hello(
                token: hello.baseToken,
                isProven: Array(signature.prefix(2)) == [1, 1] && nonce.count == 17 && nonce[0] == 0
                    && certificate.verifySHA1(proof, of: nonce),
                serverName: engine.serverName, certificate: der))
        if !courier.refusals.isEmpty {
            reply(courier.refusals.removeFirst())
            return end(.fin)
        }
        let token = hello.baseToken == nil ? certificate.fingerprint : nil
        reply(CourierConnectResponse(baseToken: token, serverTimeMilliseconds: 0))
    }

    func deliver() {
        guard isFiltered, !isMute else { return }
        for payload in courier.waiting where !sent.values.contains(payload) {
            var message = CourierNotification(
                token: exampleAppToken, topicHash: exampleHash, payload: payload, messageID: nextID)
            message.pushID = Array(SHA256.digest(payload).prefix(16))
            message.pushType = "alert"
            sent[nextID] = payload
            nextID += 1
            reply(message)
            if courier.stutters { reply(message) }
        }
        drain()
    }

    func send(_ bytes: [UInt8]) {
        try? engine.send(bytes.span)
        drain()
    }

    func end(_ ending: TestCourier.Ending) {
        switch ending {
        case .closeNotify:
            // Says that it is over and leaves the socket open, as some servers do.
            engine.close()
            isMute = true
            drain()
        case .fin:
            drain()
            socket.close(.fin)
        case .reset: socket.close(.reset)
        }
    }
}
