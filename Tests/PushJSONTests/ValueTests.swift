import PushBytes
import PushJSON
import Testing

struct ValueTests {
    private let parser = JSONParser()

    @Test func everyKindOfValueIsRead() throws {
        let value = try parser.parse(
            #" {"n":null,"t":true,"f":false,"i":-7,"d":2.50,"s":"a\u0000b","a":[1,[]],"o":{}} "#)
        #expect(
            value == [
                "n": nil, "t": true, "f": false, "i": -7, "d": 2.5, "s": "a\0b", "a": [1, []], "o": [:],
            ])
    }

    @Test func orderAndDuplicatesStayAndTheLastOneCounts() throws {
        let value = try parser.parse(#"{"b":1,"a":2,"b":3}"#)
        #expect(value.objectValue?.map(\.name) == ["b", "a", "b"])
        #expect(value["b"] == 3)
        #expect(value.text == #"{"b":1,"a":2,"b":3}"#)
    }

    @Test(
        arguments: [
            ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
            ("9223372036854775808", .double(9_223_372_036_854_775_808)),
            ("-9223372036854775809", .double(-9_223_372_036_854_775_808)),
            ("18446744073709551615", .double(0x1p64)),
            ("18446744073709551616", .double(0x1p64)),
            ("100000000000000000000000000000", .double(1e29)), ("1e400", nil), ("1E2", .double(100)), ("-0", .int(0)),
            ("1e-400", .double(0)), ("4.9e-324", .double(.leastNonzeroMagnitude)),
            ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
            ("0.1", .double(0.1)),
        ] as [(String, JSONValue?)])
    func numbersBeyondAnIntegerBecomeDoubles(text: String, expected: JSONValue?) {
        #expect((try? parser.parse(text)) == expected)
    }

    @Test func onlyIntegersThatOverflowAreReadAsDoubles() throws {
        let text = #"["99999999999999999999",99999999999999999999,9223372036854775807,"\"88888888888888888888",1.5]"#
        #expect(
            try parser.parse(text) == [
                "99999999999999999999", .double(1e20), .int(.max), "\"88888888888888888888", 1.5,
            ])
        let many = [String](repeating: "99999999999999999999", count: 5000).joined(separator: ",")
        #expect(try parser.parse("[\(many)]") == .array(Array(repeating: .double(1e20), count: 5000)))
        #expect(throws: JSONError.self) { try parser.parse("[99999999999999999999,01]") }
        #expect(throws: JSONError.self) { try parser.parse("1" + String(repeating: "0", count: 400)) }
    }

    /// Each of these numbers takes two bytes more in the second reading than the text has.
    @Test func theSecondReadingHasRoomForItsLongerText() throws {
        let numbers = [String](repeating: "-9223372036854775809", count: 390).joined(separator: ",")
        let text = "[" + numbers + "]"
        #expect(text.utf8.count == 8191)
        let isValid = parser.isValid(Array("[]".utf8).span)
        #expect(isValid && parser.retainedBytes == 8192)
        #expect(try parser.parse(text).arrayValue == Array(repeating: .double(-0x1p63), count: 390))
        #expect(parser.retainedBytes == 16384)
    }

    @Test func anyValueComesBackFromItsText() throws {
        let seed = testSeed()
        for round in 0..<2000 {
            var random = SeededRandom(seed: SeededRandom.mix(seed) &+ UInt64(round))
            let value = randomValue(depth: 5, &random)
            let text = value.text
            #expect(try parser.parse(text) == value, "SEED=\(seed), round \(round)")
            #expect(try parser.parse(value.pretty()) == value, "SEED=\(seed), round \(round)")
            var queue = ByteQueue()
            value.write(into: &queue)
            #expect(queue.bytes == Array(text.utf8), "SEED=\(seed), round \(round)")
            #expect(queue.withSpan { parser.isValid($0) }, "SEED=\(seed), round \(round)")
        }
    }

    @Test func everyASCIICharacterIsEscapedAsTheStandardSays() throws {
        for code in UInt8(0)..<0x80 {
            let character = String(UnicodeScalar(code))
            let expected: String =
                switch code {
                case 0x08: "\\b"
                case 0x09: "\\t"
                case 0x0A: "\\n"
                case 0x0C: "\\f"
                case 0x0D: "\\r"
                case 0x22: "\\\""
                case 0x5C: "\\\\"
                case 0..<0x10: "\\u000" + String(code, radix: 16)
                case 0..<0x20: "\\u00" + String(code, radix: 16)
                default: character
                }
            #expect(JSONValue.string(character).text == "\"\(expected)\"")
            #expect(JSONValue.string("é\(character)😀").text == "\"é\(expected)😀\"")
        }
    }

    @Test func aNumberThatJSONCannotWriteBecomesNull() {
        #expect(JSONValue.array([.double(.nan), .double(.infinity), .double(-.infinity)]).text == "[null,null,null]")
        #expect(JSONValue.array([.double(1e300), .double(2), .double(-0.5)]).text == "[1e+300,2.0,-0.5]")
    }

    @Test func prettyTextIsIndented() {
        let value: JSONValue = ["a": [1, ["b": nil]], "c": [], "d": [:]]
        #expect(
            value.pretty() == """
                {
                  "a": [
                    1,
                    {
                      "b": null
                    }
                  ],
                  "c": [],
                  "d": {}
                }
                """)
        #expect(value.text == #"{"a":[1,{"b":null}],"c":[],"d":{}}"#)
    }

    @Test func aPathLeadsIntoObjectsAndArrays() {
        let value: JSONValue = ["a": ["b": [["c": 7], 8, [9]]], "": 1]
        #expect(value[path: "a.b[0].c"] == 7)
        #expect(value[path: "a.b[1]"] == 8)
        #expect(value[path: "a.b[2][0]"] == 9)
        #expect(value[path: "a"] == value["a"])
        #expect(value[path: ""] == value)
        #expect(JSONValue.array([1, 2])[path: "[1]"] == 2)
        for path in [
            ".", "a.", ".a", "a..b", "a.x", "a.b[3]", "a.b[-1]", "a.b[", "a.b[]", "a.b[0", "a.b[x]", "a.b.[0]", "a[0]",
            "a.b[0]c", "a.b.c", "a.b[0].c.d", "a.b]",
        ] {
            #expect(value[path: path] == nil, "\(path)")
        }
    }

    @Test func aValueAnswersOnlyForItsKind() {
        let values: [JSONValue] = [nil, true, 1, 1.5, "s", [], [:]]
        #expect(values.map(\.isNull) == [true, false, false, false, false, false, false])
        #expect(values.map(\.boolValue) == [nil, true, nil, nil, nil, nil, nil])
        #expect(values.map(\.intValue) == [nil, nil, 1, nil, nil, nil, nil])
        #expect(values.map(\.doubleValue) == [nil, nil, 1, 1.5, nil, nil, nil])
        #expect(values.map(\.stringValue) == [nil, nil, nil, nil, "s", nil, nil])
        #expect(values.map { $0.arrayValue != nil } == [false, false, false, false, false, true, false])
        #expect(values.map { $0.objectValue != nil } == [false, false, false, false, false, false, true])
        #expect(JSONValue.int(1)["a"] == nil && JSONValue.int(1)[0] == nil)
    }

    @Test func aDoubleIsAnIntegerOnlyWithoutRounding() {
        #expect(JSONValue.double(2).intValue == 2)
        #expect(JSONValue.double(-0x1p63).intValue == .min)
        for value in [0x1p63, 2.5, 1e300, -.infinity, .nan] { #expect(JSONValue.double(value).intValue == nil) }
    }

    private func randomValue(depth: Int, _ random: inout SeededRandom) -> JSONValue {
        switch Int.random(in: 0..<(depth == 0 ? 6 : 8), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .int(Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random))
        case 3: .double(randomDouble(&random))
        case 4, 5: .string(randomText(&random))
        case 6: .array((0..<Int.random(in: 0...4, using: &random)).map { _ in randomValue(depth: depth - 1, &random) })
        default:
            .object(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    JSONMember(randomText(&random), randomValue(depth: depth - 1, &random))
                })
        }
    }

    /// Any bit pattern but the ones that JSON cannot write.
    private func randomDouble(_ random: inout SeededRandom) -> Double {
        let value = Double(bitPattern: random.next())
        return value.isFinite ? value : 0.1
    }

    private func randomText(_ random: inout SeededRandom) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let top: UInt32 = [0x7F, 0x2FF, 0xFFFF, 0x10FFFF].randomElement(using: &random)!
            if let scalar = UnicodeScalar(UInt32.random(in: 0...top, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
