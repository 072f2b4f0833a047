internal import PushHTTP2
internal import PushJSON

/// A request about broadcast channels: to manage them, on the service's management port, or to broadcast, on the same
/// port as pushes. Sent with `APNsClient.perform`.
public struct APNsChannelCall: Sendable, Equatable {
    let method: String
    let path: String
    var fields: [String: String] = [:]
    var body: [UInt8] = []

    /// Makes a channel; its id is the answer's `channelID`. One that stores keeps its newest broadcast, for at most eight
    /// hours.
    public static func create(app: String, storesNewest: Bool) -> APNsChannelCall {
        var call = APNsChannelCall(method: "POST", path: "/1/apps/\(app)/channels")
        call.body = Array(#"{"message-storage-policy":\#(storesNewest ? 1 : 0),"push-type":"LiveActivity"}"#.utf8)
        return call
    }

    /// Asks for a channel; its policy is the answer's `storesNewest`.
    public static func read(app: String, channel: String) -> APNsChannelCall {
        APNsChannelCall(method: "GET", path: "/1/apps/\(app)/channels", fields: ["apns-channel-id": channel])
    }

    /// Deletes a channel; its id never comes back.
    public static func delete(app: String, channel: String) -> APNsChannelCall {
        APNsChannelCall(method: "DELETE", path: "/1/apps/\(app)/channels", fields: ["apns-channel-id": channel])
    }

    /// Asks for all channels of an app; they are the answer's `channels`.
    public static func list(app: String) -> APNsChannelCall {
        APNsChannelCall(method: "GET", path: "/1/apps/\(app)/all-channels")
    }

    /// Sends a payload of at most 5120 bytes to all that listen to a channel. `expirationSeconds` is unix time, and must be 0
    /// for a channel that stores nothing; priority and expiration have no defaults at the service.
    public static func broadcast(
        app: String, channel: String, payload: [UInt8], priority: APNsNotification.Priority = .immediate,
        expirationSeconds: Int64 = 0
    ) -> APNsChannelCall {
        APNsChannelCall(
            method: "POST", path: "/4/broadcasts/apps/\(app)",
            fields: [
                "apns-channel-id": channel, "apns-push-type": "liveactivity",
                "apns-priority": "\(priority.rawValue)", "apns-expiration": "\(expirationSeconds)",
            ], body: payload)
    }

    /// The mistake that HTTP itself forbids, if there is one.
    var flaw: APNsError? {
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return APNsError(.badRequest, "The app holds characters a path cannot hold.")
        }
        guard fields.values.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else {
            return APNsError(.badRequest, "The channel holds control characters.")
        }
        return nil
    }

    func write(authority: String, authorization: String, into list: inout HTTP2FieldList) {
        list.removeAll()
        list.append(":method", method)
        list.append(":scheme", "https")
        list.append(":authority", authority)
        list.append(":path", path)
        list.append("authorization", authorization)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { list.append(name, value) }
    }
}
