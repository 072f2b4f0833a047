internal import CPushOpenSSL

/// Why TLS could not go on. It holds no secrets and no payload.
package struct TLSError: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The peer speaks HTTP without TLS: somebody wrote `http://` where `https://` was due, or the other way round.
        case plainHTTP
        /// The first bytes are no TLS record.
        case notTLS
        /// The peer's certificate leads to no trusted authority, is out of date, …: OpenSSL's reason.
        case untrusted(String)
        /// The peer's certificate is good but names another host.
        case wrongHost
        /// A certificate or a private key that must be there is missing or unreadable.
        case noCertificate
        /// The peer ended the handshake with an alert, for instance since it does not trust our certificate.
        case refusedByPeer(String)
        /// The peer broke the protocol, or nothing can be agreed on.
        case protocolViolation
        /// The engine has failed or was closed before.
        case closed
        case other
    }

    package let kind: Kind
    /// What was being done, in OpenSSL's or our own words.
    package let operation: String
    /// OpenSSL's reason, or ours.
    package let reason: String

    package var description: String {
        switch kind {
        case .plainHTTP: "\(operation): the peer speaks plain HTTP, not TLS"
        case .notTLS: "\(operation): the peer does not speak TLS (\(reason))"
        case .untrusted(let why): "\(operation): the certificate is not trusted: \(why)"
        case .wrongHost: "\(operation): the certificate is for another host (\(reason))"
        case .refusedByPeer(let why): "\(operation): the peer refused: \(why)"
        case .noCertificate, .protocolViolation, .closed, .other: "\(operation): \(reason)"
        }
    }
}

extension TLSError {
    /// Takes the first entry of this thread's OpenSSL error queue and empties the queue.
    static func takeLast(_ operation: String, _ kind: Kind = .other) -> TLSError {
        TLSError(kind: kind, operation: operation, reason: takeReason().text)
    }

    static func takeReason() -> (code: Int32, text: String) {
        let packed = ERR_get_error()
        ERR_clear_error()
        guard packed != 0 else { return (0, "no reason given") }
        let text = ERR_reason_error_string(packed).map { String(cString: $0) } ?? "error \(packed)"
        return (isOfTLS(packed) ? ERR_GET_REASON(packed) : 0, text)
    }

    private static func isOfTLS(_ packed: UInt) -> Bool { ERR_GET_LIB(packed) == ERR_LIB_SSL }

    /// What a failed handshake or read means. `opening` are the first bytes the peer ever sent,
    /// empty once the handshake is done.
    static func classified(_ operation: String, verifyResult: Int, opening: [UInt8]) -> TLSError {
        let (code, reason) = takeReason()
        let kind: Kind
        switch code {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
            kind = .plainHTTP
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_UNKNOWN_PROTOCOL, SSL_R_BAD_RECORD_TYPE, SSL_R_LENGTH_TOO_SHORT,
            SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_RECORD_TOO_SMALL:
            kind = looksLikeHTTP(opening) ? .plainHTTP : looksLikeTLS(opening) ? .protocolViolation : .notTLS
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            kind = untrusted(verifyResult)
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, SSL_R_NO_CERTIFICATES_RETURNED:
            kind = .noCertificate
        case 1000...1255:
            // SSL_AD_REASON_OFFSET + the number of the alert that the peer sent (RFC 8446 section 6).
            kind = .refusedByPeer(reason)
        case 0:
            kind = .other
        default:
            kind = looksLikeTLS(opening) ? .protocolViolation : .notTLS
        }
        return TLSError(kind: kind, operation: operation, reason: reason)
    }

    private static func untrusted(_ verifyResult: Int) -> Kind {
        switch Int32(truncatingIfNeeded: verifyResult) {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: return .wrongHost
        default: return .untrusted(String(cString: X509_verify_cert_error_string(verifyResult)))
        }
    }

    /// A TLS record starts with its type, 20 to 23, and the major version 3 (RFC 8446 section 5.1).
    /// Nothing noted: the handshake is over, so it was TLS.
    private static func looksLikeTLS(_ opening: [UInt8]) -> Bool {
        opening.isEmpty || (opening.count >= 2 && (20...23).contains(opening[0]) && opening[1] == 3)
    }

    /// OpenSSL itself knows only GET, HEAD, POST, PUT and CONNECT.
    private static func looksLikeHTTP(_ opening: [UInt8]) -> Bool {
        ["DELE", "PATC", "OPTI", "PRI ", "HTTP"].contains { $0.utf8.elementsEqual(opening) }
    }
}
