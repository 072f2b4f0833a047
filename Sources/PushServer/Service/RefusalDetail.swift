import PushCore

/// What the journal keeps of a request that was refused: the words that gave offence, shortened, never a secret.
enum RefusalDetail {
    private static let bytesMax = 200

    static func token(_ request: APNsRequest) -> AppToken? {
        guard case .success(let range) = APNsRules.route(request) else { return nil }
        return AppToken(hexIn: request.storage, range)
    }

    static func offence(_ reason: APNsReason, _ request: APNsRequest) -> String? {
        switch reason {
        case .badCollapseID: shortened(request, request.collapseID)
        case .badDeviceToken, .deviceTokenNotForTopic, .unregistered, .expiredToken, .badPath, .missingDeviceToken:
            shortened(request, request.path)
        case .badExpirationDate: shortened(request, request.expiration)
        case .badMessageID: shortened(request, request.id)
        case .badPriority: shortened(request, request.priority)
        case .invalidPushType: shortened(request, request.pushType)
        case .methodNotAllowed: shortened(request, request.method)
        case .badTopic, .topicDisallowed: shortened(request, request.topic)
        case .payloadTooLarge: "\(request.bodyBytes) bytes"
        default: nil
        }
    }

    /// The same for a request about broadcasts or channels.
    static func broadcastOffence(_ reason: APNsReason, _ request: APNsRequest) -> String? {
        switch reason {
        case .badMessageID: shortened(request, request.requestID ?? request.id)
        case .badPath, .topicDisallowed, .topicMismatch: shortened(request, request.path)
        case .badChannelID, .channelNotRegistered: shortened(request, request.channelID)
        default: offence(reason, request)
        }
    }

    static func shortened(_ request: APNsRequest, _ range: Range<Int>?) -> String? {
        range.map { String(decoding: request.storage[$0].prefix(bytesMax), as: UTF8.self) }
    }
}
