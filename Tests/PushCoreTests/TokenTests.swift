import PushBytes
import PushCore
import Testing

@Suite struct AppTokenTests {
    @Test func everyLengthIsJudged() {
        for digits in 0...210 {
            let isGood = digits.isMultiple(of: 2) && (64...200).contains(digits)
            let text = String(repeating: "a", count: digits)
            #expect((AppToken(hex: text) != nil) == isGood, "\(digits) digits")
        }
        for bytes in 0...110 {
            #expect((AppToken(bytes: [UInt8](repeating: 7, count: bytes)) != nil) == (32...100).contains(bytes))
        }
    }

    @Test func aForeignLetterAnywhereIsRefused() {
        for digits in [64, 160] {
            for position in 0..<digits {
                for letter in ["g", "/", ":", "@", "`", " "] {
                    var text = Array(repeating: "0", count: digits)
                    text[position] = letter
                    #expect(AppToken(hex: text.joined()) == nil, "\(letter) at \(position)")
                }
            }
        }
        #expect(AppToken(hex: String(repeating: "é", count: 32)) == nil)
    }

    @Test func upperAndLowerCaseAreTheSameToken() throws {
        var random = SeededRandom(seed: testSeed())
        for count in [32, 33, 54, 80, 100] {
            let bytes = random.bytes(count)
            let lower = try #require(AppToken(hex: Hex.encode(bytes)))
            let upper = try #require(AppToken(hex: Hex.encode(bytes, uppercase: true)))
            #expect(lower == upper && lower.hashValue == upper.hashValue)
            #expect(lower.bytes == bytes && upper.hex == Hex.encode(bytes))
            #expect(AppToken(bytes: bytes) == lower)
        }
    }

    @Test func aChangeOfAnyByteMakesAnotherToken() throws {
        for count in [32, 80] {
            let bytes = (0..<count).map { UInt8($0) }
            let token = try #require(AppToken(bytes: bytes))
            for position in 0..<count {
                var other = bytes
                other[position] ^= 0x80
                #expect(AppToken(bytes: other) != token, "byte \(position)")
            }
            #expect(AppToken(bytes: bytes + [0]) != token)
        }
    }

    @Test func aTokenIsReadInTheMiddleOfOtherBytes() {
        let text = Array("/3/device/\(SampleRequest.token)rest".utf8)
        #expect(AppToken(hexIn: text, 10..<74)?.hex == SampleRequest.token)
        #expect(AppToken(hexIn: text, 10..<73) == nil)
        #expect(AppToken(hexIn: text, 10..<76) == nil)
    }

    @Test func aTokenIsNeverPrintedWhole() throws {
        let token = try #require(AppToken(hex: SampleRequest.token))
        #expect("\(token)" == "01234567…" && token.redacted == "01234567…")
        #expect(!"\([token])".contains("0123456789"))
    }
}

@Suite struct APNsIDTests {
    @Test(arguments: ["8a3c2f1e-9b00-4d01-8123-456789abcdef", "8A3C2F1E-9B00-4D01-8123-456789ABCDEF"])
    func theTextIsKeptAsItWasWritten(text: String) throws {
        let id = try #require(APNsID(text))
        #expect(id.string == text && id.bytes == Array(text.utf8))
        #expect(id.halves == (0x8a3c_2f1e_9b00_4d01, 0x8123_4567_89ab_cdef))
    }

    @Test func idsOfOtherCaseAreOtherTextsWithTheSameHalves() throws {
        let lower = try #require(APNsID("8a3c2f1e-9b00-4d01-8123-456789abcdef"))
        let upper = try #require(APNsID("8A3C2F1E-9B00-4D01-8123-456789ABCDEF"))
        #expect(lower != upper)
        #expect(lower.halves == upper.halves)
    }

    @Test func ownIDsAreUpperCase() {
        let id = APNsID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)
        #expect(id.string == "01234567-89AB-CDEF-FEDC-BA9876543210")
        #expect(APNsID(high: 0, low: 0).string == "00000000-0000-0000-0000-000000000000")
        #expect(APNsID(high: .max, low: .max).string == "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")
    }

    @Test func everyWrongLetterAtEveryPlaceIsRefused() {
        let good = Array("8a3c2f1e-9b00-4d01-8123-456789abcdef".utf8)
        for position in good.indices {
            var text = good
            text[position] = good[position] == 0x2D ? 0x30 : 0x2D
            #expect(APNsID(textIn: text, text.indices) == nil, "position \(position)")
            text[position] = 0x67
            #expect(APNsID(textIn: text, text.indices) == nil, "position \(position)")
        }
        #expect(APNsID(textIn: good, 0..<35) == nil)
        #expect(APNsID(textIn: good + [0x30], 0..<37) == nil)
        #expect(APNsID(textIn: [0x30] + good, 1..<37)?.bytes == good)
    }

    @Test func halvesAndTextAgreeUnderASeed() throws {
        var random = SeededRandom(seed: testSeed())
        for _ in 0..<2000 {
            let (high, low) = (random.next(), random.next())
            let id = APNsID(high: high, low: low)
            #expect(id.halves == (high, low), "SEED=\(testSeed())")
            #expect(APNsID(id.string) == id)
        }
    }
}

@Suite struct APNsIDMakerTests {
    @Test func thousandsOfNumbersComeBackFromTheirIDs() {
        var random = SeededRandom(seed: testSeed())
        for _ in 0..<20 {
            let maker = APNsIDMaker(secret: random.next())
            var seen: Set<String> = []
            for step in 0..<500 {
                let sequence = step < 250 ? Int64(step + 1) : Int64.random(in: 251...Int64.max, using: &random)
                let id = maker.id(for: sequence)
                #expect(maker.sequence(of: id) == sequence, "SEED=\(testSeed())")
                #expect(APNsID(id.string.lowercased()).flatMap(maker.sequence) == sequence, "SEED=\(testSeed())")
                seen.insert(id.string)
                #expect(Hex.encode(maker.bytes(for: sequence), uppercase: true) == id.string.replacing("-", with: ""))
            }
            #expect(seen.count == 500, "SEED=\(testSeed())")
        }
    }

    @Test func foreignIDsAreNotOurs() {
        var random = SeededRandom(seed: testSeed())
        let maker = APNsIDMaker(secret: random.next())
        let other = APNsIDMaker(secret: random.next())
        for sequence in Int64(1)...2000 {
            #expect(maker.sequence(of: other.id(for: sequence)) == nil, "SEED=\(testSeed())")
            #expect(maker.sequence(of: APNsID(high: random.next(), low: random.next())) == nil)
            let own = maker.id(for: sequence).halves
            let bit = UInt64(1) << UInt64.random(in: 0..<64, using: &random)
            #expect(maker.sequence(of: APNsID(high: own.high, low: own.low ^ bit)) == nil)
            #expect(maker.sequence(of: APNsID(high: own.high ^ bit, low: own.low)) == nil)
        }
    }

    @Test func numbersBelowOneAreNotOurs() {
        let maker = APNsIDMaker(secret: 7)
        #expect(maker.sequence(of: maker.id(for: 0)) == nil)
        #expect(maker.sequence(of: maker.id(for: -1)) == nil)
        #expect(maker.sequence(of: maker.id(for: .max)) == .max)
    }
}
