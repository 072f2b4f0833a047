internal import CPushOpenSSL

/// The private key of ES256 (ECDSA with P-256 and SHA-256, RFC 7518 section 3.4).
package final class ES256PrivateKey: Sendable {
    let handle: KeyHandle
    package let publicKey: ES256PublicKey

    /// A new key.
    package init() throws {
        ERR_clear_error()
        guard let key = cpush_generate_p256() else { throw CryptoError.takeLast("make a P-256 key") }
        handle = KeyHandle(owning: key)
        publicKey = ES256PublicKey(handle.publicHalf())
    }

    /// Reads PKCS#8 ("BEGIN PRIVATE KEY", as in a `.p8` file) or SEC1 ("BEGIN EC PRIVATE KEY"), not encrypted.
    package init(pem: String) throws {
        handle = try KeyHandle(likelyCurvePEM: pem)
        guard handle.isP256() else { throw CryptoError("read a private key", reason: "not a P-256 key") }
        publicKey = ES256PublicKey(handle.publicHalf())
    }

    /// PKCS#8, not encrypted.
    package var pem: String { handle.privatePEM }

    /// The signature as JSON Web Tokens carry it: r and s, 32 bytes each.
    package func sign(_ message: [UInt8]) throws -> [UInt8] {
        let der = try handle.sign(message, .sha256)
        guard let raw = ECDSASignature.raw(der: der) else { throw CryptoError.takeLast("sign") }
        return raw
    }
}

/// The public key of ES256.
package final class ES256PublicKey: Sendable {
    private let handle: KeyHandle

    fileprivate init(_ handle: KeyHandle) { self.handle = handle }

    /// Reads "BEGIN PUBLIC KEY"; takes the public half when given a private key.
    package init(pem: String) throws {
        let key: KeyHandle
        if let found = PEM.read(pem, { PEM_read_bio_PUBKEY($0, nil, PEM.refusePassphrase, nil) }) {
            key = KeyHandle(owning: found)
        } else {
            key = try KeyHandle(likelyCurvePEM: pem).publicHalf()
        }
        guard key.isP256() else { throw CryptoError("read a public key", reason: "not a P-256 key") }
        handle = key
    }

    package var pem: String { handle.publicPEM }

    /// Takes a signature of exactly 64 bytes as r and s first, and anything else, or one that fails so, as DER.
    package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        if signature.count == 64, let der = ECDSASignature.der(raw: signature),
            handle.verify(der, of: message, .sha256)
        {
            return true
        }
        return handle.verify(signature, of: message, .sha256)
    }
}

/// The two spellings of an ECDSA signature on P-256.
enum ECDSASignature {
    static func raw(der: [UInt8]) -> [UInt8]? {
        let parsed = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &cursor, bytes.count)
        }
        guard let parsed else { return nil }
        defer { ECDSA_SIG_free(parsed) }
        let raw = [UInt8](unsafeUninitializedCapacity: 64) { buffer, used in
            guard BN_bn2binpad(ECDSA_SIG_get0_r(parsed), buffer.baseAddress, 32) == 32,
                BN_bn2binpad(ECDSA_SIG_get0_s(parsed), buffer.baseAddress! + 32, 32) == 32
            else { return }
            used = 64
        }
        return raw.count == 64 ? raw : nil
    }

    static func der(raw: [UInt8]) -> [UInt8]? {
        precondition(raw.count == 64, "r and s have 32 bytes each")
        guard let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        raw.withUnsafeBufferPointer { bytes in
            let r = BN_bin2bn(bytes.baseAddress, 32, nil)
            let s = BN_bin2bn(bytes.baseAddress! + 32, 32, nil)
            precondition(r != nil && s != nil, "memory for two numbers of 32 bytes")
            ECDSA_SIG_set0(signature, r, s)  // takes both over
        }
        let count = i2d_ECDSA_SIG(signature, nil)
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, used in
            var cursor = buffer.baseAddress
            used = Int(i2d_ECDSA_SIG(signature, &cursor))
        }
    }
}
