/// Why a call on a device failed.
public struct DeviceError: Error, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// A name, topic or limit in the configuration cannot be.
        case configuration
        /// The state directory cannot be made, read or written, or is in use by another device.
        case stateDirectory
        /// The trusted certificates cannot be read.
        case trust
        /// No answer in time.
        case timedOut
        /// The server is not the one to be trusted, or refuses the token.
        case refused
        /// The device is stopped, or was never started.
        case stopped
        /// The system has no threads or descriptors left.
        case system
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
