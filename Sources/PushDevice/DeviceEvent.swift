/// What happens to a device's connection, for status lines and tests.
public enum DeviceEvent: Sendable, Equatable {
    /// A connection is being made.
    case connecting
    /// The server has accepted the device and knows its topics.
    case connected
    /// The connection is gone or was never made; `nil` for `retryIn` means for good.
    case disconnected(DisconnectReason, retryIn: Duration?)
    /// The app's token, 64 hex digits: what a provider addresses. Comes again after every reconnect.
    case token(topic: String, token: String)
    /// The server gives no token for this topic; it is asked again after the next reconnect.
    case tokenRefused(topic: String, status: Int)
    /// The server has taken note of a subscription; its broadcasts come as messages. Comes again after every reconnect.
    case subscribed(channel: String)
    /// The server knows no such channel for this topic in its environment; it is asked again after the next reconnect.
    /// Status 0: the device has `DeviceLimits.channelsMax` already and did not ask.
    case subscriptionRefused(channel: String, status: Int)
    /// The app has left `DeviceLimits.unconsumedMax` messages unacknowledged; no more are taken until it catches up.
    case inboxFull
}

/// Why a connection ended.
public struct DisconnectReason: Sendable, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// The server closed in order (close_notify or FIN).
        case closedByServer
        /// Reset, unreachable, refused by the kernel, name not found, or a time limit while connecting.
        case connectionFailed
        /// The server's certificate does not lead to a trusted authority.
        case untrusted
        /// The server's certificate is for other names.
        case wrongHostName
        /// The peer speaks something else, or breaks the rules of TLS or of the frames.
        case protocolViolation
        /// The server turned the device away.
        case refused
        /// No answer to the first frame.
        case noResponse
        /// No answer to a keep-alive.
        case keepAliveUnanswered
        /// A message could not be written to the state directory, so it was not acknowledged.
        case storageFailed
        /// The inbox has room again: the device comes back to fetch what it had to leave.
        case catchingUp
        /// `stop()` was called.
        case stopped
    }

    public let kind: Kind
    /// For people; never holds a token, a key or a payload.
    public let detail: String

    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    public var description: String { "\(kind.rawValue): \(detail)" }
}
