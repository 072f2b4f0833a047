import Testing

@testable import localpush

@Suite struct DurationTextTests {
    @Test(arguments: [
        ("5s", 5000), ("250ms", 250), ("2m", 120_000), ("1h", 3_600_000), ("7", 7000), ("0.5s", 500), ("0", 0),
    ])
    func aDurationIsRead(text: String, milliseconds: Int) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "s", "-1s", "1 s", "5x", "1e3s", "nan", "inf", "0x10", "99999999h", "1.2.3s", "+1"])
    func whatIsNoDurationIsRefused(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(arguments: [0, 1, 250, 1000, 1500, 60_000, 61_000, 3_600_000, 5_400_000])
    func aWrittenDurationReadsAsItself(milliseconds: Int) {
        let duration = Duration.milliseconds(milliseconds)
        #expect(DurationText.parse(DurationText.text(duration)) == duration)
    }

    @Test(
        arguments: [
            (0, "0 ms"), (999, "999 ms"), (1240, "1.24 s"), (59_999, "59.99 s"), (185_000, "3m 05s"),
            (7_380_000, "2h 03m"), (349_200_000, "4d 01h"), (-12, "-12 ms"),
        ] as [(Int64, String)])
    func aSpanIsSpoken(milliseconds: Int64, text: String) {
        #expect(DurationText.spoken(milliseconds: milliseconds) == text)
    }
}

@Suite struct TimeTextTests {
    @Test(
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000Z"),
            (1_709_164_800_123, 0, "2024-02-29T00:00:00.123Z"),
            (1_709_164_800_123, 3600, "2024-02-29T01:00:00.123+01:00"),
            (1_709_164_800_123, -12_600, "2024-02-28T20:30:00.123-03:30"),
            (951_782_400_000, 0, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400_000, 0, "2100-03-01T00:00:00.000Z"),
            (-1, 0, "1969-12-31T23:59:59.999Z"),
        ] as [(Int64, Int, String)])
    func aMomentIsWrittenAsISO8601(milliseconds: Int64, offset: Int, text: String) {
        #expect(TimeText.iso(milliseconds: milliseconds, offsetSeconds: offset) == text)
    }

    @Test func theEdgesOfTimeDoNotTrap() {
        #expect(!TimeText.iso(milliseconds: .max, offsetSeconds: 1).isEmpty)
        #expect(!TimeText.iso(milliseconds: .min, offsetSeconds: 0).isEmpty)
    }
}

@Suite struct TextTableTests {
    @Test func columnsLineUpWithoutTrailingBlanks() {
        var table = TextTable(["ID", "NAME", "STATE"])
        table.append(["1", "a long name", "online"])
        table.append(["22", "", "off"])
        table.append(["3", "c", ""])
        #expect(
            table.text == """
                ID  NAME         STATE
                1   a long name  online
                22               off
                3   c

                """)
    }

    @Test func controlCharactersBecomeVisible() {
        var table = TextTable(["A"])
        table.append(["x\u{1B}[31m\ny"])
        #expect(table.text == "A\nx\\u{1b}[31m\\ny\n")
    }
}

@Suite struct TextQuoteTests {
    @Test func ordinaryTextAndEmojiStayAsTheyAre() {
        #expect(TextQuote.plain("Grüße 你好 👨‍👩‍👧 ❤️") == "Grüße 你好 👨‍👩‍👧 ❤️")
    }

    @Test func textThatTurnsItsDirectionIsMadeVisible() {
        #expect(TextQuote.plain("a\u{202E}b") == "a\\u{202e}b")
    }
}

@Suite struct HostAndPortTests {
    @Test(arguments: ["127.0.0.1:5223", "[::1]:5223", "localhost:1"])
    func anAddressReadsAndWritesAsItself(text: String) {
        #expect(HostAndPort(text)?.description == text)
    }

    @Test(arguments: ["", ":1", "a", "a:", "a:0", "a:65536", "::1:5223", "[]:1", "a b:1", "a/b:1"])
    func whatIsNoAddressIsRefused(text: String) {
        #expect(HostAndPort(text) == nil)
    }
}
