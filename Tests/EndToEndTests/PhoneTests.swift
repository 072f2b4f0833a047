import PushDevice
import Testing

@testable import localpush

@Suite struct PhoneTextTests {
    private static var push: ReceivedPush {
        var push = ReceivedPush()
        push.pushID = "id-1"
        push.topic = "com.example.app"
        push.payload = Array(#"{"aps": {"alert": "Hi"}}"#.utf8)
        push.receivedAtMilliseconds = 9
        push.isFromStorage = true
        push.isLastStored = true
        push.priority = 10
        push.pushType = "alert"
        return push
    }

    @Test func aMessageIsOneLine() {
        let text = PhoneText(isJSON: false, time: { "T\($0)" })
        #expect(
            text.line(Self.push)
                == #"T9  message  id-1  com.example.app  alert  {"aps":{"alert":"Hi"}}  (from storage, last)"#)
    }

    @Test func aMessageIsOneObjectForMachines() {
        let text = PhoneText(isJSON: true, time: { _ in "" })
        #expect(
            text.line(Self.push)
                == #"{"event":"message","at":9,"push":"id-1","topic":"com.example.app","pushType":"alert","#
                + #""priority":10,"fromStorage":true,"lastStored":true,"payload":{"aps":{"alert":"Hi"}}}"#)
    }

    @Test func aPayloadThatIsNoJSONIsATextAndCannotWriteToTheTerminal() {
        var push = ReceivedPush()
        push.payload = Array("a\u{1B}[2J\n".utf8)
        #expect(
            PhoneText(isJSON: false, time: { "T\($0)" }).line(push) == "T0  message  without-id    -  a\\u{1b}[2J\\n")
        #expect(PhoneText(isJSON: true, time: { _ in "" }).line(push).hasSuffix(#""payload":"a\u001b[2J\n"}"#))
    }
}

@Suite struct FarmTests {
    @Test func theTallyIsOneLine() {
        let tally = FarmTally(devices: 10, connected: 9, registered: 8, received: 7, reconnects: 2, lastReason: "cut")
        #expect(tally.text == "connected 9/10  registered 8  received 7  duplicates 0  reconnects 2  (cut)")
        #expect(
            JSONText.line(tally.json(at: 1))
                == #"{"at":1,"devices":10,"connected":9,"registered":8,"received":7,"duplicates":0,"reconnects":2,"#
                + #""lastReason":"cut"}"#)
    }

    @Test func aRepeatedKeyIsRecognisedUntilSoManyOthersCame() {
        var recent = RecentKeys()
        let first = MessageKey(high: 0, low: 0)
        let others = (1..<RecentKeys.keysMax).map { MessageKey(high: UInt64($0), low: 1) }
        let answers = ([first] + others + [first, MessageKey(high: 9, low: 9), first]).map { recent.isRepeated($0) }
        #expect(answers.dropLast(3).allSatisfy { !$0 })
        #expect(answers.suffix(3) == [true, false, false])
    }
}
