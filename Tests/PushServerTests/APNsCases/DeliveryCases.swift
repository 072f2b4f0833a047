import Foundation
import PushJSON
import Testing

/// Cases about what becomes of an accepted push, and what a provider hears of devices that are gone.
@Suite(.serialized) struct DeliveryCases {
    /// Sends the good request with changes and returns the id of the answer.
    private func push(
        _ bench: CaseBench, _ client: CaseClient, _ phone: CaseBench.Device, _ changes: [String: String?] = [:]
    ) throws -> String {
        let answer = try client.request(bench.push(to: phone.token, changes), body: CaseBench.body)
        #expect(answer.status == 200)
        return answer["apns-id"] ?? ""
    }

    @Test("case 21: a push that expired in 1970 is answered 200 and never stored")
    func expiredLongAgo() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device(online: false)
            let client = try bench.client()
            let id = try push(bench, client, phone, ["apns-expiration": "300"])
            try bench.expect(id, reaches: "dropped")
            try bench.change(phone, #"{"online":true}"#)
            #expect(try bench.inbox(phone).isEmpty)
        }
    }

    @Test("case 33: of three pushes to a device that is away the last arrives; with expiration 0 none")
    func onePerTopic() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device(online: false)
            let client = try bench.client()
            let ids = try (0..<3).map { _ in try push(bench, client, phone) }
            // Another topic of the app has a place of its own.
            let voip = try push(
                bench, client, phone, ["apns-topic": CaseBench.topic + ".voip", "apns-push-type": "voip"])
            let once = try (0..<3).map { _ in try push(bench, client, phone, ["apns-expiration": "0"]) }
            #expect(try bench.state(ids[0]) == "replaced" && bench.state(ids[1]) == "replaced")
            for id in once { #expect(try bench.state(id) == "dropped") }
            try bench.change(phone, #"{"online":true}"#)
            #expect(try bench.inbox(phone) == [ids[2], voip])
        }
    }

    @Test("case 33: with delivery.storage ideal all three arrive, in order")
    func allOfTopic() async throws {
        try await CaseBench.run(settings: ["delivery.storage": "ideal"]) { bench in
            let phone = try bench.device(online: false)
            let client = try bench.client()
            let ids = try (0..<3).map { _ in try push(bench, client, phone) }
            try bench.change(phone, #"{"online":true}"#)
            #expect(try bench.inbox(phone) == ids)
        }
    }

    @Test("a stored push expires at its time")
    func expires() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device(online: false)
            let soon = "\(Int(Date().timeIntervalSince1970) + 1)"
            let id = try push(bench, bench.client(), phone, ["apns-expiration": soon])
            try bench.expect(id, reaches: "expired")
            try bench.change(phone, #"{"online":true}"#)
            #expect(try bench.inbox(phone).isEmpty)
        }
    }

    @Test("priorities 10, 5 and 1: as lenient all go at once, in order")
    func prioritiesLenient() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let ids = try ["1", "5", "10"].map { try push(bench, client, phone, ["apns-priority": $0]) }
            #expect(try bench.inbox(phone) == ids)
            for id in ids { #expect(try bench.lifeLine(id) == ["accepted", "stored", "sent", "acknowledged"]) }
        }
    }

    @Test("priority 5 is sent in a burst, priority 1 goes along")
    func bursts() async throws {
        try await CaseBench.run(settings: ["delivery.burstInterval": "400ms"]) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let one = try push(bench, client, phone, ["apns-priority": "1"])
            try client.listen(milliseconds: 600)
            #expect(try bench.state(one) == "held")
            #expect(try bench.sentence(one).contains("never wakes a device"))
            let fives = try (0..<2).map { _ in try push(bench, client, phone, ["apns-priority": "5"]) }
            #expect(try bench.state(fives[0]) == "held")
            #expect(try bench.sentence(fives[0]).contains("sent in bursts"))
            try bench.expect(fives[1], reaches: "acknowledged")
            #expect(try bench.inbox(phone) == [one] + fives)
            let line = try bench.lifeLine(fives[0])
            #expect(line.map { $0.prefix { $0 != ":" } } == ["accepted", "stored", "held", "sent", "acknowledged"])
        }
    }

    @Test("a push with priority 10 takes along what is held, in the order it was accepted")
    func immediateTakesAlong() async throws {
        try await CaseBench.run(settings: ["delivery.burstInterval": "10m"]) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let ids = try ["1", "5", "10"].map { try push(bench, client, phone, ["apns-priority": $0]) }
            try bench.expect(ids[2], reaches: "acknowledged")
            #expect(try bench.inbox(phone) == ids)
        }
    }

    @Test("background pushes beyond the share: the newest waits for the next interval, older ones are dropped")
    func backgroundShare() async throws {
        let settings = ["delivery.backgroundPushes": "2", "delivery.backgroundInterval": "1500ms"]
        try await CaseBench.run(settings: settings) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let quiet: [String: String?] = ["apns-push-type": "background", "apns-priority": "5"]
            let ids = try (0..<4).map { _ in try push(bench, client, phone, quiet) }
            let loud = try push(bench, client, phone)
            #expect(try bench.inbox(phone) == [ids[0], ids[1], loud])
            #expect(try bench.state(ids[2]) == "dropped" && bench.state(ids[3]) == "held")
            #expect(try bench.sentence(ids[2]).contains("delivery.backgroundPushes"))
            try bench.expect(ids[3], reaches: "acknowledged")
            #expect(try bench.inbox(phone) == [ids[0], ids[1], loud, ids[3]])
        }
    }

    @Test("background pushes: as lenient there is no share")
    func backgroundLenient() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let ids = try (0..<6).map { _ in try push(bench, client, phone, ["apns-push-type": "background"]) }
            #expect(try bench.inbox(phone) == ids)
        }
    }

    @Test(
        "case 24: an unregistered token answers 410 with the time in milliseconds, alone or after some grace",
        arguments: [
            [:], ["delivery.unregisteredGraceSends": "2"], ["delivery.unregisteredGrace": "700ms"],
        ])
    func unregistered(settings: [String: String]) async throws {
        try await CaseBench.run(settings: settings) { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let before = Int64(Date().timeIntervalSince1970 * 1000)
            try bench.change(phone, #"{"registered":false}"#)
            let after = Int64(Date().timeIntervalSince1970 * 1000)
            for _ in 0..<(settings.isEmpty ? 0 : 2) {
                let id = try push(bench, client, phone)
                #expect(try bench.state(id) == "dropped")
                #expect(try bench.sentence(id).contains("unregistered"))
            }
            if settings["delivery.unregisteredGrace"] != nil { try client.listen(milliseconds: 800) }
            let answer = try client.request(bench.push(to: phone.token), body: CaseBench.body)
            #expect(answer.status == 410 && answer.reason == "Unregistered")
            let match = try #require(answer.body.wholeMatch(of: /\{"reason":"Unregistered","timestamp":(\d+)\}/))
            let time = try #require(Int64(match.output.1))
            #expect((before - 1...after + 1).contains(time))
            // Registered again: the token is good, and the grace begins anew.
            try bench.change(phone, #"{"registered":true}"#)
            try bench.expect(push(bench, client, phone), reaches: "acknowledged")
        }
    }

    @Test("an expired token answers 410 ExpiredToken with the time")
    func expiredToken() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            try bench.change(phone, #"{"expired":true}"#)
            let answer = try bench.client().request(bench.push(to: phone.token), body: CaseBench.body)
            #expect(answer.status == 410)
            #expect(answer.body.wholeMatch(of: /\{"reason":"ExpiredToken","timestamp":\d{13}\}/) != nil)
        }
    }

    @Test("case 25: a token of the other environment is a bad one, without a time", arguments: [true, false])
    func otherEnvironment(isProductionToken: Bool) async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device(environment: isProductionToken ? "production" : "sandbox")
            let client = try bench.client(
                serverName: isProductionToken ? "api.sandbox.push.apple.com" : "api.push.apple.com")
            let answer = try client.request(bench.push(to: phone.token), body: CaseBench.body)
            #expect(answer.status == 400 && answer.body == #"{"reason":"BadDeviceToken"}"#)
            #expect(try bench.inbox(phone).isEmpty)
        }
    }
}
