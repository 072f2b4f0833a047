import Foundation
import PushDevice
import PushJSON
import PushServer
import Testing

@Suite(.serialized) struct BroadcastCaseTests {
    @Test("case 36: a channel that stores nothing takes no expiration but 0")
    func anExpirationOnAChannelThatStoresNothing() async throws {
        try await CaseBench.run { bench in
            let id = try bench.channel(policy: 0)
            let end = "\(Int64(Date().timeIntervalSince1970) + 60)"
            let answer = try bench.client().request(
                bench.broadcastCall(id, ["apns-expiration": end]), body: CaseBench.update)
            #expect(answer.status == 400)
            #expect(answer.body == #"{"reason":"BadExpirationDate"}"#)
            #expect(answer["apns-request-id"]?.count == 36)
            #expect(answer["apns-id"] == nil)
        }
    }

    @Test("case 37: the suffix of a push type in the path is not allowed")
    func aSuffixInThePath() async throws {
        try await CaseBench.run { bench in
            let id = try bench.channel()
            let answer = try bench.client().request(
                bench.broadcastCall(id, [":path": CaseBench.broadcastPath + ".push-type.liveactivity"]),
                body: CaseBench.update)
            #expect(answer.status == 400 && answer.reason == "TopicDisallowed")
        }
    }

    @Test("case 38: a key that does not cover the bundle id is refused")
    func aKeyOfAnotherTeam() async throws {
        try await CaseBench.run { bench in
            try bench.control("POST", "apps", #"{"bundle":"com.example.other","team":"OTHERTEAM1"}"#)
            let id = try bench.channel()
            let answer = try bench.client().request(
                bench.broadcastCall(id, [":path": "/4/broadcasts/apps/com.example.other"]), body: CaseBench.update)
            #expect(answer.status == 403 && answer.reason == "TopicMismatch")
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let reason: String
        let status: Int
        var changes: [String: String?] = [:]
        var body = String(decoding: CaseBench.update, as: UTF8.self)
        var testDescription: String { "\(reason): \(changes) \(body.prefix(40))" }
    }

    static let refusals: [Refusal] = [
        Refusal(reason: "BadPath", status: 404, changes: [":path": "/4/broadcasts/app/com.example.app"]),
        Refusal(reason: "BadPath", status: 404, changes: [":path": "/4/broadcasts/apps/"]),
        Refusal(reason: "MethodNotAllowed", status: 405, changes: [":method": "GET"]),
        Refusal(reason: "MissingProviderToken", status: 403, changes: ["authorization": nil]),
        Refusal(reason: "BadMessageId", status: 400, changes: ["apns-request-id": "1"]),
        Refusal(reason: "BadMessageId", status: 400, changes: ["apns-id": "1"]),
        Refusal(reason: "MissingChannelId", status: 400, changes: ["apns-channel-id": nil]),
        Refusal(reason: "BadChannelId", status: 400, changes: ["apns-channel-id": "a"]),
        Refusal(reason: "ChannelNotRegistered", status: 400, changes: ["apns-channel-id": "AAAA"]),
        Refusal(reason: "MissingPushType", status: 400, changes: ["apns-push-type": nil]),
        Refusal(reason: "InvalidPushType", status: 400, changes: ["apns-push-type": "alert"]),
        Refusal(reason: "BadExpirationDate", status: 400, changes: ["apns-expiration": "1.5"]),
        Refusal(reason: "BadExpirationDate", status: 400, changes: ["apns-expiration": "-1"]),
        Refusal(reason: "BadExpirationDate", status: 400, changes: ["apns-expiration": nil]),
        Refusal(reason: "BadPriority", status: 400, changes: ["apns-priority": "7"]),
        Refusal(reason: "BadPriority", status: 400, changes: ["apns-priority": nil]),
        Refusal(reason: "PayloadEmpty", status: 400, body: ""),
        Refusal(
            reason: "PayloadTooLarge", status: 413, body: #"{"a":""# + String(repeating: "a", count: 5113) + #""}"#),
        Refusal(reason: "BadRequestPayload", status: 400, body: "{"),
    ]

    @Test(arguments: refusals) func aWrongBroadcastIsRefused(_ refusal: Refusal) async throws {
        try await CaseBench.run { bench in
            let id = try bench.channel()
            let answer = try bench.client().request(
                bench.broadcastCall(id, refusal.changes), body: Array(refusal.body.utf8))
            #expect(answer.status == refusal.status)
            #expect(answer.body == #"{"reason":"\#(refusal.reason)"}"#)
            #expect(answer["apns-request-id"]?.count == 36)
        }
    }

    @Test func aBroadcastOfExactlyTheLimitPasses() async throws {
        try await CaseBench.run { bench in
            let id = try bench.channel()
            let body = Array((#"{"a":""# + String(repeating: "a", count: 5112) + #""}"#).utf8)
            #expect(body.count == 5120)
            let answer = try bench.client().request(bench.broadcastCall(id), body: body)
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
            #expect(answer["apns-unique-id"] == nil)
        }
    }

    @Test(arguments: ["apns-request-id", "apns-id"]) func eitherIDIsEchoed(_ header: String) async throws {
        try await CaseBench.run(settings: ["broadcast.uniqueID": "on"]) { bench in
            let id = try bench.channel()
            let answer = try bench.client().request(
                bench.broadcastCall(id, [header: ChannelCaseTests.uuid, "apns-push-type": "LiveActivity"]),
                body: CaseBench.update)
            #expect(answer.status == 200)
            #expect(answer["apns-request-id"] == ChannelCaseTests.uuid)
            #expect(answer["apns-unique-id"]?.count == 36)
            #expect(try bench.view(ChannelCaseTests.uuid)["channelID"]?.stringValue == id)
            #expect(try bench.sentence(ChannelCaseTests.uuid).contains("no device had subscribed"))
        }
    }

    @Test func headersThatAreNotRequiredHaveDefaults() async throws {
        try await CaseBench.run(settings: ["broadcast.requireHeaders": "off"]) { bench in
            for policy in [0, 1] {
                let answer = try bench.client().request(
                    bench.broadcastCall(
                        bench.channel(policy: policy), ["apns-expiration": nil, "apns-priority": nil]),
                    body: CaseBench.update)
                #expect(answer.status == 200)
            }
        }
    }

    @Test(arguments: [("on", 400), ("off", 200)])
    func aBroadcastMayBeRefusedToStartALiveActivity(_ setting: String, _ status: Int) async throws {
        try await CaseBench.run(settings: ["broadcast.refuseStart": setting]) { bench in
            let answer = try bench.client().request(
                bench.broadcastCall(bench.channel()), body: Array(#"{"aps":{"event":"start"}}"#.utf8))
            #expect(answer.status == status)
            #expect(answer.reason == (status == 400 ? "BadRequestPayload" : nil))
        }
    }

    // MARK: Virtual devices

    @Test func subscribersReceiveAndOthersDoNot() async throws {
        try await CaseBench.run { bench in
            let id = try bench.channel(policy: 0)
            let (listener, other, away) = (try bench.device(), try bench.device(), try bench.device(online: false))
            try bench.change(listener, #"{"subscribe":["\#(id)"]}"#)
            try bench.change(away, #"{"subscribe":["\#(id)"]}"#)
            let push = try bench.broadcast(id)
            try bench.expect(push, reaches: "acknowledged")
            #expect(try bench.inbox(listener) == [push])
            #expect(try bench.inbox(other).isEmpty)
            let view = try bench.view(push)
            let states = view["deliveries"]?.arrayValue?.map { $0["state"]?.stringValue }
            #expect(states == ["acknowledged", "dropped"])
            #expect(try bench.sentence(push).contains("to 2 devices: 1 acknowledged, 1 dropped."))

            try bench.change(away, #"{"online":true}"#)
            #expect(try bench.inbox(away).isEmpty, "a channel that stores nothing has nothing for later")
            try bench.change(listener, #"{"unsubscribe":["\#(id)"]}"#)
            _ = try bench.broadcast(id)
            #expect(try bench.inbox(listener) == [push])
        }
    }

    @Test func aChannelKeepsItsNewestForWhoeverComes() async throws {
        try await CaseBench.run { bench in
            let id = try bench.channel(policy: 1)
            let away = try bench.device(online: false)
            try bench.change(away, #"{"subscribe":["\#(id)"]}"#)
            let first = try bench.broadcast(id, seconds: 3600)
            #expect(try bench.state(first) == "stored")
            let second = try bench.broadcast(id, seconds: 3600)
            #expect(try bench.state(first) == "replaced")
            try bench.change(away, #"{"online":true}"#)
            #expect(try bench.inbox(away) == [second])
            try bench.change(away, #"{"online":false}"#)
            try bench.change(away, #"{"online":true}"#)
            #expect(try bench.inbox(away) == [second], "it is delivered once")

            let late = try bench.device()
            try bench.change(late, #"{"subscribe":["\#(id)"]}"#)
            #expect(try bench.inbox(late) == [second])
            let third = try bench.broadcast(id, seconds: 0)
            #expect(try bench.inbox(late) == [second, third])
        }
    }

    @Test func whatAChannelKeepsEndsWithItsExpiration() async throws {
        try await CaseBench.run { bench in
            let id = try bench.channel(policy: 1)
            let away = try bench.device(online: false)
            try bench.change(away, #"{"subscribe":["\#(id)"]}"#)
            let push = try bench.broadcast(id, seconds: 2)
            try bench.expect(push, reaches: "expired")
            try bench.change(away, #"{"online":true}"#)
            #expect(try bench.inbox(away).isEmpty)
        }
    }

    @Test func anUnknownChannelIsNoSubscription() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let production = try bench.channel(isProduction: true)
            for id in ["AAAA", production] {
                let (status, answer) = try bench.controlStatus(
                    "PATCH", "devices/\(phone.id)", #"{"subscribe":["\#(id)"]}"#)
                #expect(status == 404)
                #expect(answer[path: "error.code"]?.stringValue == "unknown_channel")
            }
        }
    }

    @Test func channelsSubscriptionsAndWhatIsKeptSurviveARestart() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("cast-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func run(_ body: (CaseBench) async throws -> Void) async throws {
            try await CaseBench.run(
                configure: {
                    $0.dataDirectory = directory
                    $0.isEphemeral = false
                }, body)
        }
        var id = ""
        var push = ""
        var phone: CaseBench.Device?
        try await run { bench in
            id = try bench.channel(policy: 1)
            let away = try bench.device(online: false)
            try bench.change(away, #"{"subscribe":["\#(id)"]}"#)
            push = try bench.broadcast(id, seconds: 3600)
            phone = away
        }
        try await run { bench in
            let read = try bench.manager().request(bench.channelCall("GET", ["apns-channel-id": id]), body: [])
            #expect(read.status == 200)
            let away = try #require(phone)
            try bench.change(away, #"{"online":true}"#)
            #expect(try bench.inbox(away) == [push])
        }
        try await run { bench in
            let away = try #require(phone)
            try bench.change(away, #"{"online":false}"#)
            try bench.change(away, #"{"online":true}"#)
            #expect(try bench.inbox(away) == [push], "how far a device has come survives, too")
            _ = try bench.manager().request(bench.channelCall("DELETE", ["apns-channel-id": id]), body: [])
        }
        try await run { bench in
            let read = try bench.manager().request(bench.channelCall("GET", ["apns-channel-id": id]), body: [])
            #expect(read.reason == "ChannelNotRegistered")
            #expect(try bench.channel() != id)
        }
    }
}
