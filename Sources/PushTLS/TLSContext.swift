internal import CPushOpenSSL

/// Which authorities a client believes.
package enum TLSTrust: Sendable, Equatable {
    /// Those of the system (OpenSSL's default paths, or `SSL_CERT_FILE` and `SSL_CERT_DIR`).
    case system
    /// Those in this PEM text, in place of the system's.
    case authorities(pem: String)
    /// The system's and those in this PEM text.
    case systemAnd(pem: String)
}

/// What all connections of one listener, or of one client, share: certificate, trust and protocols.
///
/// Configured once, then read by any number of engines. Whoever takes `opaqueHandle` keeps the context alive as long
/// as connections made from it live.
// Sendable unchecked: every stored value is set in `init` and never again; OpenSSL counts references to SSL_CTX
// under its own locks.
package final class TLSContext: @unchecked Sendable {
    /// The `SSL_CTX *`.
    package let opaqueHandle: OpaquePointer
    /// Our protocols as ALPN writes them: each a length byte and the name (RFC 7301 section 3.1).
    private let protocols: UnsafeMutableBufferPointer<UInt8>

    /// A server with TLS 1.2 and 1.3.
    ///
    /// - Parameters:
    ///   - pem: the server's certificate first, then those that lead to the authority.
    ///   - privateKey: PEM, unencrypted, belonging to the first certificate.
    ///   - applicationProtocols: the first of them that a client offers is chosen. A client that offers none, or only
    ///     others, is accepted with none chosen.
    ///   - requestsClientCertificate: ask for one and accept any or none; `TLSEngine.peerCertificate` shows it.
    /// - Throws: `.noCertificate` when a PEM text is unusable or the key belongs to another certificate.
    package static func server(
        certificateChain pem: String, privateKey: String, applicationProtocols: [String],
        requestsClientCertificate: Bool = false
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(method: TLS_server_method(), applicationProtocols)
        try context.useIdentity(certificateChain: pem, privateKey: privateKey)
        // Resumption would cost each idle connection its session state; a full handshake with P-256 is cheap enough.
        cpush_ctx_keep_no_sessions(context.opaqueHandle)
        SSL_CTX_set_num_tickets(context.opaqueHandle, 0)
        context.chooseProtocols()
        if requestsClientCertificate {
            SSL_CTX_set_verify(context.opaqueHandle, SSL_VERIFY_PEER, nil)
            SSL_CTX_set_cert_verify_callback(context.opaqueHandle, { _, _ in 1 }, nil)
        }
        return context
    }

    /// A client with TLS 1.2 and 1.3; the server's chain and host name are always verified.
    ///
    /// - Parameters:
    ///   - certificateChain: a certificate to present when the server asks, with its `privateKey`; default none.
    /// - Throws: `.noCertificate` when a PEM text is unusable.
    package static func client(
        trust: TLSTrust, applicationProtocols: [String], certificateChain: String? = nil, privateKey: String? = nil
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(method: TLS_client_method(), applicationProtocols)
        SSL_CTX_set_verify(context.opaqueHandle, SSL_VERIFY_PEER, nil)
        try context.believe(trust)
        if let certificateChain, let privateKey {
            try context.useIdentity(certificateChain: certificateChain, privateKey: privateKey)
        }
        if context.protocols.count > 0 {
            let refused = SSL_CTX_set_alpn_protos(
                context.opaqueHandle, context.protocols.baseAddress, UInt32(context.protocols.count))
            guard refused == 0 else { throw .takeLast("set application protocols") }
        }
        return context
    }

    private init(method: OpaquePointer?, _ names: [String]) throws(TLSError) {
        ERR_clear_error()
        guard let handle = SSL_CTX_new(method) else { throw .takeLast("make a TLS context") }
        opaqueHandle = handle
        var list: [UInt8] = []
        for name in names {
            precondition((1...255).contains(name.utf8.count), "a protocol name has 1 to 255 bytes")
            list.append(UInt8(name.utf8.count))
            list.append(contentsOf: name.utf8)
        }
        protocols = .allocate(capacity: list.count)
        _ = protocols.initialize(from: list)
        cpush_ctx_release_buffers(handle)
        cpush_ctx_set_options(handle)
        // AES-128 first: it is the fastest one on processors with AES instructions.
        guard cpush_ctx_require_tls12(handle) == 1,
            SSL_CTX_set_ciphersuites(
                handle, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") == 1
        else { throw .takeLast("configure a TLS context") }
    }

    deinit {
        SSL_CTX_free(opaqueHandle)
        protocols.deallocate()
    }

    /// For tests: how an old peer looks. Before the first engine only.
    func limitToTLS12() { cpush_ctx_limit_to_tls12(opaqueHandle) }

    private func useIdentity(certificateChain: String, privateKey: String) throws(TLSError) {
        let chain = try Self.certificates(in: certificateChain)
        defer { chain.forEach { X509_free($0) } }
        guard SSL_CTX_use_certificate(opaqueHandle, chain[0]) == 1 else {
            throw .takeLast("use the certificate", .noCertificate)
        }
        for authority in chain.dropFirst() {
            guard cpush_ctx_add_chain(opaqueHandle, authority) == 1 else { throw .takeLast("use the chain") }
        }
        let key = withMemoryBIO(privateKey) { PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }
        guard let key else { throw .takeLast("read the private key", .noCertificate) }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(opaqueHandle, key) == 1 else {
            throw .takeLast("use the private key", .noCertificate)
        }
    }

    private func believe(_ trust: TLSTrust) throws(TLSError) {
        let pem: String?
        switch trust {
        case .system: pem = nil
        case .authorities(let text), .systemAnd(let text): pem = text
        }
        if case .authorities = trust {
        } else if SSL_CTX_set_default_verify_paths(opaqueHandle) != 1 {
            throw .takeLast("read the system's authorities")
        }
        guard let pem else { return }
        for authority in try Self.certificates(in: pem) {
            X509_STORE_add_cert(SSL_CTX_get_cert_store(opaqueHandle), authority)
            X509_free(authority)
        }
    }

    /// At least one; the caller frees them.
    private static func certificates(in pem: String) throws(TLSError) -> [OpaquePointer] {
        ERR_clear_error()
        let found = withMemoryBIO(pem) { bio in
            var found: [OpaquePointer] = []
            while let certificate = PEM_read_bio_X509(bio, nil, refusePassphrase, nil) { found.append(certificate) }
            return found
        }
        guard !found.isEmpty else { throw .takeLast("read certificates", .noCertificate) }
        ERR_clear_error()  // reading ends with "no start line"
        return found
    }

    private func chooseProtocols() {
        guard protocols.count > 0 else { return }
        // The context outlives the callback: engines hold it, and so must other users of the handle.
        SSL_CTX_set_alpn_select_cb(
            opaqueHandle,
            { _, chosen, length, offered, offeredCount, context in
                let context = Unmanaged<TLSContext>.fromOpaque(context!).takeUnretainedValue()
                return context.select(chosen!, length!, offered, offeredCount)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func select(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ length: UnsafeMutablePointer<UInt8>,
        _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32
    ) -> Int32 {
        var match: UnsafeMutablePointer<UInt8>?
        let found = SSL_select_next_proto(
            &match, length, protocols.baseAddress, UInt32(protocols.count), offered, offeredCount)
        guard found == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_NOACK }
        chosen.pointee = UnsafePointer(match)  // points into `protocols`
        return SSL_TLSEXT_ERR_OK
    }
}

/// Lends a copy of `text` to OpenSSL as a readable BIO.
private func withMemoryBIO<Result>(_ text: String, _ body: (OpaquePointer) -> Result) -> Result {
    var copy = text
    return copy.withUTF8 { bytes in
        guard let bio = BIO_new(BIO_s_mem()) else { fatalError("memory for a BIO") }
        defer { BIO_free(bio) }
        BIO_write(bio, bytes.baseAddress, Int32(bytes.count))
        return body(bio)
    }
}

/// Without it OpenSSL would ask on the terminal.
private let refusePassphrase:
    @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?)
        -> Int32 = { _, _, _, _ in -1 }
