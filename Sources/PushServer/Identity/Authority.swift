internal import PushBytes
internal import PushCrypto

/// The local authority, and the server certificate that it signs.
struct Authority {
    let certificate: Certificate
    /// Only when just made: otherwise it is read when there is something to sign.
    private let newKey: ES256PrivateKey?
    private static let remedy = "restore it, or delete \(LocalIdentity.File.authority.rawValue) to get a new authority"

    /// Clients were told to trust it: what exists but cannot be used is an error and never replaced in silence.
    static func open(in directory: borrowing IdentityDirectory, now: Int64) throws(IdentityError) -> Authority {
        guard let text = try directory.read(.authority) else { return try make(in: directory, now: now) }
        let certificate = try directory.attempt(.authority, remedy) { try Certificate(pem: text) }
        guard certificate.notAfter > now else { throw error(directory, .authority, "has run out") }
        _ = try directory.read(.authorityKey)  // closes it to others; understanding it takes longer, so not now
        return Authority(certificate: certificate, newKey: nil)
    }

    private func key(in directory: borrowing IdentityDirectory) throws(IdentityError) -> ES256PrivateKey {
        if let newKey { return newKey }
        guard let text = try directory.read(.authorityKey) else {
            throw Self.error(directory, .authorityKey, "is missing")
        }
        let key = try directory.attempt(.authorityKey, Self.remedy) { try ES256PrivateKey(pem: text) }
        guard certificate.belongs(to: key) else {
            throw Self.error(directory, .authorityKey, "belongs to another authority")
        }
        return key
    }

    /// The key first: a certificate without its key would count as damage, a key without certificate as nothing.
    private static func make(in directory: borrowing IdentityDirectory, now: Int64) throws(IdentityError) -> Authority {
        let (key, certificate) = try directory.attempt(.authority, "try again") {
            let key = try ES256PrivateKey()
            // The name differs for each authority, so that two in one trust store are told apart.
            let certificate = try CertificateMaker.authority(
                commonName: "LocalPush CA \(Hex.encode(SecureRandom.bytes(4)))", key: key, serial: serial(),
                notBefore: now - LocalIdentity.day, notAfter: now + LocalIdentity.authoritySeconds)
            return (key, certificate)
        }
        try directory.write(key.pem, to: .authorityKey)
        try directory.write(certificate.pem, to: .authority)
        return Authority(certificate: certificate, newKey: key)
    }

    /// The server's chain and key; unlike the authority they are replaced whenever they do not serve.
    func server(
        in directory: borrowing IdentityDirectory, names: [String], now: Int64
    ) throws(IdentityError) -> (chain: String, key: String) {
        let oldKey = try directory.read(.serverKey).flatMap { try? ES256PrivateKey(pem: $0) }
        if let key = oldKey, let chain = try directory.read(.server), serves(chain, key, names, now) {
            return (chain, key.pem)
        }
        let issuerKey = try self.key(in: directory)
        let (key, chain) = try directory.attempt(.server, "try again") {
            let key = try oldKey ?? ES256PrivateKey()
            let made = try CertificateMaker.server(
                names: names, key: key, issuer: certificate, issuerKey: issuerKey, serial: Self.serial(),
                notBefore: now - LocalIdentity.day,
                notAfter: min(now + LocalIdentity.serverSeconds, certificate.notAfter))
            return (key, made.pem + certificate.pem)
        }
        if oldKey == nil { try directory.write(key.pem, to: .serverKey) }
        try directory.write(chain, to: .server)
        return (chain, key.pem)
    }

    /// A provider's certificate and its key, made anew each time and kept nowhere here.
    func client(
        in directory: borrowing IdentityDirectory, purpose: PushExtensions, now: Int64
    ) throws(IdentityError) -> (certificate: Certificate, key: ES256PrivateKey) {
        let issuerKey = try self.key(in: directory)
        return try directory.attempt(.authority, "try again") {
            let key = try ES256PrivateKey()
            let made = try CertificateMaker.pushClient(
                purpose, key: key, issuer: certificate, issuerKey: issuerKey, serial: Self.serial(),
                notBefore: now - LocalIdentity.day,
                notAfter: min(now + LocalIdentity.serverSeconds, certificate.notAfter))
            return (made, key)
        }
    }

    private func serves(_ chain: String, _ key: ES256PrivateKey, _ names: [String], _ now: Int64) -> Bool {
        guard let server = try? Certificate(pem: chain), chain.hasSuffix(certificate.pem) else { return false }
        return server.belongs(to: key) && server.isIssued(by: certificate)
            && server.subjectAlternativeNames == names && server.notBefore <= now
            && server.notAfter - now > LocalIdentity.renewalSeconds
    }

    /// Sixteen random bytes, positive and not zero (RFC 5280 section 4.1.2.2).
    private static func serial() -> [UInt8] {
        var bytes = SecureRandom.bytes(16)
        bytes[0] = bytes[0] & 0x3F | 0x40
        return bytes
    }

    private static func error(
        _ directory: borrowing IdentityDirectory, _ file: LocalIdentity.File, _ problem: String
    ) -> IdentityError {
        IdentityError(path: directory.path(of: file.rawValue), problem: problem, remedy: remedy)
    }
}
