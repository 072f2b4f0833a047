/// What nghttp2 refused, with its own code and words.
///
/// Thrown by `receive` and `drain` when the connection cannot go on; whoever gets it drains once more (a GOAWAY may
/// wait to go out) and closes the connection.
package struct HTTP2Error: Error, CustomStringConvertible {
    /// nghttp2's code (negative), or one of the constants below.
    package let code: Int32
    /// One sentence in English; it never holds bytes of the peer.
    package let reason: String

    package init(code: Int32, reason: String) {
        self.code = code
        self.reason = reason
    }

    package var description: String { "HTTP/2: \(reason) (\(code))" }

    /// The peer sends requests and never reads what we answer.
    package static let peerDoesNotRead: Int32 = -1000
    /// The peer opened more streams than it had been told, and had acknowledged. Whole requests that came before are
    /// still to be taken with `nextEvent` and may be answered; nothing more can be received.
    package static let tooManyStreams: Int32 = -1001
    /// The peer's first bytes are not those of HTTP/2.
    package static let notHTTP2: Int32 = -903
}

/// Error codes that travel in RST_STREAM and GOAWAY (RFC 9113, section 7).
package enum HTTP2ErrorCode {
    package static let noError: UInt32 = 0x0
    package static let protocolError: UInt32 = 0x1
    package static let internalError: UInt32 = 0x2
    package static let refusedStream: UInt32 = 0x7
    package static let cancel: UInt32 = 0x8
    package static let enhanceYourCalm: UInt32 = 0xb
}
