/// Where an `APNsClient` sends, whom it trusts there and who it says it is.
public struct APNsConfiguration: Sendable {
    /// Which authorities may vouch for the server. Verification cannot be turned off.
    public enum Trust: Sendable, Equatable {
        /// Those the system trusts.
        case system
        /// Those in this PEM text, in place of the system's: how a LocalPush server is trusted.
        case authorities(pem: String)
    }

    /// A provider authentication key as Apple's developer site gives it out.
    public struct TokenCredentials: Sendable, CustomStringConvertible {
        /// The text of the .p8 file.
        public var privateKeyPEM: String
        /// The key's id, ten characters.
        public var keyID: String
        /// The team's id, ten characters.
        public var teamID: String

        public init(privateKeyPEM: String, keyID: String, teamID: String) {
            self.privateKeyPEM = privateKeyPEM
            self.keyID = keyID
            self.teamID = teamID
        }

        /// Names the key, never shows it.
        public var description: String { "key \(keyID) of team \(teamID)" }
    }

    /// Name or address to connect to.
    public var host: String
    /// Default 443.
    public var port: UInt16
    /// Name asked for in TLS and in `:authority`, when it differs from `host`. Default nil.
    public var serverName: String?
    /// Default `.system`.
    public var trust: Trust
    public var credentials: TokenCredentials
    /// Time from `send` to an answer, waiting included; then the push fails with `.timedOut`. Default 10 seconds.
    public var requestDeadline: Duration = .seconds(10)
    /// Time for connecting, TLS and the server's first SETTINGS. Default 5 seconds.
    public var connectDeadline: Duration = .seconds(5)
    /// Pushes that may wait or be under way at a time; one more fails with `.queueFull`. Default 10,000, some ten
    /// seconds' worth at the rate one connection takes.
    public var sendsMax = 10_000

    public init(
        host: String, port: UInt16 = 443, serverName: String? = nil, trust: Trust = .system,
        credentials: TokenCredentials
    ) {
        self.host = host
        self.port = port
        self.serverName = serverName
        self.trust = trust
        self.credentials = credentials
    }

    /// Apple's production environment.
    public static func production(_ credentials: TokenCredentials) -> APNsConfiguration {
        APNsConfiguration(host: "api.push.apple.com", credentials: credentials)
    }

    /// Apple's development environment.
    public static func sandbox(_ credentials: TokenCredentials) -> APNsConfiguration {
        APNsConfiguration(host: "api.sandbox.push.apple.com", credentials: credentials)
    }

    /// A LocalPush server on this machine, trusted by its own authority.
    public static func local(
        authorityPEM: String, port: UInt16 = 2197, credentials: TokenCredentials
    ) -> APNsConfiguration {
        APNsConfiguration(
            host: "127.0.0.1", port: port, trust: .authorities(pem: authorityPEM), credentials: credentials)
    }

    /// What goes into `:authority`.
    var authority: String {
        let name = serverName ?? (host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host)
        return port == 443 ? name : "\(name):\(port)"
    }
}
