package import PushCrypto
import PushJSON
import PushBytes

/// A signing key a provider may use: the public half, whose it is, and where it is good for.
package struct ProviderKey: Sendable {
    /// Ten characters, the `kid` of tokens.
    package var id: String
    /// Ten characters, the `iss` of tokens.
    package var team: String
    /// `nil`: both environments, as keys made before 2025.
    package var environment: PushEnvironment?
    /// The topics or bundle ids it is good for, at most `CoreLimits.topicsPerKeyMax`; `nil`: all of the team's. A bundle
    /// id stands for its topics with suffixes, too.
    package var topics: [String]?
    /// The one key that may take its place on an open connection; for keys with topics only.
    package var relatedKey: String?
    package var publicKey: ES256PublicKey

    package init(
        id: String, team: String, environment: PushEnvironment?, topics: [String]? = nil, relatedKey: String? = nil,
        publicKey: ES256PublicKey
    ) {
        precondition(relatedKey == nil || topics != nil, "only a key with topics has a related one")
        self.id = id
        self.team = team
        self.environment = environment
        self.topics = topics
        self.relatedKey = relatedKey
        self.publicKey = publicKey
    }
}

/// What a provider token says once its signature was found good.
package struct ProviderTokenClaims: Sendable, Equatable {
    package var keyID: String
    package var team: String
    package var issuedAtSeconds: Int64
    /// `nil`: good for both.
    package var environment: PushEnvironment?
    /// `nil`: all topics of the team.
    package var topics: [String]?
    /// See `ProviderKey.relatedKey`.
    package var relatedKey: String?
}

/// The time between two changes of a verifier's keys; only its identity counts.
package final class ProviderKeyEpoch {}

/// Checks provider tokens: JSON Web Tokens signed with ES256 (Apple, "Establishing a token-based connection to APNs").
///
/// Signatures may be raw (64 bytes) or DER, `iat` a number or a numeric string: the real service takes both.
/// Good tokens are remembered, so a signature is checked once. Bound to the loop.
package final class ProviderTokenVerifier {
    package private(set) var keys: [String: ProviderKey] = [:]
    private let trustsAnyKey: Bool
    private let isStrict: Bool
    private let parser = JSONParser()
    private var verified: [[UInt8]: ProviderTokenClaims] = [:]
    private var verifiedOrder: [[UInt8]] = []
    /// Another object after every change of the keys: who keeps claims compares it before believing them.
    package private(set) var epoch = ProviderKeyEpoch()

    /// `isStrict` takes `iat` as a number only.
    package init(trustsAnyKey: Bool, isStrict: Bool = false) {
        self.trustsAnyKey = trustsAnyKey
        self.isStrict = isStrict
    }

    package func add(_ key: ProviderKey) {
        keys[key.id] = key
        forgetVerified()
    }

    package func remove(keyID: String) -> Bool {
        forgetVerified()
        return keys.removeValue(forKey: keyID) != nil
    }

    package func removeAll() {
        keys = [:]
        forgetVerified()
    }

    /// The claims of a well-signed token, or `nil`: that is `InvalidProviderToken`. Age is not judged here.
    package func claims(of token: ArraySlice<UInt8>) -> ProviderTokenClaims? {
        guard token.count <= CoreLimits.providerTokenBytesMax else { return nil }
        let key = Array(token)
        if let known = verified[key] { return known }
        guard let claims = verify(token) else { return nil }
        if verifiedOrder.count >= CoreLimits.verifiedTokensMax {
            verified[verifiedOrder.removeFirst()] = nil
        }
        verified[key] = claims
        verifiedOrder.append(key)
        return claims
    }

    /// How many good tokens are remembered now; at most `CoreLimits.verifiedTokensMax`.
    package var rememberedCount: Int { verified.count }

    private func forgetVerified() {
        verified = [:]
        verifiedOrder = []
        epoch = ProviderKeyEpoch()
    }

    private func verify(_ token: ArraySlice<UInt8>) -> ProviderTokenClaims? {
        let parts = token.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = object(parts[0]), let body = object(parts[1]),
            let signature = Base64.decode(parts[2]), !signature.isEmpty,
            header["alg"] == nil || header["alg"]?.stringValue == "ES256",
            let keyID = header["kid"]?.stringValue, let team = body["iss"]?.stringValue,
            let issuedAt = seconds(body["iat"])
        else { return nil }
        guard let key = keys[keyID] else {
            guard trustsAnyKey else { return nil }
            return ProviderTokenClaims(keyID: keyID, team: team, issuedAtSeconds: issuedAt, environment: nil)
        }
        guard key.team == team,
            key.publicKey.verify(signature, of: Array(token[parts[0].startIndex..<parts[1].endIndex]))
        else { return nil }
        return ProviderTokenClaims(
            keyID: keyID, team: team, issuedAtSeconds: issuedAt, environment: key.environment, topics: key.topics,
            relatedKey: key.relatedKey)
    }

    private func object(_ part: ArraySlice<UInt8>) -> JSONValue? {
        guard let bytes = Base64.decode(part), let value = try? parser.parse(bytes.span), value.objectValue != nil
        else { return nil }
        return value
    }

    private func seconds(_ value: JSONValue?) -> Int64? {
        switch value {
        case .int(let number): number
        case .double(let number) where number.isFinite && number.magnitude < 1e15: Int64(number)
        case .string(let text) where !isStrict: Int64(text)
        default: nil
        }
    }
}
