import PushJSON
import PushProvider
import PushServer
import Testing

/// Lists of pushes and single ones.
@Suite struct PushCallTests {
    @Test func aPushIsFoundByTheProvidersIDInAnyCase() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let id = "6f1a3c1e-ABCD-4000-8000-0123456789ab"
            #expect(try await bench.accepted(phone.token) { $0.apnsID = id } == id)
            for form in [id, id.uppercased(), id.lowercased()] {
                let push = try await bench.get("pushes/\(form)")
                #expect(push.status == 200)
                #expect(push.body["id"] == .string(id))
            }
        }
    }

    @Test func aPushIsFoundByTheIDTheServerMade() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let response = try await bench.push(phone.token)
            let id = try #require(response.apnsID)
            #expect(try await bench.get("pushes/\(id)").body["id"] == .string(id))
            #expect(try await bench.get("pushes/\(id.lowercased())").body["id"] == .string(id))
            // With an id of the provider's own, the unique id finds the push as well.
            let own = "6f1a3c1e-0000-4000-8000-0123456789ab"
            let unique = try #require(try await bench.push(phone.token) { $0.apnsID = own }.apnsUniqueID)
            #expect(try await bench.get("pushes/\(unique)").body["id"] == .string(own))
        }
    }

    @Test func aPushShowsWhatWasSentAndItsLifeLine() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["name": "red"])
            let id = try await bench.accepted(phone.token, "Grüße") {
                $0.priority = .considerate
                $0.expirationSeconds = 4_000_000_000
                $0.collapseID = "score"
            }
            let push = try await bench.get("pushes/\(id)").body
            let wanted: [(String, JSONValue)] = [
                ("app", "com.example.app"), ("topic", "com.example.app"), ("token", .string(phone.token)),
                ("device", .string(phone.id)), ("environment", "sandbox"), ("state", "acknowledged"),
                ("status", 200), ("pushType", "alert"), ("priority", 5), ("expiration", 4_000_000_000),
                ("collapseID", "score"), ("channel", "apns"),
                ("payload", ["aps": ["alert": ["title": "Grüße"]]]),
            ]
            for (name, value) in wanted { #expect(push[name] == value, "\(name)") }
            let line = push["lifeLine"]?.arrayValue ?? []
            #expect(line.map { $0["state"] } == ["accepted", "stored", "sent", "acknowledged"])
            #expect(push["sentence"]?.stringValue?.hasPrefix("Acknowledged by red (d1) ") == true)
        }
    }

    @Test func aRejectedPushShowsItsReasonAndWhatGaveOffence() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let response = try await bench.push(phone.token) { $0.collapseID = String(repeating: "x", count: 65) }
            let push = try await bench.get("pushes/\(#require(response.apnsID))").body
            #expect(push["state"] == "rejected")
            #expect(push["status"] == 400)
            #expect(push["reason"] == "BadCollapseId")
            #expect(push["detail"] == .string(String(repeating: "x", count: 65)))
            #expect(push["lifeLine"]?.arrayValue?.map { $0["detail"] } == ["BadCollapseId"])
        }
    }

    @Test func filtersPickByAppTokenStateAndText() async throws {
        try await ControlBench.run { bench in
            try await bench.call("POST", "apps", ["bundle": "com.example.two"])
            let one = try await bench.addDevice()
            let away = try await bench.addDevice(["online": false])
            let two = try await bench.addDevice(["app": "com.example.two"])
            _ = try await bench.accepted(one.token, "first")
            _ = try await bench.accepted(away.token, "second")
            _ = try await bench.accepted(two.token, "THIRD") { $0.topic = "com.example.two" }
            try await bench.push(one.token, "fourth") { $0.topic = "com.example.two" }
            let lists: [(String, [String])] = [
                ("pushes", ["first", "second", "THIRD", "fourth"]), ("pushes?channel=apns&limit=1", ["fourth"]),
                ("pushes?app=com.example.app", ["first", "second"]),
                ("pushes?app=com.example.two", ["THIRD", "fourth"]), ("pushes?app=com.example", []),
                ("pushes?token=\(one.token)", ["first", "fourth"]),
                ("pushes?token=\(one.token)&after=0", ["first", "fourth"]),
                ("pushes?token=\(one.token)&state=rejected", ["fourth"]),
                ("pushes?state=acknowledged", ["first", "THIRD"]), ("pushes?state=stored", ["second"]),
                ("pushes?state=rejected", ["fourth"]), ("pushes?q=third", ["THIRD"]),
                ("pushes?q=aps&limit=2", ["THIRD", "fourth"]),
                ("pushes?q=nothing", []),
            ]
            for (target, titles) in lists { #expect(try await bench.titles(target) == titles, "\(target)") }
        }
    }

    @Test func anOldRejectedPushIsFoundBehindManyOthers() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            try await bench.push(phone.token, "old") { $0.topic = "com.example.other" }
            for number in 1...12 { _ = try await bench.accepted(phone.token, "\(number)") }
            #expect(try await bench.titles("pushes?state=rejected&limit=1") == ["old"])
            #expect(try await bench.titles("pushes?state=rejected&limit=1&token=\(phone.token)") == ["old"])
            #expect(try await bench.titles("pushes?q=old&limit=1") == ["old"])
        }
    }

    @Test(arguments: ["", "&app=com.example.app", "&state=acknowledged", "&q=aps", "&token=TOKEN"], [1, 3, 7, 100])
    func pagesFollowEachOtherWithoutGapOrRepeat(filter: String, limit: Int) async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let other = try await bench.addDevice()
            var sent: [String] = []
            for number in 1...7 {
                _ = try await bench.accepted(phone.token, "\(number)")
                sent.append("\(number)")
                if !filter.contains("token") { continue }
                _ = try await bench.accepted(other.token, "other")
            }
            let filter = filter.replacing("TOKEN", with: phone.token)
            var seen: [String] = []
            var next: Int64 = 0
            var more = true
            var pages = 0
            while more && pages < 20 {
                let target = "pushes?after=\(next)&limit=\(limit)\(filter)"
                let titles = try await bench.titles(target)
                #expect(titles.count <= limit)
                seen += titles
                let page = try await bench.get(target).body
                next = page["next"]?.intValue.map(Int64.init) ?? -1
                more = page["more"]?.boolValue ?? false
                pages += 1
            }
            #expect(seen == sent)
            _ = try await bench.accepted(phone.token, "new")
            #expect(try await bench.titles("pushes?after=\(next)\(filter)") == ["new"])
        }
    }

    @Test func theNewestPushesEndWhereTheNextPageBegins() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            for number in 1...5 { _ = try await bench.accepted(phone.token, "\(number)") }
            let page = try await bench.get("pushes?limit=2").body
            #expect(try await bench.titles("pushes?limit=2") == ["4", "5"])
            #expect(page["more"] == true)
            _ = try await bench.accepted(phone.token, "6")
            let next = try #require(page["next"]?.intValue)
            #expect(try await bench.titles("pushes?after=\(next)") == ["6"])
        }
    }
}
