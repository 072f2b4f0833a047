import Foundation
import Testing

/// Requests about channels and broadcasts: one valid one of each kind, in which a test changes one thing.
extension CaseBench {
    static let channelPath = "/1/apps/\(topic)/channels"
    static let broadcastPath = "/4/broadcasts/apps/\(topic)"
    static let update = Array(#"{"aps":{"event":"update","content-state":{"score":1}}}"#.utf8)

    static func newChannel(_ policy: String = "1") -> [UInt8] {
        Array(#"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#.utf8)
    }

    func channelCall(_ method: String, _ changes: [String: String?] = [:]) throws -> CaseClient.Fields {
        Self.changed(
            [
                (":method", method), (":scheme", "https"), (":path", Self.channelPath), (":authority", "localhost"),
                ("authorization", try "bearer \(providerToken())"),
            ], changes)
    }

    func broadcastCall(_ channel: String, _ changes: [String: String?] = [:]) throws -> CaseClient.Fields {
        Self.changed(
            [
                (":method", "POST"), (":scheme", "https"), (":path", Self.broadcastPath), (":authority", "localhost"),
                ("authorization", try "bearer \(providerToken())"), ("apns-channel-id", channel),
                ("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-priority", "10"),
            ], changes)
    }

    /// Makes a channel through the management port.
    func channel(policy: Int = 1, isProduction: Bool = false) throws -> String {
        let answer = try manager(isProduction: isProduction).request(
            channelCall("POST"), body: Self.newChannel("\(policy)"))
        return try #require(answer["apns-channel-id"])
    }

    /// Broadcasts and gives the id; `seconds` from now is its expiration, 0 stores nothing.
    func broadcast(_ channel: String, seconds: Int64 = 0, score: Int = 1) throws -> String {
        let end = seconds == 0 ? 0 : Int64(Date().timeIntervalSince1970) + seconds
        let answer = try client().request(
            broadcastCall(channel, ["apns-expiration": "\(end)"]),
            body: Array(#"{"aps":{"event":"update","content-state":{"score":\#(score)}}}"#.utf8))
        #expect(answer.status == 200)
        return try #require(answer["apns-request-id"])
    }
}
