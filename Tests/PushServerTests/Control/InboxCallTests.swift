import PushJSON
import PushProvider
import PushServer
import Testing

/// What a device received, and devices the server hosts itself.
@Suite struct InboxCallTests {
    @Test func theInboxHoldsWhatWasReceivedInOrder() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let empty = try await bench.get("devices/\(phone.id)/inbox").body
            #expect(empty == ["messages": [], "next": 0])
            let id = try await bench.accepted(phone.token, "one")
            _ = try await bench.accepted(phone.token, "two")
            let inbox = try await bench.get("devices/\(phone.id)/inbox").body
            let first = inbox["messages"]?[0]
            #expect(first?["push"] == .string(id))
            #expect(first?["topic"] == "com.example.app")
            #expect(first?["payload"] == ["aps": ["alert": ["title": "one"]]])
            #expect(first?["receivedAt"]?.intValue != nil)
            let place = try #require(first?["seq"]?.intValue)
            #expect(try await bench.titles("devices/\(phone.id)/inbox?after=\(place)") == ["two"])
            let end = try #require(inbox["next"]?.intValue)
            #expect(try await bench.get("devices/\(phone.id)/inbox?after=\(end)").body["messages"] == [])
        }
    }

    @Test func aMessageHasTheCollapseIDThatIdentifiesItsNotification() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            _ = try await bench.accepted(phone.token, "one") { $0.collapseID = "score" }
            _ = try await bench.accepted(phone.token, "two")
            let messages = try await bench.get("devices/\(phone.id)/inbox").body["messages"]?.arrayValue
            #expect(messages?.map { $0["collapseID"] } == ["score", nil])
        }
    }

    @Test func aLongPollIsAnsweredByTheNextMessage() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let other = try await bench.addDevice()
            let poll = try await bench.begin("devices/\(phone.id)/inbox?wait=10m")
            _ = try await bench.accepted(other.token, "not this")
            _ = try await bench.accepted(phone.token, "this")
            let body = try await poll.value.body
            #expect(body["messages"]?.arrayValue?.map { $0[path: "payload.aps.alert.title"] } == ["this"])
        }
    }

    @Test func aLongPollWithoutMessagesEndsEmpty() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let reply = try await bench.get("devices/\(phone.id)/inbox?after=7&wait=1ms")
            #expect(reply.status == 200)
            #expect(reply.body == ["messages": [], "next": 7])
        }
    }

    @Test(arguments: ["DELETE devices/d1", "POST reset"])
    func aLongPollOfADeviceThatIsRemovedEnds(call: String) async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            #expect(phone.id == "d1")
            let poll = try await bench.begin("devices/\(phone.id)/inbox?wait=10m")
            let parts = call.split(separator: " ").map(String.init)
            #expect(try await bench.call(parts[0], parts[1]).status == 200)
            #expect(try await poll.value.code == "unknown_device")
        }
    }

    @Test func aPhoneThatComesBackFindsTheNewestPushOnly() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            try await bench.change(phone, ["online": false])
            for title in ["one", "two", "three"] { _ = try await bench.accepted(phone.token, title) }
            #expect(try await bench.get("devices/\(phone.id)").body["registrations"]?[0]?["queued"] == 1)
            try await bench.change(phone, ["online": true])
            #expect(try await bench.titles("devices/\(phone.id)/inbox") == ["three"])
            #expect(try await bench.titles("pushes?state=replaced") == ["one", "two"])
        }
    }

    @Test func underTheIdealProfileItFindsAllInOrder() async throws {
        try await ControlBench.run({ $0.profile = .ideal }) { bench in
            let phone = try await bench.addDevice(["online": false])
            for title in ["one", "two", "three"] { _ = try await bench.accepted(phone.token, title) }
            try await bench.change(phone, ["online": true])
            #expect(try await bench.titles("devices/\(phone.id)/inbox") == ["one", "two", "three"])
            let later = try await bench.accepted(phone.token, "four")
            #expect(try await bench.state(later) == "acknowledged")
        }
    }

    @Test func theRuleOfAnAppWinsOverTheProfile() async throws {
        try await ControlBench.run { bench in
            try await bench.call("PATCH", "apps/\(ControlBench.app)", ["storageRule": "ideal"])
            let phone = try await bench.addDevice(["online": false])
            for title in ["one", "two"] { _ = try await bench.accepted(phone.token, title) }
            try await bench.change(phone, ["online": true])
            #expect(try await bench.titles("devices/\(phone.id)/inbox") == ["one", "two"])
        }
    }

    @Test func whereNotificationsAreOffAPushIsAcceptedAndDroppedWithTheReason() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            try await bench.change(phone, ["notificationsEnabled": false])
            let id = try await bench.accepted(phone.token)
            let push = try await bench.get("pushes/\(id)").body
            #expect(push["state"] == "dropped")
            #expect(push["sentence"] == "Dropped: notifications are switched off on the device.")
            #expect(try await bench.titles("devices/\(phone.id)/inbox") == [])
            try await bench.change(phone, ["notificationsEnabled": true])
            #expect(try await bench.state(bench.accepted(phone.token)) == "acknowledged")
        }
    }

    @Test(
        arguments: [
            (["registered": false], ["registered": true], "Unregistered"),
            (["expired": true], ["expired": false], "ExpiredToken"),
        ] as [(JSONValue, JSONValue, String)])
    func aTokenThatEndedAnswers410SinceThenUntilItIsGoodAgain(
        off: JSONValue, on: JSONValue, reason: String
    ) async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let before = try await bench.get("pushes/\(bench.accepted(phone.token))").body["receivedAt"]?.intValue
            try await bench.change(phone, off)
            let response = try await bench.push(phone.token)
            #expect(response.status == 410)
            #expect(response.reason?.rawValue == reason)
            let since = try #require(response.timestampMilliseconds)
            #expect(try since >= #require(before))
            #expect(try await bench.push(phone.token).timestampMilliseconds == since)
            try await bench.change(phone, on)
            #expect(try await bench.push(phone.token).isAccepted)
        }
    }

    @Test func unregisteringDropsWhatWaits() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["online": false])
            let id = try await bench.accepted(phone.token)
            try await bench.change(phone, ["registered": false])
            let sentence = try await bench.get("pushes/\(id)").body["sentence"]?.stringValue
            #expect(sentence?.contains("it was unregistered") == true)
        }
    }
}
