internal import PushTLS

/// What a `PushDevice` is and whom it connects to.
public struct DeviceConfiguration: Sendable {
    /// Which authorities may have issued the server's certificate. It is always verified.
    public enum Trust: Sendable, Equatable {
        /// Those of the system.
        case system
        /// Those in this PEM text only.
        case authorities(pem: String)
        /// The system's and those in this PEM text.
        case systemAnd(pem: String)
    }

    /// The name sent in the TLS handshake (SNI). The certificate is compared with `host`, not with this.
    public enum ServerName: Sendable, Equatable {
        /// The host itself; none for a numeric address.
        case host
        /// `courier.sandbox.push.apple.com`: a server that goes by names then takes the device for the sandbox.
        case sandbox
        /// `courier.push.apple.com`
        case production
        case name(String)
    }

    /// A name or a numeric address. Default `127.0.0.1`.
    public var host = "127.0.0.1"
    /// Default 5223.
    public var port: UInt16 = 5223
    public var trust: Trust
    /// Default `.host`.
    public var serverName = ServerName.host
    /// A directory of this device's own for its key, token and messages; made with mode 0700 if it is not there.
    /// Default `nil`: everything is kept in memory, and each start is a new device.
    public var stateDirectory: String?
    /// Topics to listen to, as a rule bundle ids; each 1 to 255 bytes, at most 600.
    public var topics: [String]
    /// Common name of the device's certificate, 1 to 64 bytes. Default `localpush-device`.
    public var name = "localpush-device"
    public var timing = DeviceTiming()
    public var limits = DeviceLimits()

    public init(trust: Trust, topics: [String]) {
        self.trust = trust
        self.topics = topics
    }

    func check() throws(DeviceError) {
        guard !host.isEmpty, !host.utf8.contains(0) else { throw DeviceError(.configuration, "the host is empty") }
        guard (1...64).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw DeviceError(.configuration, "a device's name has 1 to 64 bytes")
        }
        guard limits.unconsumedMax > 0, limits.seenMax > 0 else {
            throw DeviceError(.configuration, "the limits of an inbox are at least 1")
        }
        if case .name(let serverName) = serverName {
            guard (1...255).contains(serverName.utf8.count), !serverName.utf8.contains(0) else {
                throw DeviceError(.configuration, "a server name has 1 to 255 bytes")
            }
        }
        try Self.check(topics)
    }

    static func check(_ topics: [String]) throws(DeviceError) {
        guard topics.count <= DeviceLimits.topicsMax else {
            throw DeviceError(.configuration, "a device listens to at most \(DeviceLimits.topicsMax) topics")
        }
        guard topics.allSatisfy({ (1...DeviceLimits.topicBytesMax).contains($0.utf8.count) }) else {
            throw DeviceError(.configuration, "a topic has 1 to \(DeviceLimits.topicBytesMax) bytes")
        }
        guard Set(topics).count == topics.count else {
            throw DeviceError(.configuration, "a topic is named twice")
        }
    }

    func makeServer() throws(DeviceError) -> DeviceConnection.Server {
        let trust: TLSTrust =
            switch trust {
            case .system: .system
            case .authorities(let pem): .authorities(pem: pem)
            case .systemAnd(let pem): .systemAnd(pem: pem)
            }
        let serverName: String? =
            switch serverName {
            case .host: nil
            case .sandbox: "courier.sandbox.push.apple.com"
            case .production: "courier.push.apple.com"
            case .name(let name): name
            }
        do throws(TLSError) {
            return try DeviceConnection.Server(host: host, port: port, serverName: serverName, trust: trust)
        } catch {
            throw DeviceError(.trust, error.description)
        }
    }
}
