/// What the service answered to one push.
public struct APNsResponse: Sendable, Equatable {
    /// HTTP status: 200 when the push was accepted (which is not yet: delivered).
    public var status: Int
    /// Why it was not accepted; nil on success, and when the answer held no reason.
    public var reason: APNsReason?
    /// The push's id: the one sent, or one the service made.
    public var apnsID: String?
    /// Only in the development environment: the id under which the service logs the push.
    public var apnsUniqueID: String?
    /// With status 410: since when the token is no longer active, unix time in milliseconds.
    public var timestampMilliseconds: Int64?
    /// To a call about channels: the id of a new one.
    public var channelID: String?
    /// To a call about channels: those there are.
    public var channels: [String]?
    /// To a call about channels: whether this one keeps its newest broadcast.
    public var storesNewest: Bool?

    public init(
        status: Int, reason: APNsReason? = nil, apnsID: String? = nil, apnsUniqueID: String? = nil,
        timestampMilliseconds: Int64? = nil
    ) {
        self.status = status
        self.reason = reason
        self.apnsID = apnsID
        self.apnsUniqueID = apnsUniqueID
        self.timestampMilliseconds = timestampMilliseconds
    }

    /// For a call about channels, 201 (made) and 204 (deleted) are as good.
    public var isAccepted: Bool { status == 200 || status == 201 || status == 204 }
}

/// Why the service refused. Reasons this library does not know are kept as they came.
public struct APNsReason: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public var description: String { rawValue }

    public static let badCollapseID: APNsReason = "BadCollapseId"
    public static let badDeviceToken: APNsReason = "BadDeviceToken"
    public static let badExpirationDate: APNsReason = "BadExpirationDate"
    public static let badMessageID: APNsReason = "BadMessageId"
    public static let badPriority: APNsReason = "BadPriority"
    public static let featureNotEnabled: APNsReason = "FeatureNotEnabled"
    public static let missingChannelID: APNsReason = "MissingChannelId"
    public static let badChannelID: APNsReason = "BadChannelId"
    public static let channelNotRegistered: APNsReason = "ChannelNotRegistered"
    public static let badRequestParams: APNsReason = "BadRequestParams"
    public static let badRequestPayload: APNsReason = "BadRequestPayload"
    public static let missingPushType: APNsReason = "MissingPushType"
    public static let cannotCreateChannelConfig: APNsReason = "CannotCreateChannelConfig"
    public static let missingChannelQueueSize: APNsReason = "MissingChannelQueueSize"
    public static let topicMismatch: APNsReason = "TopicMismatch"
    public static let badTopic: APNsReason = "BadTopic"
    public static let deviceTokenNotForTopic: APNsReason = "DeviceTokenNotForTopic"
    public static let duplicateHeaders: APNsReason = "DuplicateHeaders"
    public static let idleTimeout: APNsReason = "IdleTimeout"
    public static let invalidPushType: APNsReason = "InvalidPushType"
    public static let missingDeviceToken: APNsReason = "MissingDeviceToken"
    public static let missingTopic: APNsReason = "MissingTopic"
    public static let payloadEmpty: APNsReason = "PayloadEmpty"
    public static let topicDisallowed: APNsReason = "TopicDisallowed"
    public static let badCertificate: APNsReason = "BadCertificate"
    public static let badCertificateEnvironment: APNsReason = "BadCertificateEnvironment"
    public static let badEnvironmentKeyIDInToken: APNsReason = "BadEnvironmentKeyIdInToken"
    public static let expiredProviderToken: APNsReason = "ExpiredProviderToken"
    public static let forbidden: APNsReason = "Forbidden"
    public static let invalidProviderToken: APNsReason = "InvalidProviderToken"
    public static let missingProviderToken: APNsReason = "MissingProviderToken"
    public static let unrelatedKeyIDInToken: APNsReason = "UnrelatedKeyIdInToken"
    public static let badPath: APNsReason = "BadPath"
    public static let methodNotAllowed: APNsReason = "MethodNotAllowed"
    public static let expiredToken: APNsReason = "ExpiredToken"
    public static let unregistered: APNsReason = "Unregistered"
    public static let payloadTooLarge: APNsReason = "PayloadTooLarge"
    public static let tooManyProviderTokenUpdates: APNsReason = "TooManyProviderTokenUpdates"
    public static let tooManyRequests: APNsReason = "TooManyRequests"
    public static let internalServerError: APNsReason = "InternalServerError"
    public static let serviceUnavailable: APNsReason = "ServiceUnavailable"
    public static let shutdown: APNsReason = "Shutdown"
}
