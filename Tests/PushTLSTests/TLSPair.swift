import PushBytes
import PushCrypto

@testable import PushTLS

/// A made-up authority and a server certificate under it.
struct TestIdentity {
    static let names = ["localhost", "push.test", "*.wild.test", "127.0.0.1", "::1"]
    static let good = try! TestIdentity()
    static let goodServer = try! good.server()
    static let goodClient = try! good.client()
    static let stranger = try! TestIdentity()
    /// Ran out long ago.
    static let expired = try! TestIdentity(notBefore: 1_000_000_000, notAfter: 1_100_000_000)

    let authority: String
    let chain: String
    let key: String

    init(notBefore: Int64 = 1_600_000_000, notAfter: Int64 = 4_000_000_000) throws {
        let authorityKey = try ES256PrivateKey()
        let root = try CertificateMaker.authority(
            commonName: "Test", key: authorityKey, serial: SecureRandom.bytes(8).map { $0 & 0x7F | 1 },
            notBefore: 1_000_000_000, notAfter: 4_000_000_000)
        let serverKey = try ES256PrivateKey()
        let server = try CertificateMaker.server(
            names: Self.names, key: serverKey, issuer: root, issuerKey: authorityKey, serial: [2], notBefore: notBefore,
            notAfter: notAfter)
        authority = root.pem
        chain = server.pem + root.pem
        key = serverKey.pem
    }

    func server(_ protocols: [String] = [], requestsClientCertificate: Bool = false) throws -> TLSContext {
        try .server(
            certificateChain: chain, privateKey: key, applicationProtocols: protocols,
            requestsClientCertificate: requestsClientCertificate)
    }

    func client(_ protocols: [String] = []) throws -> TLSContext {
        try .client(trust: .authorities(pem: authority), applicationProtocols: protocols)
    }
}

/// A client and a server that talk in memory, `step` bytes at a time.
final class TLSPair {
    let client: TLSEngine
    let server: TLSEngine
    var clientPlain = ByteQueue()
    var serverPlain = ByteQueue()
    var clientError: TLSError?
    var serverError: TLSError?

    init(
        client: TLSContext? = nil, server: TLSContext? = nil, host: String = "localhost", serverName: String? = nil
    ) throws {
        self.client = try TLSEngine(
            client: client ?? TestIdentity.goodClient, host: host, serverName: serverName)
        self.server = try TLSEngine(server: server ?? TestIdentity.goodServer)
        try self.client.start()
    }

    /// Carries bytes to and fro until both are silent. Errors are recorded; an engine that failed hears no more.
    func run(step: Int = .max) {
        while true {
            let up = carry(from: client, to: server, into: &serverPlain, error: &serverError, step: step)
            let down = carry(from: server, to: client, into: &clientPlain, error: &clientError, step: step)
            if !up && !down { return }
        }
    }

    private func carry(
        from: TLSEngine, to: TLSEngine, into plain: inout ByteQueue, error: inout TLSError?, step: Int
    ) -> Bool {
        var cipher = ByteQueue()
        from.drain(into: &cipher)
        let moved = !cipher.isEmpty
        while !cipher.isEmpty, error == nil {
            let part = Array(cipher.bytes.prefix(step))
            cipher.consume(part.count)
            do throws(TLSError) { try to.receive(part.span, into: &plain) } catch let caught { error = caught }
        }
        return moved
    }
}

extension TLSEngine {
    func send(_ bytes: [UInt8]) throws(TLSError) { try send(bytes.span) }

    func receive(_ bytes: [UInt8], into plain: inout ByteQueue) throws(TLSError) {
        try receive(bytes.span, into: &plain)
    }
}
