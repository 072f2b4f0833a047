internal import CPushOpenSSL

/// The one owner of an `EVP_PKEY`.
// Sendable unchecked: the key is complete when it gets here and never changed; OpenSSL guards the caches inside
// with its own locks.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// Any kind of private key.
    convenience init(privatePEM pem: String) throws {
        guard let key = PEM.read(pem, { PEM_read_bio_PrivateKey($0, nil, PEM.refusePassphrase, nil) }) else {
            throw CryptoError.takeLast("read a private key")
        }
        self.init(owning: key)
    }

    /// A private key that is most likely one on an elliptic curve.
    convenience init(likelyCurvePEM pem: String) throws {
        if let key = Self.decodeCurve(pem) {
            self.init(owning: key)
        } else {
            try self.init(privatePEM: pem)
        }
    }

    /// OpenSSL 3.0 takes a millisecond to choose among all its decoders, and a quarter of it when told the kind.
    private static func decodeCurve(_ pem: String) -> OpaquePointer? {
        defer { ERR_clear_error() }
        var key: OpaquePointer?
        guard let decoder = OSSL_DECODER_CTX_new_for_pkey(&key, "PEM", nil, "EC", cpush_select_key_pair, nil, nil)
        else {
            return nil
        }
        defer { OSSL_DECODER_CTX_free(decoder) }
        _ = PEM.read(pem) { OSSL_DECODER_from_bio(decoder, $0) }
        // Parameters or a public key alone may have been found.
        var secret: OpaquePointer?
        defer { BN_clear_free(secret) }
        guard key != nil, EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &secret) == 1 else {
            EVP_PKEY_free(key)
            return nil
        }
        return key
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
        var parameters: UnsafeMutablePointer<OSSL_PARAM>?
        let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil)
        defer {
            OSSL_PARAM_free(parameters)
            EVP_PKEY_CTX_free(context)
        }
        var key: OpaquePointer?
        guard EVP_PKEY_todata(pointer, cpush_select_public_key, &parameters) == 1, EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, cpush_select_public_key, parameters) == 1, let key
        else { preconditionFailure("the public half of a key can be copied") }
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
