import PushBytes
package import PushJSON

/// What a request of the broadcast and channel API is about, by its path alone.
package enum BroadcastRoute: Equatable {
    /// `/4/broadcasts/apps/<bundle>`
    case broadcast
    /// `/1/apps/<bundle>/channels`
    case channels
    /// `/1/apps/<bundle>/all-channels`
    case allChannels

    package var methods: [String] {
        switch self {
        case .broadcast: ["POST"]
        case .channels: ["POST", "GET", "DELETE"]
        case .allChannels: ["GET"]
        }
    }
}

/// What the headers of a broadcast ask for.
package struct BroadcastNotification: Sendable {
    /// Seconds; 0 is not stored.
    package var expiration: Int64
    package var priority: UInt8

    package init(expiration: Int64, priority: UInt8) {
        self.expiration = expiration
        self.priority = priority
    }

    /// Until when a channel that keeps its newest broadcast keeps this one, in unix milliseconds; `nil`: not at all.
    package func storedUntil(now unixMilliseconds: Int64) -> Int64? {
        let longest = unixMilliseconds + CoreLimits.broadcastStorageMillisecondsMax
        let (asked, overflow) = expiration.multipliedReportingOverflow(by: 1000)
        let end = overflow ? longest : min(asked, longest)
        return end > unixMilliseconds ? end : nil
    }
}

/// The rules of broadcasts and channels that need nothing but the request: pure functions, one per step.
///
/// Order of the steps (Apple tells only that authentication comes first and the channel id early): path 404, method
/// 405, repeated headers, authentication 403, bundle id (`TopicDisallowed`, `TopicMismatch`), `FeatureNotEnabled`,
/// request id. Then a broadcast: channel id, push type, expiration, priority, payload empty, too large, not JSON. A new
/// channel: payload empty, too large, not JSON, unknown attribute, storage policy, push type, number of channels.
/// Reading and deleting: channel id; a body is ignored. Source: Apple, "Handling error responses from APNs".
package enum BroadcastRules {
    private static let broadcastPath = Array("/4/broadcasts/apps/".utf8)
    private static let channelPath = Array("/1/apps/".utf8)
    private static let channelsEnd = Array("/channels".utf8)
    private static let allChannelsEnd = Array("/all-channels".utf8)
    private static let pushType = "liveactivity"

    /// Whether a request is for this API at all; one byte tells.
    package static func concerns(_ request: APNsRequest) -> Bool {
        guard let path = request.path, path.count > 2 else { return false }
        let version = request.storage[path.lowerBound + 1]
        return version == 0x34 || version == 0x31
    }

    /// Step 1: the path; gives where the bundle id stands.
    package static func route(_ request: APNsRequest) -> (route: BroadcastRoute, bundle: Range<Int>)? {
        guard let path = request.path else { return nil }
        let bytes = request.storage[path]
        if bytes.starts(with: broadcastPath) {
            return part(request, path.lowerBound + broadcastPath.count..<path.upperBound).map { (.broadcast, $0) }
        }
        guard bytes.starts(with: channelPath) else { return nil }
        let start = path.lowerBound + channelPath.count
        for (end, route) in [(channelsEnd, BroadcastRoute.channels), (allChannelsEnd, .allChannels)]
        where path.upperBound - end.count > start && bytes.suffix(end.count).elementsEqual(end) {
            return part(request, start..<path.upperBound - end.count).map { (route, $0) }
        }
        return nil
    }

    private static func part(_ request: APNsRequest, _ range: Range<Int>) -> Range<Int>? {
        range.isEmpty || request.storage[range].contains(0x2F) ? nil : range
    }

    /// The id of the request: `apns-request-id`, or `apns-id` as one of Apple's own samples sends it.
    package static func requestID(_ request: APNsRequest) -> Result<APNsID?, APNsReason.Failure> {
        guard let range = request.requestID ?? request.id else { return .success(nil) }
        guard let id = APNsID(textIn: request.storage, range) else { return .failure(.init(.badMessageID)) }
        return .success(id)
    }

    /// The bytes behind `apns-channel-id`.
    package static func channelID(_ request: APNsRequest) -> Result<[UInt8], APNsReason.Failure> {
        guard let range = request.channelID, !range.isEmpty else { return .failure(.init(.missingChannelID)) }
        guard range.count <= Channel.idTextBytesMax, let id = Base64.decode(request.storage[range]), !id.isEmpty else {
            return .failure(.init(.badChannelID))
        }
        return .success(id)
    }

    /// Push type, expiration, priority; the push type is compared without case.
    package static func notification(
        _ request: APNsRequest, policy: ChannelPolicy, settings: BroadcastSettings
    ) -> Result<BroadcastNotification, APNsReason.Failure> {
        guard let type = request.text(request.pushType), !type.isEmpty else {
            return .failure(.init(.missingPushType))
        }
        guard type.lowercased() == pushType else { return .failure(.init(.invalidPushType)) }
        var notification = BroadcastNotification(
            expiration: policy == .none ? 0 : Int64.max / 1000, priority: 10)
        if let range = request.expiration {
            guard let seconds = APNsRules.decimal(request.storage[range]), seconds >= 0,
                policy == .newest || seconds == 0
            else { return .failure(.init(.badExpirationDate)) }
            notification.expiration = seconds
        } else if settings.requiresHeaders {
            return .failure(.init(.badExpirationDate))
        }
        if let range = request.priority {
            guard let priority = APNsRules.priority(request.storage[range]) else {
                return .failure(.init(.badPriority))
            }
            notification.priority = priority
        } else if settings.requiresHeaders {
            return .failure(.init(.badPriority))
        }
        return .success(notification)
    }

    /// The storage policy a new channel asks for.
    package static func newChannel(_ body: [UInt8], parser: JSONParser) -> Result<ChannelPolicy, APNsReason.Failure> {
        guard let value = try? parser.parse(body.span), let members = value.objectValue else {
            return .failure(.init(.badRequestPayload))
        }
        guard members.allSatisfy({ ["message-storage-policy", "push-type"].contains($0.name) }) else {
            return .failure(.init(.badRequestParams))
        }
        guard case .int(let number)? = value["message-storage-policy"], let policy = ChannelPolicy(rawValue: number)
        else { return .failure(.init(.missingChannelQueueSize)) }
        guard let type = value["push-type"], !type.isNull else { return .failure(.init(.missingPushType)) }
        guard type.stringValue?.lowercased() == pushType else { return .failure(.init(.invalidPushType)) }
        return .success(policy)
    }

    /// Whether a payload asks to start a Live Activity.
    package static func isStart(_ payload: [UInt8], parser: JSONParser) -> Bool {
        let value = try? parser.parse(payload.span)
        return value?["aps"]?["event"]?.stringValue == "start"
    }
}
