internal import CPushOpenSSL

/// Makes the certificates of a local push service. Time and serial number are arguments, so results can be repeated
/// up to the randomness of the signature.
package enum CertificateMaker {
    /// An authority that signs servers and nothing below it (path length 0).
    package static func authority(
        commonName: String, key: ES256PrivateKey, serial: [UInt8], notBefore: Int64, notAfter: Int64
    ) throws -> Certificate {
        let draft = try Draft(commonName, key.handle, serial, notBefore, notAfter)
        return try draft.signed(
            [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ], issuer: nil, key: key.handle)
    }

    /// A TLS server.
    ///
    /// - Parameter names: DNS names, also with a leading `*.`, and IP addresses; the first is the common name too.
    ///   At least one.
    /// - Throws: when a name has characters that no host name or address has, or OpenSSL refuses.
    package static func server(
        names: [String], key: ES256PrivateKey, issuer: Certificate, issuerKey: ES256PrivateKey, serial: [UInt8],
        notBefore: Int64, notAfter: Int64
    ) throws -> Certificate {
        let alternatives = try names.map(alternativeName).joined(separator: ",")
        guard let first = names.first else { throw CryptoError("make a certificate", reason: "it names no host") }
        let draft = try Draft(first, key.handle, serial, notBefore, notAfter)
        return try draft.signed(
            [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"),
                (NID_subject_key_identifier, "hash"),
                (NID_authority_key_identifier, "keyid:always"),
                (NID_subject_alt_name, alternatives),
            ], issuer: issuer, key: issuerKey.handle)
    }

    /// The identity of a device: signed by itself, trusted by nobody.
    package static func selfSigned(
        commonName: String, key: RSAPrivateKey, serial: [UInt8], notBefore: Int64, notAfter: Int64
    ) throws -> Certificate {
        let draft = try Draft(commonName, key.handle, serial, notBefore, notAfter)
        return try draft.signed(
            [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature,keyEncipherment"),
                (NID_ext_key_usage, "clientAuth"),
            ], issuer: nil, key: key.handle)
    }

    /// A provider's certificate as Apple gives them out, signed by a local authority.
    ///
    /// - Parameter purpose: its bundle id becomes the subject's `UID`; it must have one.
    package static func pushClient(
        _ purpose: PushExtensions, key: ES256PrivateKey, issuer: Certificate, issuerKey: ES256PrivateKey,
        serial: [UInt8], notBefore: Int64, notAfter: Int64
    ) throws -> Certificate {
        guard let bundle = purpose.bundle else {
            throw CryptoError("make a push certificate", reason: "it names no bundle id")
        }
        let kind = purpose.isForVoIP ? "VoIP Services" : "Apple Push Services"
        // A common name has at most 64 characters (RFC 5280, ub-common-name); the UID keeps all of it.
        let draft = try Draft(String("\(kind): \(bundle)".prefix(64)), key.handle, serial, notBefore, notAfter)
        try draft.nameUser(bundle)
        for (oid, der) in purpose.encoded { try draft.extend(oid, der) }
        return try draft.signed(
            [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "clientAuth"),
                (NID_subject_key_identifier, "hash"),
                (NID_authority_key_identifier, "keyid:always"),
            ], issuer: issuer, key: issuerKey.handle)
    }

    /// OpenSSL reads alternative names from one text with commas: nothing but a name may get in there.
    private static func alternativeName(_ name: String) throws -> String {
        let isClean = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "*"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        guard isClean, !name.isEmpty else {
            throw CryptoError("make a certificate", reason: "\"\(name)\" is no host name and no address")
        }
        guard let address = a2i_IPADDRESS(name) else {
            ERR_clear_error()
            guard !name.contains(":") else {
                throw CryptoError("make a certificate", reason: "\"\(name)\" is no host name and no address")
            }
            return "DNS:\(name)"
        }
        ASN1_OCTET_STRING_free(address)
        return "IP:\(name)"
    }
}

/// A certificate on its way to be signed.
private final class Draft {
    private let pointer: OpaquePointer

    init(_ commonName: String, _ key: KeyHandle, _ serial: [UInt8], _ notBefore: Int64, _ notAfter: Int64) throws {
        // RFC 5280 section 4.1.2.2: positive, at most 20 bytes.
        precondition((1...20).contains(serial.count) && serial[0] < 0x80, "a serial number is positive and short")
        precondition(serial.contains { $0 != 0 } && notBefore < notAfter, "a serial number is not zero, time runs on")
        ERR_clear_error()
        guard let made = X509_new() else { throw CryptoError.takeLast("make a certificate") }
        pointer = made
        let number = BN_bin2bn(serial, Int32(serial.count), nil)
        defer { BN_free(number) }
        let subject = X509_get_subject_name(made)
        let name = Array(commonName.utf8)
        guard X509_set_version(made, 2) == 1,  // 2 means version 3
            BN_to_ASN1_INTEGER(number, X509_get_serialNumber(made)) != nil,
            ASN1_TIME_set(X509_getm_notBefore(made), time_t(notBefore)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(made), time_t(notAfter)) != nil,
            X509_set_pubkey(made, key.pointer) == 1,
            X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, name, Int32(name.count), -1, 0) == 1
        else { throw CryptoError.takeLast("make a certificate") }
    }

    deinit { X509_free(pointer) }

    /// Puts `UID` into the subject, before the common name as Apple does.
    func nameUser(_ text: String) throws {
        let name = Array(text.utf8)
        let subject = X509_get_subject_name(pointer)
        guard X509_NAME_add_entry_by_NID(subject, NID_userId, MBSTRING_UTF8, name, Int32(name.count), 0, 0) == 1 else {
            throw CryptoError.takeLast("make a certificate")
        }
    }

    /// Adds an extension OpenSSL does not know.
    func extend(_ oid: String, _ der: [UInt8]) throws {
        let kind = OBJ_txt2obj(oid, 1)
        let content = ASN1_OCTET_STRING_new()
        defer {
            ASN1_OBJECT_free(kind)
            ASN1_OCTET_STRING_free(content)
        }
        guard kind != nil, ASN1_OCTET_STRING_set(content, der, Int32(der.count)) == 1,
            let made = X509_EXTENSION_create_by_OBJ(nil, kind, 0, content)
        else { throw CryptoError.takeLast("make a certificate extension") }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(pointer, made, -1) == 1 else { throw CryptoError.takeLast("make a certificate extension") }
    }

    /// `issuer` nil: by itself.
    func signed(
        _ extensions: [(kind: Int32, value: String)], issuer: Certificate?, key: KeyHandle
    ) throws -> Certificate {
        let issuerPointer = issuer?.pointer ?? pointer
        guard X509_set_issuer_name(pointer, X509_get_subject_name(issuerPointer)) == 1 else {
            throw CryptoError.takeLast("make a certificate")
        }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuerPointer, pointer, nil, nil, 0)
        for (kind, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
                throw CryptoError.takeLast("make a certificate extension")
            }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(pointer, made, -1) == 1 else {
                throw CryptoError.takeLast("make a certificate extension")
            }
        }
        guard X509_sign(pointer, key.pointer, Algorithm.sha256.handle) > 0 else {
            throw CryptoError.takeLast("sign a certificate")
        }
        return try Certificate(der: Certificate.encode(pointer))
    }
}
