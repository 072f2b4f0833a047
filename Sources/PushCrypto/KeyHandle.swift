internal import CPushOpenSSL

/// The one owner of an `EVP_PKEY`.
// Sendable unchecked: the key is complete when it gets here and never changed; OpenSSL guards the caches inside
// with its own locks.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    convenience init(privatePEM pem: String) throws {
        guard let key = PEM.read(pem, { PEM_read_bio_PrivateKey($0, nil, PEM.refusePassphrase, nil) }) else {
            throw CryptoError.takeLast("read a private key")
        }
        self.init(owning: key)
    }

    var privatePEM: String {
        let text = PEM.write { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
        guard let text else { preconditionFailure("a private key in memory can be written") }
        return text
    }

    var publicPEM: String {
        guard let text = PEM.write({ PEM_write_bio_PUBKEY($0, pointer) }) else {
            preconditionFailure("a public key in memory can be written")
        }
        return text
    }

    /// The public half alone, so that whoever gets it holds no secret.
    func publicHalf() -> KeyHandle {
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(pointer, &der)
        defer { CRYPTO_free(der, "", 0) }
        var cursor = UnsafePointer(der)
        guard count > 0, let key = d2i_PUBKEY(nil, &cursor, Int(count)) else {
            preconditionFailure("the public half of a key can be copied")
        }
        return KeyHandle(owning: key)
    }

    func isRSA() -> Bool { EVP_PKEY_is_a(pointer, "RSA") == 1 }

    /// An elliptic curve key on P-256, the only curve of ES256.
    func isP256() -> Bool {
        guard EVP_PKEY_is_a(pointer, "EC") == 1 else { return false }
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else { return false }
        return OBJ_txt2nid(name) == NID_X9_62_prime256v1
    }

    /// The signature as OpenSSL writes it: DER for elliptic curves, PKCS#1 v1.5 for RSA.
    func sign(_ message: [UInt8], _ algorithm: Algorithm) throws -> [UInt8] {
        ERR_clear_error()
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = 0
        guard EVP_DigestSignInit(context, nil, algorithm.handle, nil, pointer) == 1,
            EVP_DigestSign(context, nil, &count, message, message.count) == 1
        else { throw CryptoError.takeLast("sign") }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
            throw CryptoError.takeLast("sign")
        }
        signature.removeLast(signature.count - count)
        return signature
    }

    func verify(_ signature: [UInt8], of message: [UInt8], _ algorithm: Algorithm) -> Bool {
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, algorithm.handle, nil, pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
