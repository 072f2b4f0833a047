import Testing

@testable import localpush

@Suite struct PushDraftTests {
    private func payload(_ draft: PushDraft) -> String { String(decoding: draft.resolvedPayload, as: UTF8.self) }

    @Test func titleAndBodyMakeAnAlert() {
        #expect(
            payload(PushDraft(title: "T \"1\"", body: "")) == #"{"aps":{"alert":{"title":"T \"1\"","body":""}}}"#)
        #expect(payload(PushDraft(body: "B")) == #"{"aps":{"alert":{"body":"B"}}}"#)
    }

    @Test func withoutAnyTextThePayloadFollowsFromTheKind() {
        #expect(payload(PushDraft(pushType: "background")) == #"{"aps":{"content-available":1}}"#)
        #expect(payload(PushDraft(pushType: "widgets")) == #"{"aps":{"content-changed":true}}"#)
        #expect(payload(PushDraft(pushType: "alert")) == #"{"aps":{"alert":{"title":"Hello from LocalPush"}}}"#)
    }

    @Test func bytesOfAFileAreSentAsTheyAre() {
        #expect(PushDraft(payload: [0xFF, 0x00]).resolvedPayload == [0xFF, 0x00])
        #expect(PushDraft(payload: []).resolvedPayload == [])
    }

    @Test(arguments: [
        ("alert", "a.b"), ("background", "a.b"), ("mdm", "a.b"), ("location", "a.b.location-query"),
        ("voip", "a.b.voip"), ("complication", "a.b.complication"), ("fileprovider", "a.b.pushkit.fileprovider"),
        ("liveactivity", "a.b.push-type.liveactivity"), ("pushtotalk", "a.b.voip-ptt"),
        ("widgets", "a.b.push-type.widgets"), ("controls", "a.b.push-type.controls"),
    ])
    func theTopicFollowsFromAppAndKind(pushType: String, topic: String) {
        #expect(PushDraft(app: "a.b", pushType: pushType).resolvedTopic == topic)
        #expect(PushDraft(app: "a.b", topic: "x", pushType: pushType).resolvedTopic == "x")
    }
}

@Suite struct ExpirationTextTests {
    @Test func plainDigitsAreUnixSecondsAndAUnitMeansFromNow() {
        #expect(ExpirationText("0")?.seconds(nowMilliseconds: 5_000_000) == 0)
        #expect(ExpirationText("1800000000")?.seconds(nowMilliseconds: 5_000_000) == 1_800_000_000)
        #expect(ExpirationText("-1")?.seconds(nowMilliseconds: 5_000_000) == -1)
        #expect(ExpirationText("1h")?.seconds(nowMilliseconds: 5_000_000) == 8600)
        #expect(ExpirationText("soon") == nil)
    }
}

@Suite struct SendTextTests {
    @Test func aResultIsOneLine() {
        let time: (Int64) -> String = { "T\($0)" }
        #expect(SendResult(id: "A", status: 200).line(time: time) == "A  200")
        #expect(
            SendResult(id: "A", status: 410, reason: "Unregistered", timestampMilliseconds: 7).line(time: time)
                == "A  410  Unregistered  since T7")
        #expect(SendResult(failure: "nobody").line(time: time) == "-  -  nobody")
        #expect(
            JSONText.line(SendResult(id: "A", status: 400, reason: "BadTopic").json)
                == #"{"id":"A","status":400,"reason":"BadTopic"}"#)
    }

    @Test func theTallyCountsEachOutcomeOnce() {
        var tally = SendTally()
        for result in [SendResult(status: 200), SendResult(status: 400), SendResult(failure: "x")] { tally.add(result) }
        #expect(tally == SendTally(accepted: 1, rejected: 1, failed: 1))
        #expect(
            tally.text(milliseconds: 1500) == "1 accepted, 1 rejected, 1 without an answer in 1.50 s (2/s)")
        #expect(tally.text(milliseconds: 0).hasSuffix("(0/s)"))
    }
}

@Suite struct ServerInfoTests {
    private static let good = """
        {"apns":"127.0.0.1:2197","courier":"0.0.0.0:5223","ca":"/d/ca.pem","environment":"sandbox",
        "key":{"id":"K","team":"T","path":"/d/k.p8"}}
        """

    @Test func anAddressForAllInterfacesBecomesTheHostWeAsked() throws {
        let info = try ServerInfo(JSONText.parse(Self.good), serverHost: "127.0.0.1")
        #expect(info.apns.description == "127.0.0.1:2197")
        #expect(info.courier.description == "127.0.0.1:5223")
        #expect(info.keyPath == "/d/k.p8")
        #expect(info.environment == "sandbox")
    }

    @Test(arguments: ["{}", "null", #"{"apns":"x"}"#])
    func whatIsMissingIsNamed(text: String) {
        #expect(throws: CommandFailure.self) { try ServerInfo(JSONText.parse(text), serverHost: "h") }
    }
}

@Suite struct DeviceSelectionTests {
    private static let reply = """
        {"devices":[{"id":"d1","registrations":[{"app":"a","token":"01"}]},
        {"id":"d2","registrations":[{"app":"a","token":"02"},{"app":"b","token":"03"}]},
        {"id":"d3","registrations":[{"app":"a","token":"04","registered":false}]},
        {"id":"d4","registrations":[{"app":"a","token":"05","expired":true}]}]}
        """

    @Test func theNewestDeviceWithALivingTokenIsChosen() throws {
        #expect(DeviceSelection.newestToken(DeviceSelection.devices(try JSONText.parse(Self.reply)), app: "a") == "02")
        #expect(DeviceSelection.newestToken(DeviceSelection.devices(try JSONText.parse(Self.reply)), app: "b") == "03")
        #expect(DeviceSelection.newestToken(DeviceSelection.devices(try JSONText.parse(Self.reply)), app: "c") == nil)
    }

    @Test func devicesAreFilteredByApp() throws {
        #expect(DeviceSelection.filter(DeviceSelection.devices(try JSONText.parse(Self.reply)), app: "b").count == 1)
        #expect(DeviceSelection.filter(DeviceSelection.devices(try JSONText.parse(Self.reply)), app: nil).count == 4)
    }
}
