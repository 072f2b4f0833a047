/// Why a push got no answer. An answer that says no is an `APNsResponse`, not an error.
public struct APNsError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable, Equatable {
        /// The configuration cannot work: unusable key, key id, team, certificate text or host.
        case badConfiguration
        /// The push holds what HTTP cannot carry, such as a line break in a field.
        case badRequest
        /// Nobody answers at that address, or not in time.
        case cannotConnect
        /// TLS failed, for instance since the server's certificate is not trusted.
        case insecure
        /// The server does not speak HTTP/2, or broke its rules.
        case protocolViolation
        /// The server told the connection to go away, and the one retry did not help; the text names its reason.
        case goneAway
        /// The server ended this push's stream without an answer.
        case streamReset
        /// The connection broke after the push went out: it may or may not have been accepted.
        case connectionLost
        /// No answer within the request deadline: it may or may not have been accepted.
        case timedOut
        /// More pushes wait than `sendsMax`; this one was not looked at.
        case queueFull
        /// `shutdown` was called.
        case shutDown
    }

    public let kind: Kind
    /// What happened, in one sentence. Holds no key, device token or payload.
    public let message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
