/// One push: what travels in the request beside the device token.
///
/// Nothing is checked here but what HTTP itself forbids; the service judges the rest and its answer names the mistake.
public struct APNsNotification: Sendable, Equatable {
    /// How the push is delivered; the service knows eleven kinds.
    public struct PushType: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public init(stringLiteral value: String) { rawValue = value }

        public static let alert: PushType = "alert"
        public static let background: PushType = "background"
        public static let location: PushType = "location"
        public static let voip: PushType = "voip"
        public static let complication: PushType = "complication"
        public static let fileProvider: PushType = "fileprovider"
        public static let mdm: PushType = "mdm"
        public static let liveActivity: PushType = "liveactivity"
        public static let pushToTalk: PushType = "pushtotalk"
        public static let widgets: PushType = "widgets"
        public static let controls: PushType = "controls"
    }

    /// How urgent the push is.
    public enum Priority: Int, Sendable {
        /// Power considerations come before everything else.
        case low = 1
        /// Power considerations on the device may delay it.
        case considerate = 5
        /// At once.
        case immediate = 10
    }

    /// The JSON body, as bytes of UTF-8. The service takes 4096, or 5120 for VoIP.
    public var payload: [UInt8]
    /// The app's bundle identifier, with the suffix its push type asks for.
    public var topic: String
    /// Default `.alert`. Nil sends no `apns-push-type`.
    public var pushType: PushType?
    /// Default nil: not sent, and the service takes 10.
    public var priority: Priority?
    /// Unix time in seconds up to which the service may keep the push; 0: try once. Default nil: the service decides.
    public var expirationSeconds: Int64?
    /// A later push with the same id replaces an earlier one not yet delivered. At most 64 bytes. Default nil.
    public var collapseID: String?
    /// The push's own id, a UUID in text form. Default nil: the service makes one and tells it in its answer.
    public var apnsID: String?

    public init(
        payload: [UInt8], topic: String, pushType: PushType? = .alert, priority: Priority? = nil,
        expirationSeconds: Int64? = nil, collapseID: String? = nil, apnsID: String? = nil
    ) {
        self.payload = payload
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expirationSeconds = expirationSeconds
        self.collapseID = collapseID
        self.apnsID = apnsID
    }

    /// The same with the payload as text.
    public init(payload: String, topic: String, pushType: PushType? = .alert, priority: Priority? = nil) {
        self.init(payload: Array(payload.utf8), topic: topic, pushType: pushType, priority: priority)
    }
}
