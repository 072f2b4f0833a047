import Foundation
import PushBytes
import Testing

struct CodecTests {
    @Test func base64AgreesWithFoundationAndComesBack() {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for round in 0..<2000 {
            let bytes = random.bytes(round % 67)
            let text = Base64.encode(bytes)
            #expect(text == Data(bytes).base64EncodedString(), "SEED=\(seed), round \(round)")
            #expect(Base64.decode(text) == bytes, "SEED=\(seed), round \(round)")
            let url = Base64.encode(bytes, .url)
            #expect(!url.contains { "+/=".contains($0) }, "SEED=\(seed), round \(round)")
            #expect(Base64.decode(url) == bytes, "SEED=\(seed), round \(round)")
        }
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64OfTheExamplesOfTheStandard(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
    }

    @Test(arguments: [
        "A", "A===", "AA=", "=", "==", "====", "A=A=", "AA==AA==", "AAA==", "AAAA=", "AA A", "AA\n=", "AAA*", "AAAé",
        "AAAAA",
    ])
    func badBase64IsRefused(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func bothAlphabetsAreDecodedWithAndWithoutPadding() {
        for text in ["-_8=", "+/8=", "-_8", "+/8", "+_8"] { #expect(Base64.decode(text) == [0xFB, 0xFF]) }
    }

    @Test func aSliceThatDoesNotStartAtZeroIsDecoded() {
        #expect(Base64.decode(Array("..Zm8=..".utf8)[2..<6]) == Array("fo".utf8))
        #expect(Hex.decode(Array("..0aFF..".utf8)[2..<6]) == [0x0A, 0xFF])
    }

    @Test func hexComesBackInBothCases() {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for round in 0..<1000 {
            let bytes = random.bytes(round % 40)
            let text = Hex.encode(bytes)
            #expect(text == bytes.map { String(format: "%02x", $0) }.joined(), "SEED=\(seed), round \(round)")
            #expect(Hex.encode(bytes, uppercase: true) == text.uppercased(), "SEED=\(seed), round \(round)")
            #expect(Hex.decode(text) == bytes, "SEED=\(seed), round \(round)")
            #expect(Hex.decode(text.uppercased()) == bytes, "SEED=\(seed), round \(round)")
        }
    }

    @Test(arguments: ["0", "0g", "0G", " 0", "0x", "/0", ":0", "@0", "`0", "000", "0é"])
    func badHexIsRefused(text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test func everyByteIsAHexDigitOrNone() {
        for byte in UInt8.min...UInt8.max {
            let expected = byte < 0x80 ? Character(UnicodeScalar(byte)).hexDigitValue : nil
            #expect(Hex.value(byte).map { Int($0) } == expected)
        }
    }

    @Test func theGeneratorGivesThePublishedSequence() {
        var random = SeededRandom(seed: 1_234_567)
        #expect(
            (0..<3).map { _ in random.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ])
        var zero = SeededRandom(seed: 0)
        #expect(zero.next() == 0xE220_A839_7B1D_CDAF)
    }
}
