import PushBytes
@testable import PushCore
import PushCrypto
import PushJSON
import Testing

/// Makes provider tokens, whole or with one thing wrong.
struct TokenMaker {
    let key: ES256PrivateKey
    var header: JSONValue = ["alg": "ES256", "kid": "KEY0000001"]
    var claims: JSONValue = ["iss": "TEAM000001", "iat": .int(startMilliseconds / 1000)]
    var isDER = false
    var isPadded = false

    func parts() throws -> [String] {
        let signed = part(Array(header.text.utf8)) + "." + part(Array(claims.text.utf8))
        let raw = try key.sign(Array(signed.utf8))
        return signed.split(separator: ".").map(String.init) + [part(isDER ? Self.der(raw) : raw)]
    }

    func make() throws -> String { try parts().joined(separator: ".") }

    private func part(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes, .url)
        return isPadded ? text + String(repeating: "=", count: (4 - text.count % 4) % 4) : text
    }

    /// SEQUENCE of two INTEGERs, each without needless zeros and never negative (X.690 section 8.3).
    static func der(_ raw: [UInt8]) -> [UInt8] {
        let numbers = [raw[0..<32], raw[32..<64]].flatMap { half in
            var digits = Array(half.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        return [0x30, UInt8(numbers.count)] + numbers
    }
}

@Suite struct ProviderTokenTests {
    private let maker: TokenMaker
    private let verifier = ProviderTokenVerifier(trustsAnyKey: false)

    init() throws {
        maker = TokenMaker(key: try ES256PrivateKey())
        verifier.add(key())
    }

    private func key(_ id: String = "KEY0000001", environment: PushEnvironment? = .sandbox) -> ProviderKey {
        ProviderKey(id: id, team: "TEAM000001", environment: environment, publicKey: maker.key.publicKey)
    }

    private func claims(_ token: String, _ verifier: ProviderTokenVerifier? = nil) -> ProviderTokenClaims? {
        (verifier ?? self.verifier).claims(of: Array(token.utf8)[...])
    }

    @Test(arguments: [(false, false), (true, false), (false, true), (true, true)])
    func rawAndDERSignaturesWithAndWithoutPaddingAreGood(isDER: Bool, isPadded: Bool) throws {
        var maker = maker
        maker.isDER = isDER
        maker.isPadded = isPadded
        let token = try maker.make()
        #expect(
            claims(token)
                == ProviderTokenClaims(
                    keyID: "KEY0000001", team: "TEAM000001", issuedAtSeconds: startMilliseconds / 1000,
                    environment: .sandbox))
    }

    private static let times: [(JSONValue, Int64)] = [
        (.int(1_700_000_000), 1_700_000_000), (.string("1700000000"), 1_700_000_000),
        (.double(1_700_000_000.75), 1_700_000_000), (.int(-5), -5), (.string("1459143580650"), 1_459_143_580_650),
    ]

    @Test(arguments: times)
    func theTimeMayBeANumberOrANumericString(time: JSONValue, seconds: Int64) throws {
        var maker = maker
        maker.claims = ["iss": "TEAM000001", "iat": time]
        #expect(claims(try maker.make())?.issuedAtSeconds == seconds)
    }

    private static let wrongTimes: [JSONValue] = [
        .null, .bool(true), .string(""), .string("soon"), .string("1.5"), .double(1e300), .array([.int(1)]),
    ]

    @Test(arguments: wrongTimes)
    func anotherTimeIsRefused(time: JSONValue) throws {
        var maker = maker
        maker.claims = ["iss": "TEAM000001", "iat": time]
        #expect(claims(try maker.make()) == nil)
    }

    @Test func theAlgorithmMayBeMissing() throws {
        var maker = maker
        maker.header = ["kid": "KEY0000001"]
        #expect(claims(try maker.make()) != nil)
    }

    private static let wrongHeaders: [JSONValue] = [
        ["alg": "none", "kid": "KEY0000001"], ["alg": "HS256", "kid": "KEY0000001"],
        ["alg": "es256", "kid": "KEY0000001"], ["alg": .null, "kid": "KEY0000001"], ["alg": "ES256"],
        ["alg": "ES256", "kid": "KEY0000002"], ["alg": "ES256", "kid": 1], [], "ES256", .null,
    ]

    @Test(arguments: wrongHeaders)
    func anotherHeaderIsRefused(header: JSONValue) throws {
        var maker = maker
        maker.header = header
        #expect(claims(try maker.make()) == nil)
    }

    private static let wrongClaims: [JSONValue] = [
        ["iss": "TEAM000002", "iat": 1_700_000_000], ["iat": 1_700_000_000], ["iss": "TEAM000001"],
        ["iss": 1, "iat": 1_700_000_000], [], "x",
    ]

    @Test(arguments: wrongClaims)
    func otherClaimsAreRefused(body: JSONValue) throws {
        var maker = maker
        maker.claims = body
        #expect(claims(try maker.make()) == nil)
    }

    @Test func toleratedMembersAreTolerated() throws {
        var maker = maker
        maker.header = ["typ": "JWT", "alg": "ES256", "kid": "KEY0000001"]
        maker.claims = ["iss": "TEAM000001", "iat": 1_700_000_000, "exp": 1, "kid": "x"]
        #expect(claims(try maker.make()) != nil)
    }

    @Test func aNoneTokenWithoutSignatureIsRefused() throws {
        var maker = maker
        maker.header = ["alg": "none", "kid": "KEY0000001"]
        let parts = try maker.parts()
        #expect(claims(parts[0] + "." + parts[1] + ".") == nil)
        #expect(claims(parts[0] + "." + parts[1]) == nil)
    }

    @Test func aLetterChangedAnywhereIsRefused() throws {
        let token = try maker.make()
        for position in token.utf8.indices.map({ token.utf8.distance(from: token.startIndex, to: $0) }) {
            var bytes = Array(token.utf8)
            // A letter that differs in its upper bits changes what is decoded, even in a last letter with spare bits.
            bytes[position] = bytes[position] == 0x41 ? 0x71 : 0x41
            if bytes == Array(token.utf8) { continue }
            #expect(verifier.claims(of: bytes[...]) == nil, "letter \(position) of \(token)")
        }
    }

    @Test func partsOfTwoGoodTokensDoNotMix() throws {
        var other = maker
        other.claims = ["iss": "TEAM000001", "iat": 1_700_000_001]
        let (mine, theirs) = (try maker.parts(), try other.parts())
        for mask in 1..<7 where mask != 1 && mask != 6 {
            let mixed = (0..<3).map { mask & (1 << $0) == 0 ? mine[$0] : theirs[$0] }
            #expect(claims(mixed.joined(separator: ".")) == nil)
        }
    }

    @Test(arguments: ["", ".", "..", "...", "a.b.c", "e30.e30.e30", "=.=.=", "\u{0}"])
    func garbageIsRefused(token: String) {
        #expect(claims(token) == nil)
    }

    @Test func moreOrFewerPartsAreRefused() throws {
        let token = try maker.make()
        #expect(claims(token + ".") == nil && claims(token + ".e30") == nil && claims("." + token) == nil)
    }

    @Test func aTokenOfAnotherKeyUnderTheSameNameIsRefused() throws {
        let forger = TokenMaker(key: try ES256PrivateKey())
        #expect(claims(try forger.make()) == nil)
    }

    @Test func aTokenBeyondTheSizeLimitIsRefusedEvenWhenWellSigned() throws {
        var maker = maker
        maker.claims = ["iss": "TEAM000001", "iat": 1_700_000_000, "pad": .string(String(repeating: "x", count: 4000))]
        let token = try maker.make()
        #expect(token.utf8.count > CoreLimits.providerTokenBytesMax)
        #expect(claims(token) == nil)
    }

    @Test func removingTheKeyForgetsItsTokens() throws {
        let token = try maker.make()
        #expect(claims(token) != nil)
        #expect(verifier.remove(keyID: "KEY0000001"))
        #expect(claims(token) == nil)
        #expect(!verifier.remove(keyID: "KEY0000001"))
        verifier.add(key())
        #expect(claims(token) != nil)
        verifier.removeAll()
        #expect(claims(token) == nil && verifier.keys.isEmpty)
    }

    @Test func replacingTheKeyForgetsItsTokens() throws {
        let token = try maker.make()
        #expect(claims(token)?.environment == .sandbox)
        verifier.add(key(environment: nil))
        #expect(claims(token) != nil && claims(token)?.environment == nil)
        var replaced = key()
        replaced.publicKey = try ES256PrivateKey().publicKey
        verifier.add(replaced)
        #expect(claims(token) == nil)
    }

    @Test func theMemoryOfGoodTokensHasALimitAndOldTokensStillWork() throws {
        // Trusting any key saves signing thousands of them.
        let verifier = ProviderTokenVerifier(trustsAnyKey: true)
        var tokens: [String] = []
        for number in 0..<CoreLimits.verifiedTokensMax + 50 {
            let claims: JSONValue = ["iss": "TEAM000001", "iat": .int(Int64(number))]
            let body = Base64.encode(Array(claims.text.utf8), .url)
            tokens.append("eyJraWQiOiJYIn0.\(body).AA")
        }
        for token in tokens { #expect(self.claims(token, verifier) != nil) }
        #expect(verifier.rememberedCount == CoreLimits.verifiedTokensMax)
        #expect(claims(tokens[0], verifier)?.issuedAtSeconds == 0)
        #expect(verifier.rememberedCount == CoreLimits.verifiedTokensMax)
    }

    @Test func trustReachesUnknownKeysOnly() throws {
        let trusting = ProviderTokenVerifier(trustsAnyKey: true)
        let forged = try TokenMaker(key: ES256PrivateKey()).make()
        #expect(claims(forged, trusting)?.team == "TEAM000001")
        #expect(claims(forged, trusting)?.environment == nil)
        trusting.add(key())
        #expect(claims(forged, trusting) == nil)
        #expect(claims(try maker.make(), trusting) != nil)
        #expect(claims("a.b.c", trusting) == nil)
    }
}
