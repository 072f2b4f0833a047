/// Where a server listens, where it keeps its state, and how it behaves. The defaults suit a developer's machine.
public struct LocalPushConfiguration: Sendable {
    /// Address to listen on. Default `127.0.0.1`: nothing beyond this machine.
    public var host = "127.0.0.1"
    /// APNs provider API, HTTP/2 over TLS. Default 2197; 0 picks a free port.
    public var apnsPort: UInt16 = 2197
    /// Management of broadcast channels, HTTP/2 over TLS: a port for each environment. Default 2195 and 2196; 0 picks a
    /// free port.
    public var broadcastPorts = BroadcastPorts(sandbox: 2195, production: 2196)
    /// Apple's device protocol over TLS. Default 5223; 0 picks a free port.
    public var courierPort: UInt16 = 5223
    /// Control API in clear. Default 7580; 0 picks a free port.
    public var httpPort: UInt16 = 7580
    /// Control API over TLS. Default 7543; 0 picks a free port.
    public var httpsPort: UInt16 = 7543
    /// Directory of the certificates, keys and the store; made when missing, readable by its owner only.
    /// Default `.localpush` in the current directory.
    public var dataDirectory = ".localpush"
    /// Keep pushes, devices and tokens in a temporary store that is gone at the end. The certificates stay in the data
    /// directory all the same, since clients must be able to trust them. Default false.
    public var isEphemeral = false
    /// What an accepted push survives. Default the end of the process.
    public var durability = Durability.process
    /// Makes tokens and ids reproducible, in an ephemeral server only. Default `nil`: random.
    public var seed: UInt64?
    /// Environment of clients that connect to a local name or an address. Default sandbox.
    public var environment = Environment.sandbox
    /// The preset of all rules. Default lenient.
    public var profile = Profile.lenient
    /// Rules set by name on top of the profile, as in `["connection.streamsBeforeToken": "1"]`; `LocalPushSetting.all`
    /// lists them. Default none.
    public var settings: [String: String] = [:]
    /// How devices show who they are. Default proof: a certificate and a signature.
    public var deviceIdentity = DeviceIdentity.proof
    /// An additional signing key: path of a `.p8` file (or a public key in PEM), key id and team id.
    public var signingKey: SigningKey?
    /// Accept provider tokens of unknown keys without checking the signature. Default false.
    public var trustsAnyKey = false
    /// Make the app and a virtual device for well-formed tokens nobody has seen. Default false.
    public var registersUnknownTokens = false
    /// Places of the journal that are kept, pushes and events together. Older ones that have ended are forgotten while
    /// the server has little to do, and with every turn once there are twice as many. Default one million, some 400 MB
    /// on disk. At least 1.
    public var historyMax: Int64 = 1_000_000
    /// When set, the control API wants it as a bearer token. Default `nil`: open on this machine.
    public var controlToken: String?
    /// Open waits, long polls and event streams together; beyond, the control API answers 429. Default 1000: more than
    /// a test suite has, and few enough that looking at each after every turn costs little. For tests.
    package var waitsMax = 1000

    public init() {}

    /// Where channels are managed, as at Apple a port for each environment.
    public struct BroadcastPorts: Sendable, Equatable {
        public var sandbox: UInt16
        public var production: UInt16

        public init(sandbox: UInt16, production: UInt16) {
            self.sandbox = sandbox
            self.production = production
        }
    }

    /// What a 200 promises.
    public enum Durability: String, Sendable, CaseIterable {
        /// The push survives the end of the server's process, kill -9 included.
        case process
        /// The push survives the loss of power.
        case disk
    }

    /// Apple's two services.
    public enum Environment: String, Sendable, CaseIterable {
        case sandbox, production
    }

    /// A preset of rules.
    public enum Profile: String, Sendable, CaseIterable {
        /// The real answers and storage rules, no quotas.
        case lenient
        /// All of it as Apple does: limits of streams, quotas and delays included.
        case faithful
        /// As lenient, and everything is stored in order, so that a test sees each push.
        case ideal
    }

    /// How a device connection is matched with a device.
    public enum DeviceIdentity: String, Sendable, CaseIterable {
        /// By its base token alone.
        case open
        /// By its certificate and a fresh signature.
        case proof
    }

    /// A provider's signing key, as downloaded from Apple.
    public struct SigningKey: Sendable {
        public var path: String
        /// Ten characters; the `kid` of provider tokens.
        public var keyID: String
        /// Ten characters; the `iss` of provider tokens.
        public var team: String

        public init(path: String, keyID: String, team: String) {
            self.path = path
            self.keyID = keyID
            self.team = team
        }
    }
}

/// The team, key and app every new data directory starts with.
public enum LocalPushDefaults {
    public static let team = "LOCALTEAM1"
    public static let keyID = "LOCALPUSH1"
    public static let bundle = "com.example.app"
}

/// Where a server is ready: the line `serve` prints.
public struct LocalPushReady: Sendable {
    /// `host:port` of the provider API.
    public internal(set) var apns = ""
    /// `host:port` of channel management in the sandbox.
    public internal(set) var sandboxBroadcast = ""
    /// `host:port` of channel management in production.
    public internal(set) var productionBroadcast = ""
    /// `host:port` of the device protocol.
    public internal(set) var courier = ""
    /// URL of the control API in clear.
    public internal(set) var http = ""
    /// URL of the control API over TLS.
    public internal(set) var https = ""
    /// Path of the certificate authority, PEM.
    public internal(set) var authorityPath = ""
    /// Path of the signing key every server starts with, and whose it is.
    public internal(set) var keyPath = ""
    public internal(set) var keyID = LocalPushDefaults.keyID
    public internal(set) var team = LocalPushDefaults.team
}

/// Why a server cannot start. One line that names the thing and the remedy.
public enum LocalPushError: Error, CustomStringConvertible {
    case cannotListen(String, option: String)
    case identity(String)
    case store(String)
    case signingKey(String)
    case setting(String)
    case loop(String)

    public var description: String {
        switch self {
        case .cannotListen(let what, let option):
            "\(what): stop what uses it, or choose another with \(option) (0 picks a free one)"
        case .identity(let what), .store(let what), .signingKey(let what), .setting(let what), .loop(let what): what
        }
    }
}
