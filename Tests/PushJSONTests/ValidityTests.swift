import Foundation
import PushBytes
@testable import PushJSON
import Testing

struct ValidityTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "-1", "12", "1.5", "1e5", "1E+5", "1e-5", "0.0", "-0.0e0", "\"\"", "\"a\"",
        "[]", "{}", " [ ] ", "\t\r\n{\n}\n", "[1,2,[3,{}],\"x\"]", #"{"a":1,"a":2}"#, #"{"":null}"#,
        #"["\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"]"#, "\"\u{7F}\"", "\"\u{2028}\"", "\"\u{10FFFF}\"", #""\u0000""#,
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "123456789012345678901234567890", "[-9223372036854775809]", "1e308", "1e-400",
    ])
    func validTextIsTaken(text: String) throws {
        let parser = JSONParser()
        #expect(isValid(Array(text.utf8), parser))
        _ = try parser.parse(text)
    }

    @Test(
        arguments: [
            ("", .empty), (" \n", .empty), ("nul", .structure), ("nulll", .structure), ("True", .structure),
            ("01", .number),
            ("-", .number), ("+1", .structure), (".5", .structure), ("1.", .number), ("1e", .number), ("1e+", .number),
            ("0x10", .number), ("1_000", .number), ("NaN", .structure), ("Infinity", .structure), ("[1,]", .structure),
            ("[,1]", .structure), ("[1 2]", .structure), ("[1", .structure), ("1]", .structure), ("[1}", .structure),
            ("{\"a\":1,}", .structure), ("{a:1}", .structure), ("{\"a\"}", .structure), ("{\"a\":}", .structure),
            ("{1:2}", .structure), ("{\"a\" 1}", .structure), ("{} {}", .structure), ("{}x", .structure),
            ("'a'", .structure), ("\"a", .string), ("\"\\x\"", .string), ("\"\\u12\"", .string),
            ("\"\\u12G4\"", .string),
            ("\"\n\"", .string), ("\"\t\"", .string), ("\"\u{0}\"", .string), ("[1]//c", .structure),
            ("/**/1", .structure), ("\u{FEFF}{}", .structure), ("{}\u{0}", .structure), ("1e400", .number),
            ("[-1e400]", .number), (#""\uD83D""#, .string), (#""\uD83Dx""#, .string), (#""\uD83D\u0041""#, .string),
            (#""\uDE00""#, .string), (#""\uDE00\uD83D""#, .string), (#""\uD83D\uD83D""#, .string),
            ("\u{A0}1", .structure),
        ] as [(String, JSONError.Kind)])
    func invalidTextIsRefused(text: String, kind: JSONError.Kind) {
        let parser = JSONParser()
        #expect(!isValid(Array(text.utf8), parser))
        let error = #expect(throws: JSONError.self) { try parser.parse(text) }
        #expect(error?.kind == kind, "\(text)")
        #expect(error?.offset != nil)
    }

    @Test(
        arguments: [
            [0x80], [0xC3], [0xC3, 0x28], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFF], [0xFE], [0xE2, 0x82],
        ] as [[UInt8]])
    func bytesThatAreNotUTF8AreRefused(bytes: [UInt8]) {
        let parser = JSONParser()
        for document in [[0x22] + bytes + [0x22], [0x22] + Array(repeating: 0x61, count: 61) + bytes + [0x22]] {
            #expect(!isValid(document, parser))
            let error = #expect(throws: JSONError.self) { try parser.parse(document.span) }
            #expect(error?.kind == .invalidUTF8)
        }
    }

    @Test(arguments: [
        ("", 0), ("{\"a\":1,}", 7), ("[1,2", 4), ("[1 2]", 3), ("{\"a\" 1}", 5), ("{a:1}", 1), ("[1,nul]", 3),
        ("{} x", 3),
        ("[\"abc", 1), ("[\"a\\x\"]", 3), ("[\"a\n\"]", 3), ("[1, 1e999]", 4), ("[01]", 2), ("[1.]", 3),
        ("{\"ü\":?}", 6),
    ])
    func aRefusalSaysWhere(text: String, offset: Int) {
        let error = #expect(throws: JSONError.self) { try JSONParser().parse(text) }
        #expect(error?.offset == offset)
        #expect(error?.description == "invalid JSON: \(error?.message ?? "") (byte \(offset))")
    }

    @Test func nestingIsTakenUpToTheLimitAndNoFurther() throws {
        let parser = JSONParser()
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deepest = nested(JSONParser.depthMax, open, close)
            #expect(isValid(Array(deepest.utf8), parser))
            #expect(try parser.parse(deepest).text == deepest)
            for depth in [JSONParser.depthMax + 1, 100_000] {
                let error = #expect(throws: JSONError.self) { try parser.parse(nested(depth, open, close)) }
                #expect(error?.kind == .tooDeep)
            }
            #expect(!isValid(Array(String(repeating: open, count: 4096).utf8), parser))
        }
    }

    @Test func theTextEndsWhereTheSpanEnds() {
        let parser = JSONParser()
        let bytes = Array("[1,2]3\",".utf8)
        func isValid(_ range: Range<Int>) -> Bool { parser.isValid(bytes.span.extracting(range)) }
        #expect(isValid(0..<5))
        #expect(!isValid(0..<4))
        #expect(!isValid(0..<6))
        #expect(isValid(1..<2))
        #expect(!isValid(0..<0))
    }

    @Test func mutatedDocumentsGetTheVerdictOfOtherReaders() {
        let seed = testSeed()
        let parser = JSONParser()
        let original = Array(
            #"{"aps":{"alert":{"title":"Zoë \u00e9"},"badge":-3,"x":[1.5e3,true,null,"😀"]},"k":{}}"#.utf8)
        var valid = 0
        for round in 0..<6000 {
            var random = SeededRandom(seed: SeededRandom.mix(seed) &+ UInt64(round))
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &random) { mutate(&bytes, &random) }
            let expected = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
            let verdict = isValid(bytes, parser)
            if verdict { valid += 1 }
            // Foundation takes a comma before a closing brace, so its verdict binds one way only.
            #expect(expected || !verdict, "SEED=\(seed), round \(round): \(String(decoding: bytes, as: UTF8.self))")
            expectOneVerdict(bytes, parser, "SEED=\(seed), round \(round)")
        }
        #expect(valid > 200 && valid < 5800)
    }

    @Test func noiseIsRefusedWithoutHarm() {
        let seed = testSeed()
        let parser = JSONParser()
        for round in 0..<5000 {
            var random = SeededRandom(seed: SeededRandom.mix(seed) &+ UInt64(round))
            let alphabet = Array("[]{}\",:\\0123456789.-+eEtrufalsn u\u{FF}".utf8)
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in alphabet.randomElement(using: &random)!
            }
            expectOneVerdict(bytes, parser, "SEED=\(seed), round \(round)")
        }
    }

    @Test func buffersGrowOnceAndAreGivenBackAfterALongDocument() throws {
        let parser = JSONParser()
        #expect(parser.retainedBytes == 0)
        #expect(isValid(Array("{}".utf8), parser))
        let first = parser.retainedBytes
        #expect(first >= 5120)
        #expect(isValid(Array(("\"" + String(repeating: "a", count: 5000) + "\"").utf8), parser))
        #expect(parser.retainedBytes == first)
        let long = "[" + String(repeating: "1,", count: 100_000) + "1]"
        #expect(try parser.parse(long).arrayValue?.count == 100_001)
        #expect(parser.retainedBytes == 0)
        #expect(isValid(Array(long.utf8), parser))
        #expect(parser.retainedBytes == 0)
        #expect(isValid(Array("[2]".utf8), parser))
    }

    @Test func aTextBeyondTheLimitIsRefused() {
        let bytes = [UInt8](repeating: 0x20, count: JSONParser.bytesMax + 1)
        let error = #expect(throws: JSONError.self) { try JSONParser().parse(bytes.span) }
        #expect(error?.kind == .tooLong)
    }

    private func isValid(_ bytes: [UInt8], _ parser: JSONParser) -> Bool { parser.isValid(bytes.span) }

    /// `isValid`, `parse` and the diagnosis, which is written independently of the parser, must agree.
    private func expectOneVerdict(_ bytes: [UInt8], _ parser: JSONParser, _ comment: Comment) {
        let verdict = isValid(bytes, parser)
        do {
            _ = try parser.parse(bytes.span)
            #expect(verdict, comment)
        } catch {
            #expect(!verdict, comment)
            #expect(error.offset.map { (0...bytes.count).contains($0) } == true, comment)
        }
        #expect(verdict == ((try? diagnose(bytes)) != nil), comment)
    }

    private func diagnose(_ bytes: [UInt8]) throws {
        var diagnosis = JSONDiagnosis(bytes)
        try diagnosis.run()
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        let index = Int.random(in: bytes.indices, using: &random)
        let alphabet = Array("[]{}\",:\\0123456789.-+eEtn ".utf8)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[index] = alphabet.randomElement(using: &random)!
        case 1: bytes.insert(alphabet.randomElement(using: &random)!, at: index)
        case 2: bytes.remove(at: index)
        default: bytes[index] = UInt8.random(in: 0...255, using: &random)
        }
    }
}
