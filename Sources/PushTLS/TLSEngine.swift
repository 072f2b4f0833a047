internal import CPushOpenSSL
package import PushBytes

/// One TLS connection as a machine: cipher bytes in, plain bytes out, and the other way round.
///
/// It knows no socket and no clock. Not Sendable: one thread at a time. After a thrown error `drain` still yields the
/// alert that tells the peer why; apart from `drain`, every further call throws `.closed`.
package final class TLSEngine {
    /// Most plain bytes kept by `send` before the handshake is done: a first burst of requests fits, a caller that
    /// never looks does not fill the memory. Beyond it `send` throws `.other`.
    package static let earlyBytesMax = 256 * 1024

    private let ssl: OpaquePointer
    /// Held so that the ALPN callback finds it.
    private let context: TLSContext
    private let wire = TLSWire()
    private let isServer: Bool
    private var early = ByteQueue()
    /// The peer's first four bytes, to tell HTTP from TLS when the handshake fails.
    private var opening: [UInt8] = []
    private var hasFailed = false
    private var hasClosed = false
    private var hasDrainedHandshake = false

    /// The handshake is done: peer verified (clients), protocol chosen, data flows.
    package private(set) var isEstablished = false
    /// The peer said close_notify. An end of file without it is a cut.
    package private(set) var peerClosed = false

    package init(server context: TLSContext) throws(TLSError) {
        self.context = context
        isServer = true
        ssl = try Self.makeSSL(context, wire)
        SSL_set_accept_state(ssl)
    }

    /// - Parameters:
    ///   - host: checked against the names in the server's certificate; a name, or an IP address with or without
    ///     brackets. A name is also sent as SNI.
    ///   - serverName: sent as SNI in place of `host`; default none.
    package init(client context: TLSContext, host: String, serverName: String? = nil) throws(TLSError) {
        self.context = context
        isServer = false
        ssl = try Self.makeSSL(context, wire)
        SSL_set_connect_state(ssl)
        try expect(host: host, serverName: serverName)
    }

    deinit { SSL_free(ssl) }

    /// Client: puts the ClientHello into the output. Server: does nothing.
    package func start() throws(TLSError) {
        if !isServer { _ = try handshake() }
    }

    /// Takes what came from the peer and appends what it decrypts to. All of `cipher` is consumed, except after
    /// close_notify, when the rest is dropped.
    package func receive(_ cipher: Span<UInt8>, into plain: inout ByteQueue) throws(TLSError) {
        guard !hasFailed else { throw Self.closed("receive") }
        if peerClosed { return }
        // The pointer is used only while `cipher` is borrowed: endLending() runs before this call returns.
        cipher.withUnsafeBytes { wire.lend($0) }
        defer { wire.endLending() }
        if !isEstablished {
            noteOpening(cipher)
            guard try handshake() else { return }
        }
        while !peerClosed && (wire.unread > 0 || SSL_pending(ssl) > 0) {
            guard try readRecord(into: &plain) else { return }
        }
    }

    /// Encrypts at once; `drain` yields the result. Before the handshake is done the bytes are kept, at most
    /// `earlyBytesMax`, and sent right after.
    package func send(_ plain: Span<UInt8>) throws(TLSError) {
        guard !hasFailed, !hasClosed else { throw Self.closed("send") }
        guard isEstablished else {
            guard early.count + plain.count <= Self.earlyBytesMax else {
                throw TLSError(kind: .other, operation: "send", reason: "too many bytes before the handshake is done")
            }
            return early.append(plain)
        }
        try encrypt(plain)
    }

    /// Moves everything that waits to go out to the end of `cipher`.
    package func drain(into cipher: inout ByteQueue) {
        wire.outgoing.move(into: &cipher)
        if !hasDrainedHandshake {
            wire.outgoing.shrink(to: 0)
            hasDrainedHandshake = isEstablished
        }
    }

    /// Queues close_notify; what the peer still sends can be received. Before the handshake is done it waits, with what
    /// `send` kept, until then. Harmless when repeated.
    package func close() {
        guard !hasClosed, !hasFailed else { return }
        hasClosed = true
        if isEstablished { sayClosed() }
    }

    /// Gives back buffers that an idle connection does not need; the next `send` makes new ones.
    package func releaseMemory() {
        wire.outgoing.shrink(to: 0)
        early.shrink(to: 0)
    }

    /// Cipher bytes waiting for `drain`.
    package var waitingBytes: Int { wire.outgoing.count }

    /// Memory held by this engine's own queues.
    var heldBytes: Int { wire.outgoing.capacity + early.capacity }

    /// The protocol that ALPN chose; `nil` before the handshake and when there is none.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        guard let name, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// The name the client asked for (SNI), as it wrote it.
    package var serverName: String? {
        SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
    }

    /// The peer's own certificate, DER; `nil` before the handshake and when it presented none.
    package var peerCertificate: [UInt8]? {
        guard let certificate = SSL_get0_peer_certificate(ssl) else { return nil }
        let count = i2d_X509(certificate, nil)
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, used in
            var cursor = buffer.baseAddress
            used = Int(i2d_X509(certificate, &cursor))
        }
    }

    /// "TLSv1.3" or "TLSv1.2"; meaningful once established.
    package var protocolVersion: String { String(cString: SSL_get_version(ssl)) }

    // MARK: Steps

    /// True once the handshake is done.
    private func handshake() throws(TLSError) -> Bool {
        guard !hasFailed else { throw Self.closed("handshake") }
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            isEstablished = true
            opening = []
            try sendEarly()
            if hasClosed { sayClosed() }
            return true
        }
        let code = SSL_get_error(ssl, result)
        if code == SSL_ERROR_WANT_READ { return false }
        throw failure("TLS handshake", code)
    }

    /// False when there is nothing more to read for now.
    private func readRecord(into plain: inout ByteQueue) throws(TLSError) -> Bool {
        var code = SSL_ERROR_NONE
        // What decrypts is never longer than what is there, unless a part of the record came earlier.
        let room = min(max(wire.unread, Int(SSL_pending(ssl)), 256), Int(SSL3_RT_MAX_PLAIN_LENGTH))
        plain.appendWritten(minimum: room) { free in
            ERR_clear_error()
            var count = 0
            let result = SSL_read_ex(ssl, free.baseAddress, free.count, &count)
            if result != 1 { code = SSL_get_error(ssl, result) }
            return count
        }
        switch code {
        case SSL_ERROR_NONE: return true
        case SSL_ERROR_WANT_READ: return false
        case SSL_ERROR_ZERO_RETURN:
            peerClosed = true
            return false
        default: throw failure("TLS read", code)
        }
    }

    private func sendEarly() throws(TLSError) {
        guard !early.isEmpty else { return }
        let kept = early
        early = ByteQueue()
        try kept.withSpan { (bytes) throws(TLSError) in try encrypt(bytes) }
    }

    private func sayClosed() {
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    private func encrypt(_ plain: Span<UInt8>) throws(TLSError) {
        guard plain.count > 0 else { return }
        var code = SSL_ERROR_NONE
        plain.withUnsafeBytes { bytes in
            ERR_clear_error()
            var count = 0
            let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
            if result != 1 { code = SSL_get_error(ssl, result) }
            assert(result != 1 || count == bytes.count, "the wire takes everything, so no write is short")
        }
        if code != SSL_ERROR_NONE { throw failure("TLS write", code) }
    }

    private func failure(_ operation: String, _ code: Int32) -> TLSError {
        hasFailed = true
        early = ByteQueue()
        guard code == SSL_ERROR_SSL else {
            ERR_clear_error()
            return TLSError(kind: .other, operation: operation, reason: "SSL_get_error says \(code)")
        }
        return .classified(operation, verifyResult: SSL_get_verify_result(ssl), opening: opening)
    }

    private func noteOpening(_ cipher: Span<UInt8>) {
        var index = 0
        while opening.count < 4 && index < cipher.count {
            opening.append(cipher[index])
            index += 1
        }
    }

    private static func closed(_ operation: String) -> TLSError {
        TLSError(kind: .closed, operation: operation, reason: "the connection has failed or was closed")
    }

    // MARK: Setting up

    private static func makeSSL(_ context: TLSContext, _ wire: TLSWire) throws(TLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let ssl = SSL_new(context.opaqueHandle) else { throw .takeLast("make a TLS connection") }
        guard let bio = wire.makeBIO() else {
            SSL_free(ssl)
            throw .takeLast("make a TLS connection")
        }
        SSL_set_bio(ssl, bio, bio)  // takes over the one reference for both directions
        return ssl
    }

    private func expect(host: String, serverName: String?) throws(TLSError) {
        var name = host
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw TLSError(kind: .other, operation: "expect a host", reason: "the host name is empty or broken")
        }
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1
        if !isAddress {
            SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            guard SSL_set1_host(ssl, name) == 1 else { throw .takeLast("expect a host") }
        }
        guard let sent = serverName ?? (isAddress ? nil : name) else { return }
        guard cpush_ssl_set_server_name(ssl, sent) == 1 else { throw .takeLast("send a server name") }
    }
}
