internal import PushBytes
internal import PushCrypto

/// The token a provider shows (a JWT signed with ES256), made anew when it has grown old.
///
/// Pure but for the signature; time comes in. The service refuses tokens older than an hour, and tokens that change
/// more often than every 20 minutes; 45 minutes keep clear of both.
struct ProviderToken {
    static let ageSecondsMax: Int64 = 45 * 60
    /// A younger token is never thrown away: making new ones faster is itself refused.
    static let ageSecondsMin: Int64 = 20 * 60

    private let key: ES256PrivateKey
    private let keyID: String
    private let teamID: String
    private var field = ""
    private var madeAt: Int64?

    init(_ credentials: APNsConfiguration.TokenCredentials) throws(APNsError) {
        for (name, value) in [("key id", credentials.keyID), ("team id", credentials.teamID)] {
            let isPlain = value.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
            }
            guard isPlain, !value.isEmpty else {
                throw APNsError(.badConfiguration, "The \(name) must consist of letters and digits.")
            }
        }
        do {
            key = try ES256PrivateKey(pem: credentials.privateKeyPEM)
        } catch {
            throw APNsError(.badConfiguration, "The private key is not usable for ES256: \(error)")
        }
        keyID = credentials.keyID
        teamID = credentials.teamID
    }

    /// The value of the `authorization` field. A clock that was set back makes a new one too.
    mutating func authorization(nowSeconds: Int64) throws(APNsError) -> String {
        if let madeAt, nowSeconds >= madeAt, nowSeconds - madeAt < Self.ageSecondsMax { return field }
        let header = Base64.encode(Array(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8), .url)
        let claims = Base64.encode(Array(#"{"iss":"\#(teamID)","iat":\#(nowSeconds)}"#.utf8), .url)
        let signed = header + "." + claims
        do {
            field = "bearer " + signed + "." + Base64.encode(try key.sign(Array(signed.utf8)), .url)
        } catch {
            throw APNsError(.badConfiguration, "The private key does not sign: \(error)")
        }
        madeAt = nowSeconds
        return field
    }

    /// The service called the token expired: make a new one next time, unless this one is too young to replace.
    mutating func wasRefused(nowSeconds: Int64) {
        if let at = madeAt, nowSeconds - at >= Self.ageSecondsMin { madeAt = nil }
    }
}
