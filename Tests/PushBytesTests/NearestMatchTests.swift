import PushBytes
import Testing

@Suite struct NearestMatchTests {
    @Test(arguments: [
        ("sned", "send"), ("waits", "wait"), ("device", "devices"), ("sreve", "serve"), ("compl", "completions"),
    ])
    func aSlipFindsItsWord(word: String, meant: String) {
        let commands = ["serve", "send", "wait", "devices", "completions"]
        #expect(NearestMatch.find(word, in: commands) == meant)
    }

    @Test func somethingElseFindsNothing() {
        #expect(NearestMatch.find("banana", in: ["serve", "send", "wait"]) == nil)
        #expect(NearestMatch.find("x", in: []) == nil)
    }

    @Test func aSwapOfNeighboursIsOneStep() {
        #expect(NearestMatch.distance(Array("abcd".utf8), Array("abdc".utf8)) == 1)
        #expect(NearestMatch.distance(Array("".utf8), Array("abc".utf8)) == 3)
    }
}
