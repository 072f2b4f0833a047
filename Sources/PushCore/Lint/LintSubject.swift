package import PushJSON

/// A push as the linter looks at it: the headers that matter, and the payload when it can be read.
package struct LintSubject: Sendable {
    /// `nil` when the bytes are not JSON.
    package var payload: JSONValue?
    package var payloadBytes: Int
    /// `apns-push-type`; `nil` when absent.
    package var pushType: PushType?
    package var suffix = TopicSuffix.none
    /// `apns-priority`, 10 when absent.
    package var priority: UInt8 = 10
    /// `apns-expiration` in seconds; `nil` when absent.
    package var expiration: Int64?
    /// Whether it went to a channel. Such a push is about a Live Activity, whatever else is said.
    package var isBroadcast = false
    /// When the push came, in Unix milliseconds.
    package var receivedAt: Int64

    package init(payload: JSONValue?, payloadBytes: Int, receivedAt: Int64) {
        self.payload = payload
        self.payloadBytes = payloadBytes
        self.receivedAt = receivedAt
    }

    /// What the push is for: as its header says, else as its topic does.
    var effectiveType: PushType? {
        if isBroadcast { return .liveactivity }
        return pushType ?? PushType.allCases.first { $0.topicSuffix == suffix && suffix != .none }
    }

    var payloadBytesMax: Int {
        isBroadcast ? CoreLimits.payloadBytesBroadcastMax : CoreLimits.payloadBytesMax(for: suffix)
    }
}
