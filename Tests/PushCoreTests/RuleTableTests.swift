import PushCore
import Testing

@Suite struct RuleTableTests {
    @Test func namesAreDottedAndStandOnce() {
        let names = RuleTable.all.map(\.name)
        #expect(Set(names).count == names.count)
        for name in names { #expect(name.wholeMatch(of: /[a-z]+\.[a-z][A-Za-z0-9]*/) != nil, "\(name)") }
    }

    @Test func everyDefaultIsAValueOfItsRule() {
        for profile in RuleProfile.allCases {
            let settings = RuleSettings(profile: profile)
            for setting in RuleTable.all {
                var copy = RuleSettings()
                #expect(setting.set(setting.text(in: settings), in: &copy), "\(setting.name)")
                #expect(setting.text(in: copy) == setting.text(in: settings))
            }
        }
    }

    @Test func docsAreOneSentence() {
        for setting in RuleTable.all {
            #expect(setting.doc.hasSuffix(".") && setting.doc.first?.isUppercase == true, "\(setting.name)")
        }
    }

    @Test func anUnknownNameFindsTheNearest() {
        #expect(
            RuleTable.objection(to: "connection.streamBeforeToken", "1")
                == "there is no setting connection.streamBeforeToken, did you mean connection.streamsBeforeToken? "
                + "('localpush help settings' lists them)")
    }

    @Test(arguments: [
        ("connection.streams", "0", "connection.streams takes a whole number from 1 to 10000, not '0'"),
        ("auth.trustAnyKey", "1", "auth.trustAnyKey takes on or off, not '1'"),
        ("delivery.storage", "none", "delivery.storage takes one of apns, ideal, not 'none'"),
        (
            "connection.idleTimeout", "2d",
            "connection.idleTimeout takes a duration from 0s to 1d, such as 250ms, 5s, 2m, 1h or 30d, not '2d'"
        ),
    ])
    func aWrongValueSaysWhatIsPossible(name: String, value: String, objection: String) {
        var settings = RuleSettings()
        #expect(settings.set(name, to: value) == objection)
    }

    @Test(arguments: [
        ("90s", "90s"), ("120", "2m"), ("250ms", "250ms"), ("24h", "1d"), ("0s", "0s"), ("1500ms", "1500ms"),
    ])
    func durationsAreWrittenInTheLargestUnitThatFits(text: String, shown: String) throws {
        let milliseconds = try #require(SettingDuration.milliseconds(text))
        #expect(SettingDuration.text(milliseconds) == shown)
    }

    @Test(arguments: ["", "s", "-1s", "1.5s", "1w", "99999999999999999999s", "9223372036854775807d"])
    func otherTextsAreNoDurations(text: String) { #expect(SettingDuration.milliseconds(text) == nil) }
}
