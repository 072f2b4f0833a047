/// Why APNs refuses a request: the `reason` of the answer's JSON body, with the status that goes with it.
///
/// Sources: Apple, "Handling notification responses from APNs" and "Handling error responses from APNs" (broadcasts and
/// channels), tables of reasons.
package enum APNsReason: UInt8, Sendable, CaseIterable {
    case badCollapseID = 1
    case badDeviceToken
    case badExpirationDate
    case badMessageID
    case badPriority
    case badTopic
    case deviceTokenNotForTopic
    case duplicateHeaders
    case idleTimeout
    case invalidPushType
    case missingDeviceToken
    case missingTopic
    case payloadEmpty
    case topicDisallowed
    case expiredProviderToken
    case invalidProviderToken
    case missingProviderToken
    case badEnvironmentKeyIDInToken
    case badPath
    case methodNotAllowed
    case expiredToken
    case unregistered
    case payloadTooLarge
    case serviceUnavailable
    case shutdown
    // The journal stores these numbers: those of one area stand together, with room for more.
    case badCertificate = 60
    case badCertificateEnvironment
    case unrelatedKeyIDInToken
    case tooManyProviderTokenUpdates
    /// Another spelling of `badEnvironmentKeyIDInToken` that the real service was seen to send.
    case badEnvironmentKeyInToken
    case tooManyRequests = 70
    // Of broadcasts and channels. The journal stores these numbers: those of one area stand together, with room.
    case featureNotEnabled = 80
    case missingChannelID
    case badChannelID
    case channelNotRegistered
    case badRequestParams
    case badRequestPayload
    case missingPushType
    case cannotCreateChannelConfig
    case missingChannelQueueSize
    case topicMismatch

    /// The HTTP status the reason travels with.
    package var status: Int {
        switch self {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed, .featureNotEnabled, .missingChannelID, .badChannelID,
            .channelNotRegistered, .badRequestParams, .badRequestPayload, .missingPushType, .cannotCreateChannelConfig,
            .missingChannelQueueSize:
            400
        case .expiredProviderToken, .invalidProviderToken, .missingProviderToken, .badEnvironmentKeyIDInToken,
            .badEnvironmentKeyInToken, .badCertificate, .badCertificateEnvironment, .unrelatedKeyIDInToken,
            .topicMismatch:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates: 429
        case .serviceUnavailable, .shutdown: 503
        case .tooManyRequests: 429
        }
    }

    /// The word on the wire.
    package var text: String {
        switch self {
        case .badCollapseID: "BadCollapseId"
        case .badDeviceToken: "BadDeviceToken"
        case .badExpirationDate: "BadExpirationDate"
        case .badMessageID: "BadMessageId"
        case .badPriority: "BadPriority"
        case .badTopic: "BadTopic"
        case .deviceTokenNotForTopic: "DeviceTokenNotForTopic"
        case .duplicateHeaders: "DuplicateHeaders"
        case .idleTimeout: "IdleTimeout"
        case .invalidPushType: "InvalidPushType"
        case .missingDeviceToken: "MissingDeviceToken"
        case .missingTopic: "MissingTopic"
        case .payloadEmpty: "PayloadEmpty"
        case .topicDisallowed: "TopicDisallowed"
        case .expiredProviderToken: "ExpiredProviderToken"
        case .invalidProviderToken: "InvalidProviderToken"
        case .missingProviderToken: "MissingProviderToken"
        case .badEnvironmentKeyIDInToken: "BadEnvironmentKeyIdInToken"
        case .badEnvironmentKeyInToken: "BadEnvironmentKeyInToken"
        case .unrelatedKeyIDInToken: "UnrelatedKeyIdInToken"
        case .badCertificate: "BadCertificate"
        case .badCertificateEnvironment: "BadCertificateEnvironment"
        case .tooManyProviderTokenUpdates: "TooManyProviderTokenUpdates"
        case .badPath: "BadPath"
        case .methodNotAllowed: "MethodNotAllowed"
        case .expiredToken: "ExpiredToken"
        case .unregistered: "Unregistered"
        case .payloadTooLarge: "PayloadTooLarge"
        case .serviceUnavailable: "ServiceUnavailable"
        case .shutdown: "Shutdown"
        case .tooManyRequests: "TooManyRequests"
        case .featureNotEnabled: "FeatureNotEnabled"
        case .missingChannelID: "MissingChannelId"
        case .badChannelID: "BadChannelId"
        case .channelNotRegistered: "ChannelNotRegistered"
        case .badRequestParams: "BadRequestParams"
        case .badRequestPayload: "BadRequestPayload"
        case .missingPushType: "MissingPushType"
        case .cannotCreateChannelConfig: "CannotCreateChannelConfig"
        case .missingChannelQueueSize: "MissingChannelQueueSize"
        case .topicMismatch: "TopicMismatch"
        }
    }

    /// What happened, in half a sentence that follows "rejected:".
    package var explanation: String {
        switch self {
        case .badCollapseID: "the apns-collapse-id is longer than 64 bytes"
        case .badDeviceToken: "the device token is malformed, unknown here, or belongs to the other environment"
        case .badExpirationDate:
            "apns-expiration is not a whole number of UNIX seconds, or not 0 for a channel that stores nothing"
        case .badMessageID: "apns-id is not a UUID of the form 8-4-4-4-12"
        case .badPriority: "apns-priority is not 10, 5 or 1, or a background push asked for 10"
        case .badTopic: "apns-topic is not a valid topic"
        case .deviceTokenNotForTopic: "the device token was issued for another app than apns-topic names"
        case .duplicateHeaders: "a header that may stand once was sent twice"
        case .idleTimeout: "the connection was idle for too long"
        case .invalidPushType: "apns-push-type is unknown or contradicts the suffix of apns-topic"
        case .missingDeviceToken: "the path holds no device token"
        case .missingTopic: "apns-topic is missing"
        case .payloadEmpty: "the body is empty or not JSON"
        case .topicDisallowed:
            "apns-topic names an app that is unknown, of another team, or not covered by the key or certificate"
        case .expiredProviderToken: "the provider token was issued more than one hour ago"
        case .invalidProviderToken:
            "the provider token is malformed, its key is unknown, its team is not the key's or not the connection's, or "
                + "its signature is wrong"
        case .missingProviderToken: "the request carries no authorization header with a bearer token"
        case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken: "the signing key belongs to the other environment"
        case .unrelatedKeyIDInToken: "the signing key may not follow the one of the first push on this connection"
        case .tooManyProviderTokenUpdates:
            "another provider token came less than 20 minutes after the last one on this connection"
        case .badCertificate:
            "the client certificate is not of the local authority, has run out, or is no push certificate"
        case .badCertificateEnvironment: "the client certificate is not for this environment"
        case .badPath: "the path is none of those that this port serves"
        case .methodNotAllowed: "the path does not take this method"
        case .expiredToken: "the device token has expired"
        case .unregistered: "the app is no longer registered on that device"
        case .payloadTooLarge: "the body is larger than 4096 bytes (5120 for voip and broadcasts)"
        case .serviceUnavailable: "the server could not store the push (is the disk full?)"
        case .shutdown: "the server is shutting down"
        case .tooManyRequests: "more pushes came for this device token than delivery.requestsPerToken allows"
        case .featureNotEnabled: "broadcasts are switched off for the app"
        case .missingChannelID: "apns-channel-id is missing"
        case .badChannelID: "apns-channel-id is not base64, or too long"
        case .channelNotRegistered: "the app has no such channel in this environment"
        case .badRequestParams: "the JSON body has an attribute that is not known"
        case .badRequestPayload: "the body is not the JSON that is wanted"
        case .missingPushType: "apns-push-type, or push-type in the body, is missing"
        case .cannotCreateChannelConfig: "the app has as many channels as it may have in this environment"
        case .missingChannelQueueSize: "message-storage-policy is missing, or neither 0 nor 1"
        case .topicMismatch: "the bundle id in the path does not belong to the key"
        }
    }
}
