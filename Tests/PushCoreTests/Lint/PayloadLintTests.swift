import PushBytes
import PushCore
import PushJSON
import Testing

/// Each rule of the linter has a row in a table: a good case is changed in one thing, and one warning comes of it.
@Suite struct PayloadLintTests {
    /// The warnings of a payload, `path message`, sent now with priority 5.
    static func warnings(
        _ payload: String, type: PushType? = .alert, suffix: TopicSuffix? = nil, priority: UInt8 = 5,
        expiration: Int64? = nil
    ) -> [LintWarning] {
        let bytes = Array(payload.utf8)
        var subject = LintSubject(
            payload: try? JSONParser().parse(bytes.span), payloadBytes: bytes.count, receivedAt: startMilliseconds)
        subject.pushType = type
        subject.suffix = suffix ?? type?.topicSuffix ?? .none
        subject.priority = priority
        subject.expiration = expiration
        return PayloadLint.warnings(subject)
    }

    /// Exactly one warning, at `path`, that says `part`.
    static func expectOne(
        _ found: [LintWarning], _ path: String, _ part: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(found.count == 1, "\(found)", sourceLocation: sourceLocation)
        #expect(found.first?.path == path, sourceLocation: sourceLocation)
        #expect(found.first?.message.contains(part) == true, "\(found)", sourceLocation: sourceLocation)
    }

    // MARK: What is good

    @Test(arguments: [
        #"{"aps":{"alert":"Hi"}}"#, #"{"aps":{"badge":0}}"#, #"{"aps":{"sound":"default"},"id":7,"list":[1,null]}"#,
        #"""
        {"aps":{"alert":{"title":"T","subtitle":"S","body":"B","launch-image":"i","title-loc-key":"k",
        "title-loc-args":["a"],"subtitle-loc-key":"k","subtitle-loc-args":[],"loc-key":"k","loc-args":["a","b"]},
        "badge":3,"sound":{"critical":1,"name":"n.caf","volume":0.5},"thread-id":"t","category":"c",
        "mutable-content":1,"target-content-id":"w","interruption-level":"time-sensitive","relevance-score":0.25,
        "filter-criteria":"f","url-args":["x"]},"custom":{"alert":"beside"}}
        """#,
    ])
    func aGoodAlertHasNoWarning(payload: String) {
        #expect(Self.warnings(payload) == [])
        #expect(Self.warnings(payload, priority: 10, expiration: 0) == [])
        #expect(Self.warnings(payload, expiration: startMilliseconds / 1000 + 60) == [])
    }

    private static let others: [(String, PushType)] = [
        (#"{"aps":{"content-available":1}}"#, .background), (#"{"aps":{"content-changed":true}}"#, .widgets),
        (#"{"aps":{"content-changed":true}}"#, .controls), (#"{"mdm":"magic"}"#, .mdm),
        (#"{"aps":{},"call":1}"#, .voip), (#"{"aps":{}}"#, .location),
    ]

    @Test(arguments: others)
    func aGoodPushOfAnotherTypeHasNoWarning(payload: String, type: PushType) {
        #expect(Self.warnings(payload, type: type) == [])
    }

    // MARK: Headers

    private static let expirations: [(Int64, String)] = [
        (300, "1970"), (1, "1970"), (86_400 * 366, "1971"), (999_999_999, "2001"), (-1, "negative"),
        (startMilliseconds, "milliseconds"), (startMilliseconds / 1000, "had passed by 0 seconds"),
        (startMilliseconds / 1000 - 60, "had passed by 60 seconds"), (Int64.max, "milliseconds"),
        (Int64.min, "negative"),
    ]

    @Test(arguments: expirations)
    func anExpirationThatCannotBeMeantIsTold(expiration: Int64, part: String) {
        let found = Self.warnings(#"{"aps":{"alert":"Hi"}}"#, expiration: expiration)
        Self.expectOne(found, "apns-expiration", part)
    }

    @Test func aMissingPushTypeIsTold() {
        Self.expectOne(Self.warnings(#"{"aps":{"alert":"Hi"}}"#, type: nil), "apns-push-type", "absent")
    }

    private static let priorities: [(String, PushType, UInt8, Bool)] = [
        (#"{"aps":{"content-available":1}}"#, .background, 10, true),
        (#"{"aps":{"content-available":1}}"#, .background, 5, false),
        (#"{"aps":{"content-available":1}}"#, .background, 1, false),
    ]

    @Test(arguments: priorities)
    func priorityTenDoesNotGoWithBackground(payload: String, type: PushType, priority: UInt8, isTold: Bool) {
        let found = Self.warnings(payload, type: type, priority: priority)
        #expect(found.map(\.path) == (isTold ? ["apns-priority"] : []))
    }

    // MARK: The whole payload

    private static let shapes: [(String, String, String)] = [
        ("{", "payload", "not JSON"), ("", "payload", "not JSON"), ("[1]", "payload", "not an array"),
        (#""text""#, "payload", "not text"), ("{}", "aps", "missing"), (#"{"a":1}"#, "aps", "missing"),
        (#"{"aps":[]}"#, "aps", "not an array"), (#"{"aps":null}"#, "aps", "not null"),
        (#"{"aps":{"alert":"Hi"},"badge":1}"#, "badge", "beside aps"),
        (#"{"aps":{"alert":"Hi"},"content-available":1}"#, "content-available", "beside aps"),
        (#"{"aps":{"alert":"Hi","alert":"Ho"}}"#, "aps.alert", "more than once"),
        (#"{"aps":{"alert":"Hi"},"x":[{"a":1},{"b":1,"b":2,"b":3}]}"#, "x[1].b", "more than once"),
        (#"{"aps":{"alert":"Hi"},"aps":{"alert":"Hi"}}"#, "aps", "more than once"),
    ]

    @Test(arguments: shapes)
    func aPayloadOfAnotherShapeIsTold(payload: String, path: String, part: String) {
        Self.expectOne(Self.warnings(payload), path, part)
    }

    private static let sizes: [(Int, TopicSuffix, String?)] = [
        (4096, .none, "leaves 0 of 4096"), (4096 - 255, .none, "leaves 255 of 4096"), (4096 - 256, .none, nil),
        (4097, .none, "1 bytes more"), (4097, .voip, nil), (5120, .voip, "leaves 0 of 5120"),
    ]

    @Test(arguments: sizes)
    func theBytesLeftAreToldNearTheLimit(bytes: Int, suffix: TopicSuffix, part: String?) {
        let head = #"{"aps":{"alert":"Hi"},"x":""#
        let payload = head + String(repeating: "x", count: bytes - head.utf8.count - 2) + #""}"#
        let found = Self.warnings(payload, type: suffix == .voip ? .voip : .alert)
        if let part { Self.expectOne(found, "payload", part) } else { #expect(found == []) }
    }

    @Test func noMoreWarningsThanAPersonReadsAreMade() {
        let keys = (0..<200).map { #""unknown\#($0)":1"# }.joined(separator: ",")
        let found = Self.warnings(#"{"aps":{"alert":"Hi",\#(keys)}}"#)
        #expect(found.count == PayloadLint.warningsMax)
    }

    @Test func aLongNameIsCut() {
        let name = String(repeating: "n", count: 500)
        let found = Self.warnings(#"{"aps":{"alert":"Hi","\#(name)":1}}"#)
        Self.expectOne(found, "aps." + String(repeating: "n", count: 64) + "…", "devices ignore it")
    }

    // MARK: Random payloads

    @Test func randomPayloadsNeverCrash() {
        let seed = testSeed()
        print("PayloadLintTests seed \(seed)")
        var random = SeededRandom(seed: seed)
        for _ in 0..<3000 {
            let payload = RandomPayload.value(depth: 0, &random).text
            let type = random.chance(10) ? nil : PushType.allCases.randomElement(using: &random)
            let found = Self.warnings(
                random.chance(5) ? String(payload.dropLast()) : payload, type: type,
                suffix: TopicSuffix.allCases.randomElement(using: &random),
                priority: [10, 5, 1].randomElement(using: &random) ?? 10,
                expiration: random.chance(50) ? nil : Int64.random(in: .min ... .max, using: &random))
            #expect(found.count <= PayloadLint.warningsMax)
            for warning in found {
                #expect(!warning.path.isEmpty && warning.message.hasSuffix("."), "\(warning) of \(payload)")
            }
        }
    }
}

/// Payloads of the right words in the wrong places.
private enum RandomPayload {
    private static let names = [
        "aps", "alert", "badge", "sound", "event", "timestamp", "stale-date", "dismissal-date", "content-state",
        "content-available", "contentAvailable", "mutable-content", "interruption-level", "relevance-score",
        "attributes", "attributes-type", "input-push-channel", "input-push-token", "title", "body", "loc-args",
        "title-loc-args", "loc-key", "critical", "volume", "name", "content-changed", "mdm", "summary-arg", "",
        "é.[0]",
    ]

    static func value(depth: Int, _ random: inout SeededRandom) -> JSONValue {
        if depth == 0 || (depth < 5 && random.chance(45)) {
            let count = Int.random(in: 0...8, using: &random)
            return .object(
                (0..<count).map { _ in
                    let name = depth == 0 && random.chance(70) ? "aps" : names.randomElement(using: &random) ?? ""
                    return JSONMember(name, value(depth: depth + 1, &random))
                })
        }
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .null
        case 1: return .bool(random.chance(50))
        case 2: return .int(Int64.random(in: .min ... .max, using: &random))
        case 3: return .int(Int64.random(in: -2...2, using: &random))
        case 4: return .double(Double(Int64.random(in: .min ... .max, using: &random)) * 1e280)
        case 5: return .string(["start", "update", "end", "dHN0", "a=="].randomElement(using: &random) ?? "")
        case 6: return .string("")
        case 7: return .array([.string("a"), value(depth: depth + 1, &random)])
        default: return .double(0.5)
        }
    }
}
