import PushCrypto
import Testing

@testable import PushProvider

@Suite struct ProviderTokenTests {
    func token(keyID: String = "ABCDEFGHIJ", teamID: String = "TEAM123456") throws -> ProviderToken {
        try ProviderToken(.init(privateKeyPEM: try ES256PrivateKey().pem, keyID: keyID, teamID: teamID))
    }

    @Test func tokenIsKeptForFortyFiveMinutes() throws {
        var token = try token()
        let first = try token.authorization(nowSeconds: 1_000_000)
        let last = try token.authorization(nowSeconds: 1_000_000 + 45 * 60 - 1)
        let next = try token.authorization(nowSeconds: 1_000_000 + 45 * 60)
        #expect(first == last)
        #expect(first != next)
        #expect(first.hasPrefix("bearer "))
    }

    @Test func clockSetBackMakesANewToken() throws {
        var token = try token()
        let first = try token.authorization(nowSeconds: 1_000_000)
        let earlier = try token.authorization(nowSeconds: 999_999)
        #expect(first != earlier)
    }

    @Test func refusedTokenIsReplacedUnlessItIsYoung() throws {
        var token = try token()
        let first = try token.authorization(nowSeconds: 0)
        token.wasRefused(nowSeconds: 20 * 60 - 1)
        let kept = try token.authorization(nowSeconds: 20 * 60 - 1)
        token.wasRefused(nowSeconds: 20 * 60)
        let replaced = try token.authorization(nowSeconds: 20 * 60)
        #expect(kept == first)
        #expect(replaced != first)
    }

    @Test(arguments: ["", "A\"B", "A B"]) func idThatNeedsEscapingIsRefused(id: String) {
        #expect(throws: APNsError.self) { try token(keyID: id) }
        #expect(throws: APNsError.self) { try token(teamID: id) }
    }
}
