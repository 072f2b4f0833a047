import PushCore
import PushJSON
import Testing

/// The rules of what stands inside `aps`, one row for each.
@Suite struct ApsLintTests {
    private typealias Row = (String, String, String)

    private static func check(_ aps: String, _ path: String, _ part: String, type: PushType = .alert) {
        PayloadLintTests.expectOne(PayloadLintTests.warnings(#"{"aps":{\#(aps)}}"#, type: type), path, part)
    }

    // MARK: Types and values

    private static let types: [Row] = [
        (#""alert":5"#, "aps.alert", "text or a dictionary, not a number"),
        (#""alert":["a"]"#, "aps.alert", "not an array"),
        (#""badge":"3""#, "aps.badge", "a number, not text"), (#""badge":true"#, "aps.badge", "not a Boolean"),
        (#""badge":1.5"#, "aps.badge", "whole number"), (#""badge":-1"#, "aps.badge", "at least 0"),
        (#""sound":1"#, "aps.sound", "text or a dictionary"),
        (#""alert":"a","thread-id":7"#, "aps.thread-id", "must be text"),
        (#""alert":"a","category":null"#, "aps.category", "not null"),
        (#""alert":"a","target-content-id":{}"#, "aps.target-content-id", "not a dictionary"),
        (#""alert":"a","content-available":true"#, "aps.content-available", "the number 1, not a Boolean"),
        (#""alert":"a","content-available":0"#, "aps.content-available", "the number 1, not anything else"),
        (#""alert":"a","mutable-content":"1""#, "aps.mutable-content", "the number 1, not text"),
        (#""alert":"a","interruption-level":2"#, "aps.interruption-level", "must be text"),
        (#""alert":"a","interruption-level":"timeSensitive""#, "aps.interruption-level", "time-sensitive"),
        (#""alert":"a","interruption-level":"Active""#, "aps.interruption-level", "one of passive, active"),
        (#""alert":"a","relevance-score":1.5"#, "aps.relevance-score", "between 0 and 1"),
        (#""alert":"a","relevance-score":-0.1"#, "aps.relevance-score", "between 0 and 1"),
        (#""alert":"a","relevance-score":"1""#, "aps.relevance-score", "a number"),
        (#""alert":"a","filter-criteria":[]"#, "aps.filter-criteria", "must be text"),
        (#""alert":"a","url-args":[1]"#, "aps.url-args", "an array of other values"),
        (#""alert":"a","url-args":"x""#, "aps.url-args", "array of texts, not text"),
    ]

    @Test(arguments: types)
    func aWrongTypeOrValueIsTold(aps: String, path: String, part: String) { Self.check(aps, path, part) }

    // MARK: Names

    private static let names: [Row] = [
        (#""alert":"a","custom":1"#, "aps.custom", "put custom data beside aps"),
        (#""alert":"a","content_available":1"#, "aps.content_available", "content-available was probably meant"),
        (#""alert":"a","mutableContent":1"#, "aps.mutableContent", "mutable-content was probably meant"),
        (#""alert":"a","Badge":1"#, "aps.Badge", "badge was probably meant"),
        (#""alert":"a","threadID":"t""#, "aps.threadID", "thread-id was probably meant"),
        (#""alert":"a","summary-arg":"x""#, "aps.summary-arg", "since iOS 15"),
        (#""alert":"a","summary-arg-count":1"#, "aps.summary-arg-count", "since iOS 15"),
        (#""alert":{"body":"a","text":"x"}"#, "aps.alert.text", "devices ignore it"),
        (#""alert":{"body":"a","sound":"x"}"#, "aps.alert.sound", "devices ignore it"),
        (#""alert":{"body":"a","locKey":"x"}"#, "aps.alert.locKey", "loc-key was probably meant"),
        (#""alert":{"body":"a","action-loc-key":"x"}"#, "aps.alert.action-loc-key", "old systems"),
        (#""alert":{"body":"a","action":"x"}"#, "aps.alert.action", "old systems"),
    ]

    @Test(arguments: names)
    func aNameThatDevicesDoNotKnowIsTold(aps: String, path: String, part: String) { Self.check(aps, path, part) }

    // MARK: Alert and sound

    private static let alerts: [Row] = [
        (#""alert":"""#, "aps.alert", "empty"), (#""alert":{}"#, "aps.alert", "empty"),
        (#""alert":{"title":1}"#, "aps.alert.title", "must be text"),
        (#""alert":{"body":{"loc-key":"k"}}"#, "aps.alert.body", "must be text, not a dictionary"),
        (#""alert":{"loc-key":"k","loc-args":"a"}"#, "aps.alert.loc-args", "array of texts"),
        (#""alert":{"loc-key":"k","loc-args":[1]}"#, "aps.alert.loc-args", "other values"),
        (#""alert":{"body":"b","loc-args":["a"]}"#, "aps.alert.loc-args", "without loc-key"),
        (#""alert":{"body":"b","title-loc-args":[]}"#, "aps.alert.title-loc-args", "without title-loc-key"),
        (#""alert":{"body":"b","subtitle-loc-args":[]}"#, "aps.alert.subtitle-loc-args", "without subtitle-loc-key"),
        (#""sound":{"critical":true,"name":"n"}"#, "aps.sound.critical", "the number 1"),
        (#""sound":{"critical":1,"volume":1}"#, "aps.sound", "without the name"),
        (#""sound":{"name":"n","volume":1.5}"#, "aps.sound.volume", "between 0 and 1"),
        (#""sound":{"name":"n","volume":"1"}"#, "aps.sound.volume", "a number"),
        (#""sound":{"name":"n","loud":1}"#, "aps.sound.loud", "devices ignore it"),
        (#""badge":1,"mutable-content":1"#, "aps.mutable-content", "without an alert"),
        (#""alert":{"launch-image":"i"},"mutable-content":1"#, "aps.mutable-content", "title, subtitle or body"),
    ]

    @Test(arguments: alerts)
    func aFaultInAlertOrSoundIsTold(aps: String, path: String, part: String) { Self.check(aps, path, part) }

    // MARK: Push type against payload

    private static let contradictions: [(String, PushType, String, String)] = [
        (#""content-available":1,"alert":"a""#, .background, "aps.alert", "contradicts push type background"),
        (#""content-available":1,"badge":1"#, .background, "aps.badge", "contradicts"),
        (#""content-available":1,"sound":"s""#, .background, "aps.sound", "contradicts"),
        (#""category":"c""#, .background, "aps.content-available", "must be 1"),
        (#""content-available":1,"alert":"a""#, .alert, "aps.content-available", "stands with alert"),
        (#""content-available":1"#, .alert, "aps.content-available", "push type background"),
        (#""category":"c""#, .alert, "aps", "nothing to show"), ("", .alert, "aps", "nothing to show"),
        (#""alert":"a","content-changed":true"#, .alert, "aps.content-changed", "widgets and controls"),
        ("", .widgets, "aps.content-changed", "widgets pushes carry true"),
        (#""content-changed":1"#, .controls, "aps.content-changed", "must be true"),
        (#""content-changed":false"#, .controls, "aps.content-changed", "must be true"),
        (#""alert":"a","event":"update""#, .alert, "aps.event", "push type liveactivity"),
    ]

    @Test(arguments: contradictions)
    func aPayloadThatContradictsItsPushTypeIsTold(aps: String, type: PushType, path: String, part: String) {
        Self.check(aps, path, part, type: type)
    }

    @Test func contentAvailableAloneWithPriorityTenIsTold() {
        let found = PayloadLintTests.warnings(#"{"aps":{"content-available":1}}"#, type: nil, priority: 10)
        #expect(found.map(\.path) == ["apns-push-type", "apns-priority"])
    }

    @Test func anMDMPushNeedsItsMagic() {
        PayloadLintTests.expectOne(PayloadLintTests.warnings("{}", type: .mdm), "mdm", "push magic")
    }

    // MARK: Live Activities

    private static let now = startMilliseconds / 1000
    private static let state = #""timestamp":\#(now),"content-state":{"a":1}"#
    private static let start =
        #"\#(state),"event":"start","alert":{"title":"t"},"attributes-type":"T","attributes":{}"#

    @Test(arguments: [
        #"\#(state),"event":"update","relevance-score":100,"stale-date":\#(now + 60)"#,
        #"\#(state),"event":"end","dismissal-date":\#(now + 3600)"#, #"\#(state),"event":"end","dismissal-date":0"#,
        #""timestamp":\#(now),"event":"end""#, start, #"\#(start),"input-push-token":1"#,
        #"\#(start),"input-push-channel":"dHN0LXNyY2gtY2hubA==""#,
        #"""
        \#(state),"event":"update","alert":{"title":{"loc-key":"k","loc-args":["a"]},"body":"b","sound":"s.caf"}
        """#,
    ])
    func aGoodLiveActivityHasNoWarning(aps: String) {
        #expect(PayloadLintTests.warnings(#"{"aps":{\#(aps)}}"#, type: .liveactivity) == [])
        let found = PayloadLintTests.warnings(#"{"aps":{\#(aps)}}"#, type: nil, suffix: .liveactivity)
        #expect(found.map(\.path) == ["apns-push-type"])
    }

    private static let activities: [Row] = [
        (state, "aps.event", "one of start, update, end"),
        (#"\#(state),"event":"stop""#, "aps.event", "one of start, update, end"),
        (#"\#(state),"event":1"#, "aps.event", "must be text"),
        (#""content-state":{},"event":"update""#, "aps.timestamp", "missing"),
        (#""timestamp":\#(now),"event":"update""#, "aps.content-state", "no content"),
        (#""timestamp":\#(now),"event":"update","content-state":"x""#, "aps.content-state", "a dictionary, not text"),
        (#""timestamp":\#(now * 1000),"content-state":{},"event":"update""#, "aps.timestamp", "milliseconds"),
        (#""timestamp":60,"content-state":{},"event":"update""#, "aps.timestamp", "before 2002"),
        (#""timestamp":"\#(now)","content-state":{},"event":"update""#, "aps.timestamp", "a number, not text"),
        (#"\#(state),"event":"update","stale-date":\#(now * 1000)"#, "aps.stale-date", "milliseconds"),
        (#"\#(state),"event":"update","stale-date":60"#, "aps.stale-date", "before 2002"),
        (#"\#(state),"event":"end","dismissal-date":\#(now * 1000)"#, "aps.dismissal-date", "milliseconds"),
        (#"\#(state),"event":"end","dismissal-date":\#(now + 14_401)"#, "aps.dismissal-date", "four hours"),
        (#"\#(state),"event":"update","dismissal-date":\#(now)"#, "aps.dismissal-date", "event end only"),
        (#"\#(state),"event":"update","attributes":{}"#, "aps.attributes", "event start only"),
        (#"\#(state),"event":"update","input-push-token":1"#, "aps.input-push-token", "event start only"),
        (#"\#(start),"input-push-token":2"#, "aps.input-push-token", "the number 1"),
        (#"\#(start),"input-push-channel":"a b""#, "aps.input-push-channel", "base64"),
        (#"\#(start),"input-push-channel":"""#, "aps.input-push-channel", "base64"),
        (#"\#(state),"event":"start","alert":"a","attributes":{}"#, "aps.attributes-type", "does not start"),
        (#"\#(state),"event":"start","alert":"a","attributes-type":"T""#, "aps.attributes", "does not start"),
        (#"\#(state),"event":"start","attributes":{},"attributes-type":"T""#, "aps.alert", "does not start"),
        (#"\#(state),"event":"update","alert":{"title":{"loc-args":[]}}"#, "aps.alert.title", "without loc-key"),
        (#"\#(state),"event":"update","alert":{"title":{"loc-key":1}}"#, "aps.alert.title.loc-key", "must be text"),
        (#"\#(state),"event":"update","alert":{"sound":{}}"#, "aps.alert.sound", "without the name"),
        (#"\#(state),"event":"update","content-changed":true"#, "aps.content-changed", "widgets"),
    ]

    @Test(arguments: activities)
    func aFaultInALiveActivityIsTold(aps: String, path: String, part: String) {
        Self.check(aps, path, part, type: .liveactivity)
    }

    @Test func aBroadcastIsAboutALiveActivityAndStartsNone() {
        let bytes = Array(#"{"aps":{\#(Self.start)}}"#.utf8)
        var subject = LintSubject(
            payload: try? JSONParser().parse(bytes.span), payloadBytes: 5120, receivedAt: startMilliseconds)
        subject.isBroadcast = true
        let found = PayloadLint.warnings(subject)
        #expect(found.map(\.path) == ["payload", "aps.event"])
        #expect(found.first?.message.contains("leaves 0 of 5120") == true)
    }

    @Test func aLiveActivityTakesPriorityFiveOrTen() {
        let payload = #"{"aps":{\#(Self.state),"event":"update"}}"#
        #expect(PayloadLintTests.warnings(payload, type: .liveactivity, priority: 10) == [])
        let found = PayloadLintTests.warnings(payload, type: .liveactivity, priority: 1)
        PayloadLintTests.expectOne(found, "apns-priority", "5 or 10")
    }
}
