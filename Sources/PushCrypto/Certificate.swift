internal import CPushOpenSSL
internal import Glibc

/// An X.509 certificate that can be looked at.
// Sendable unchecked: the certificate is parsed from `der` in `init` and then only read; OpenSSL guards what it caches
// inside with its own locks.
package final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer
    package let der: [UInt8]

    /// - Throws: when `der` is not exactly one certificate.
    package init(der: [UInt8]) throws {
        ERR_clear_error()
        let (parsed, rest) = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            let parsed = d2i_X509(nil, &cursor, bytes.count)
            return (parsed, parsed == nil ? 0 : bytes.baseAddress! + bytes.count - cursor!)
        }
        guard let parsed else { throw CryptoError.takeLast("read a certificate") }
        guard rest == 0 else {
            X509_free(parsed)
            throw CryptoError("read a certificate", reason: "there are \(rest) bytes after it")
        }
        pointer = parsed
        self.der = der
    }

    /// Reads the first certificate in `pem`.
    package convenience init(pem: String) throws {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        defer { CRYPTO_free(bytes, "", 0) }
        let found = PEM.read(pem) { PEM_bytes_read_bio(&bytes, &count, nil, PEM_STRING_X509, $0, nil, nil) }
        guard found == 1 else { throw CryptoError.takeLast("read a certificate") }
        try self.init(der: Array(UnsafeBufferPointer(start: bytes, count: count)))
    }

    deinit { X509_free(pointer) }

    /// "BEGIN CERTIFICATE", ending with a newline.
    package var pem: String {
        guard let text = PEM.write({ PEM_write_bio_X509($0, pointer) }) else {
            preconditionFailure("a certificate in memory can be written")
        }
        return text
    }

    /// SHA-256 of the DER form, 32 bytes.
    package var fingerprint: [UInt8] { SHA256.digest(der) }

    /// The first common name of the subject.
    package var commonName: String? { subjectText(NID_commonName) }

    /// The first entry of this kind in the subject.
    func subjectText(_ kind: Int32) -> String? {
        let subject = X509_get_subject_name(pointer)
        let index = X509_NAME_get_index_by_NID(subject, kind, -1)
        guard index >= 0 else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)))
        defer { CRYPTO_free(text, "", 0) }
        guard count >= 0, let text else { return nil }
        return String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
    }

    /// The content of the first extension of this kind, named by its dotted number.
    func extensionValue(_ oid: String) -> [UInt8]? {
        guard let kind = OBJ_txt2obj(oid, 1) else { preconditionFailure("\(oid) is a dotted number") }
        defer { ASN1_OBJECT_free(kind) }
        let index = X509_get_ext_by_OBJ(pointer, kind, -1)
        guard index >= 0, let value = X509_EXTENSION_get_data(X509_get_ext(pointer, index)) else { return nil }
        return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value))))
    }

    /// Unix seconds.
    package var notBefore: Int64 { Self.seconds(X509_get0_notBefore(pointer)) }

    /// Unix seconds.
    package var notAfter: Int64 { Self.seconds(X509_get0_notAfter(pointer)) }

    /// DNS names as they stand there, and IP addresses as text ("127.0.0.1", "::1"); other kinds are left out.
    package var subjectAlternativeNames: [String] {
        guard let found = X509_get_ext_d2i(pointer, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(found)
        defer { GENERAL_NAMES_free(names) }
        return (0..<OPENSSL_sk_num(names)).compactMap { Self.text(OPENSSL_sk_value(names, $0)) }
    }

    /// True when `issuer` is named as the issuer here, may sign certificates, and its key made the signature.
    package func isIssued(by issuer: Certificate) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_issued(issuer.pointer, pointer) == X509_V_OK
            && X509_verify(pointer, X509_get0_pubkey(issuer.pointer)) == 1
    }

    /// True when `key` is the private half of the key in here.
    package func belongs(to key: ES256PrivateKey) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_private_key(pointer, key.handle.pointer) == 1
    }

    /// Checks RSASSA-PKCS1-v1_5 with SHA-1; false also when the certificate's key is not RSA.
    package func verifySHA1(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let key = X509_get_pubkey(pointer) else {
            ERR_clear_error()
            return false
        }
        let handle = KeyHandle(owning: key)
        return handle.isRSA() && handle.verify(signature, of: message, .sha1)
    }

    static func encode(_ certificate: OpaquePointer) -> [UInt8] {
        let count = i2d_X509(certificate, nil)
        precondition(count > 0, "a certificate in memory can be written")
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, used in
            var cursor = buffer.baseAddress
            used = Int(i2d_X509(certificate, &cursor))
        }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return Int64(timegm(&parts))
    }

    private static func text(_ entry: UnsafeMutableRawPointer?) -> String? {
        guard let entry else { return nil }
        let name = entry.assumingMemoryBound(to: GENERAL_NAME.self)
        var kind: Int32 = 0
        guard let value = GENERAL_NAME_get0_value(name, &kind) else { return nil }
        let string = value.assumingMemoryBound(to: ASN1_STRING.self)
        let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string)))
        switch kind {
        case GEN_DNS: return String(decoding: bytes, as: UTF8.self)
        case GEN_IPADD: return address(bytes)
        default: return nil
        }
    }

    private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes.baseAddress, &text, socklen_t(text.count)) != nil else { return nil }
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
}
