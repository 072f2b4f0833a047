internal import CPushOpenSSL

/// An RSA key with which a device proves its identity to the courier.
package final class RSAPrivateKey: Sendable {
    let handle: KeyHandle

    /// A new key of `bits` (default 2048; 1024 to 8192). Takes tens of milliseconds and more.
    package init(bits: Int = 2048) throws {
        precondition((1024...8192).contains(bits), "an RSA key has 1024 to 8192 bits")
        ERR_clear_error()
        guard let key = cpush_generate_rsa(UInt32(bits)) else { throw CryptoError.takeLast("make an RSA key") }
        handle = KeyHandle(owning: key)
    }

    /// Reads PKCS#8 or PKCS#1, not encrypted.
    package init(pem: String) throws {
        handle = try KeyHandle(privatePEM: pem)
        guard handle.isRSA() else { throw CryptoError("read a private key", reason: "not an RSA key") }
    }

    /// PKCS#8, not encrypted.
    package var pem: String { handle.privatePEM }

    /// RSASSA-PKCS1-v1_5 with SHA-1 (RFC 8017 section 8.2), as the courier protocol asks.
    package func signSHA1(_ message: [UInt8]) throws -> [UInt8] { try handle.sign(message, .sha1) }
}
