import Foundation
import PushBytes
import PushJSON
import PushServer
import Testing

@Suite(.serialized) struct ChannelCaseTests {
    static let uuid = "eabeae54-14a8-11e5-b60b-1697f925ec7b"

    @Test("case 35: a channel is created, and its id is in a header only")
    func aChannelIsCreated() async throws {
        try await CaseBench.run { bench in
            let manager = try bench.manager()
            let answer = try manager.request(
                bench.channelCall("POST", ["apns-request-id": Self.uuid]), body: CaseBench.newChannel())
            #expect(answer.status == 201)
            #expect(answer.body.isEmpty)
            #expect(answer["apns-request-id"] == Self.uuid)
            #expect(answer["apns-id"] == nil)
            let id = try #require(answer["apns-channel-id"])
            #expect(Base64.decode(id)?.count == 16)
            let frames = manager.frames(of: answer.stream)
            #expect(frames.count == 1 && frames[0].endsStream)

            let read = try manager.request(bench.channelCall("GET", ["apns-channel-id": id]), body: [])
            #expect(read.status == 200)
            #expect(read.body == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
            let second = try bench.channel(policy: 0)
            #expect(second != id)
            let list = try manager.request(
                bench.channelCall("GET", [":path": "/1/apps/\(CaseBench.topic)/all-channels"]), body: [])
            #expect(list.status == 200)
            #expect(list.body == #"{"channels":["\#(id)","\#(second)"]}"#)
            #expect(list["apns-request-id"]?.count == 36)
        }
    }

    @Test func anEmptyListIsAList() async throws {
        try await CaseBench.run { bench in
            let list = try bench.manager().request(
                bench.channelCall("GET", [":path": "/1/apps/\(CaseBench.topic)/all-channels"]), body: [])
            #expect(list.body == #"{"channels":[]}"#)
        }
    }

    @Test("case 39: a channel is deleted once, and its id never returns")
    func aChannelIsDeletedOnce() async throws {
        try await CaseBench.run { bench in
            let manager = try bench.manager()
            let id = try bench.channel()
            let first = try manager.request(bench.channelCall("DELETE", ["apns-channel-id": id]), body: [])
            #expect(first.status == 204)
            #expect(first.body.isEmpty)
            #expect(first["apns-request-id"] != nil)
            let second = try manager.request(bench.channelCall("DELETE", ["apns-channel-id": id]), body: [])
            #expect(second.status == 400)
            #expect(second.reason == "ChannelNotRegistered")
            #expect(try bench.channel() != id)
        }
    }

    @Test func anEnvironmentDoesNotKnowTheChannelsOfTheOther() async throws {
        try await CaseBench.run { bench in
            let id = try bench.channel(isProduction: true)
            let sandbox = try bench.manager().request(bench.channelCall("GET", ["apns-channel-id": id]), body: [])
            #expect(sandbox.reason == "ChannelNotRegistered")
            let production = try bench.manager(isProduction: true).request(
                bench.channelCall("GET", ["apns-channel-id": id]), body: [])
            #expect(production.status == 200)
            let sent = try bench.client().request(
                bench.broadcastCall(id, [":authority": "api-broadcast.push.apple.com"]), body: CaseBench.update)
            #expect(sent.status == 200)
            let other = try bench.client().request(
                bench.broadcastCall(id, [":authority": "api.sandbox.push.apple.com"]), body: CaseBench.update)
            #expect(other.reason == "ChannelNotRegistered")
        }
    }

    @Test func eachPortServesItsOwnPathsOnly() async throws {
        try await CaseBench.run { bench in
            let id = try bench.channel()
            let onProvider = try bench.client().request(bench.channelCall("POST"), body: CaseBench.newChannel())
            #expect(onProvider.status == 404 && onProvider.reason == "BadPath")
            let onManager = try bench.manager().request(bench.broadcastCall(id), body: CaseBench.update)
            #expect(onManager.status == 404 && onManager.reason == "BadPath")
            let push = try bench.manager().request(bench.push(to: String(repeating: "ab", count: 32)), body: [1])
            #expect(push.status == 404 && push.reason == "BadPath")
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let reason: String
        let status: Int
        var method = "POST"
        var changes: [String: String?] = [:]
        var body = String(decoding: CaseBench.newChannel(), as: UTF8.self)
        var testDescription: String { "\(reason): \(method) \(changes) \(body.prefix(60))" }
    }

    static let refusals: [Refusal] = [
        Refusal(reason: "BadPath", status: 404, changes: [":path": "/1/apps/com.example.app/channel"]),
        Refusal(reason: "BadPath", status: 404, changes: [":path": "/1/apps//channels"]),
        Refusal(reason: "BadPath", status: 404, changes: [":path": "/1/apps/com.example.app/x/channels"]),
        Refusal(reason: "MethodNotAllowed", status: 405, method: "PUT"),
        Refusal(
            reason: "MethodNotAllowed", status: 405,
            changes: [":path": "/1/apps/com.example.app/all-channels"]),
        Refusal(reason: "MissingProviderToken", status: 403, changes: ["authorization": nil]),
        Refusal(reason: "InvalidProviderToken", status: 403, changes: ["authorization": "bearer a.b.c"]),
        Refusal(
            reason: "TopicDisallowed", status: 400,
            changes: [":path": "/1/apps/com.example.app.push-type.liveactivity/channels"]),
        Refusal(reason: "TopicMismatch", status: 403, changes: [":path": "/1/apps/com.example.other/channels"]),
        Refusal(reason: "BadMessageId", status: 400, changes: ["apns-request-id": "not-a-uuid"]),
        Refusal(reason: "PayloadEmpty", status: 400, body: ""),
        Refusal(
            reason: "PayloadTooLarge", status: 413,
            body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"# + String(repeating: " ", count: 5121)),
        Refusal(reason: "BadRequestPayload", status: 400, body: #"{"message-storage-policy":"#),
        Refusal(reason: "BadRequestPayload", status: 400, body: "[]"),
        Refusal(
            reason: "BadRequestParams", status: 400,
            body: #"{"message-storage-policy":1,"push-type":"LiveActivity","name":"a"}"#),
        Refusal(reason: "MissingChannelQueueSize", status: 400, body: #"{"push-type":"LiveActivity"}"#),
        Refusal(
            reason: "MissingChannelQueueSize", status: 400,
            body: #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#),
        Refusal(reason: "MissingPushType", status: 400, body: #"{"message-storage-policy":0}"#),
        Refusal(
            reason: "InvalidPushType", status: 400, body: #"{"message-storage-policy":0,"push-type":"alert"}"#),
        Refusal(reason: "MissingChannelId", status: 400, method: "GET"),
        Refusal(reason: "MissingChannelId", status: 400, method: "DELETE"),
        Refusal(reason: "BadChannelId", status: 400, method: "GET", changes: ["apns-channel-id": "%%%%"]),
        Refusal(
            reason: "BadChannelId", status: 400, method: "GET",
            changes: ["apns-channel-id": String(repeating: "A", count: 92)]),
        Refusal(
            reason: "ChannelNotRegistered", status: 400, method: "GET",
            changes: ["apns-channel-id": "dHN0LXNyY2gtY2hubA=="]),
    ]

    @Test(arguments: refusals) func aWrongRequestIsRefused(_ refusal: Refusal) async throws {
        try await CaseBench.run { bench in
            let answer = try bench.manager().request(
                bench.channelCall(refusal.method, refusal.changes), body: Array(refusal.body.utf8))
            #expect(answer.status == refusal.status)
            #expect(answer.body == #"{"reason":"\#(refusal.reason)"}"#)
            #expect(answer["content-type"] == "application/json")
            #expect(answer["apns-request-id"]?.count == 36)
            let listed = try bench.control("GET", "pushes?state=rejected&channel=apns")["pushes"]?.arrayValue
            let other = try bench.control("GET", "pushes?state=rejected&channel=broadcast")["pushes"]?.arrayValue
            #expect((listed?.count ?? 0) + (other?.count ?? 0) == 1, "refusals are in the journal")
        }
    }

    @Test func anExpiredTokenIsRefused() async throws {
        try await CaseBench.run { bench in
            let token = try bench.providerToken(age: 3700)
            let answer = try bench.manager().request(
                bench.channelCall("POST", ["authorization": "bearer \(token)"]), body: CaseBench.newChannel())
            #expect(answer.status == 403 && answer.reason == "ExpiredProviderToken")
        }
    }

    @Test func aHeaderSentTwiceIsRefused() async throws {
        try await CaseBench.run { bench in
            let fields =
                try bench.channelCall("POST") + [("apns-request-id", Self.uuid), ("apns-request-id", Self.uuid)]
            let answer = try bench.manager().request(fields, body: CaseBench.newChannel())
            #expect(answer.status == 400 && answer.reason == "DuplicateHeaders")
        }
    }

    @Test func theNumberOfChannelsIsBounded() async throws {
        try await CaseBench.run(settings: ["broadcast.channels": "2"]) { bench in
            let id = try bench.channel()
            _ = try bench.channel()
            let manager = try bench.manager()
            let third = try manager.request(bench.channelCall("POST"), body: CaseBench.newChannel())
            #expect(third.status == 400 && third.reason == "CannotCreateChannelConfig")
            _ = try bench.channel(isProduction: true)
            _ = try manager.request(bench.channelCall("DELETE", ["apns-channel-id": id]), body: [])
            _ = try bench.channel()
        }
    }

    @Test func anAppWithoutTheFeatureIsRefused() async throws {
        try await CaseBench.run(settings: ["broadcast.enabled": "off"]) { bench in
            let manager = try bench.manager()
            let answer = try manager.request(bench.channelCall("POST"), body: CaseBench.newChannel())
            #expect(answer.status == 400 && answer.reason == "FeatureNotEnabled")
            try bench.control("PATCH", "apps/\(CaseBench.topic)", #"{"broadcast":true}"#)
            _ = try bench.channel()
        }
    }

    @Test("an app made by a channel call is known to the connection that made it", arguments: [false, true])
    func anUnknownAppIsMade(isBound: Bool) async throws {
        let settings = ["auth.bindApps": isBound ? "on" : "off"]
        try await CaseBench.run(settings: settings, configure: { $0.registersUnknownTokens = true }) { bench in
            let manager = try bench.manager()
            for bundle in ["com.example.first", "com.example.second"] {
                let call = try bench.channelCall("POST", [":path": "/1/apps/\(bundle)/channels"])
                #expect(try manager.request(call, body: CaseBench.newChannel()).status == 201)
            }
        }
    }

    @Test func theTypeOfANewChannelIsReadInAnyCase() async throws {
        try await CaseBench.run { bench in
            let body = Array(#"{"message-storage-policy":0,"push-type":"liveactivity"}"#.utf8)
            let answer = try bench.manager().request(bench.channelCall("POST"), body: body)
            #expect(answer.status == 201)
        }
    }
}
