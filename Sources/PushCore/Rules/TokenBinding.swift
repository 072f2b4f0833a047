/// What the provider tokens of one connection bind it to: a team, a key and what may follow it, and a pace of changes
/// (Apple, "Establishing a token-based connection to APNs").
///
/// The first good token binds the team and the key. A refused one changes nothing: the current one goes on working.
package struct TokenBinding: Sendable {
    /// The current token, as it stands after `bearer `; empty before the first good one.
    package private(set) var bytes: [UInt8] = []
    /// What the current token says.
    package private(set) var claims: ProviderTokenClaims?
    private var first: ProviderTokenClaims?
    /// When the server first saw the current token here, in monotonic milliseconds.
    private var seenAt: Int64 = 0
    /// Changes since `seenAt` that came too early and were tolerated.
    private var earlyChanges = 0

    package init() {}

    /// Judges a token with a good signature, of which these are the claims, and makes it the current one when it may be.
    package mutating func admit(
        _ token: ArraySlice<UInt8>, _ claims: ProviderTokenClaims, environment: PushEnvironment, now: Moment,
        settings: AuthSettings
    ) -> APNsReason? {
        if let first, first.team != claims.team { return .invalidProviderToken }
        if let reason = Self.objection(to: claims, environment: environment, now: now, settings: settings) {
            return reason
        }
        if let first, !first.mayBeFollowed(by: claims) { return .unrelatedKeyIDInToken }
        if token.elementsEqual(bytes) {
            // The keys have changed in between, and with them perhaps what the token's key may do.
            self.claims = claims
            return nil
        }
        if self.claims != nil && settings.limitsTokenChanges {
            let isEarly = now.monotonicMilliseconds - seenAt < CoreLimits.providerTokenRestMilliseconds
            if isEarly && earlyChanges >= settings.tokenChangesTolerated { return .tooManyProviderTokenUpdates }
            earlyChanges = isEarly ? earlyChanges + 1 : 0
        }
        first = first ?? claims
        self.claims = claims
        bytes = Array(token)
        seenAt = now.monotonicMilliseconds
        return nil
    }

    /// What time and place have against the current token.
    package func objection(environment: PushEnvironment, now: Moment, settings: AuthSettings) -> APNsReason? {
        guard claims != nil else { return .invalidProviderToken }
        return claims.flatMap { Self.objection(to: $0, environment: environment, now: now, settings: settings) }
    }

    private static func objection(
        to claims: ProviderTokenClaims, environment: PushEnvironment, now: Moment, settings: AuthSettings
    ) -> APNsReason? {
        if let only = claims.environment, only != environment { return settings.environmentKeyReason.reason }
        switch APNsRules.age(issuedAtSeconds: claims.issuedAtSeconds, now: now.unixMilliseconds) {
        case .good: return nil
        case .expired: return .expiredProviderToken
        case .future: return settings.futureToken.reason
        }
    }
}

extension ProviderTokenClaims {
    /// Whether a connection whose first token was of this key may use another: a key of the team may be followed by any
    /// of the team's, one for certain topics by the key related to it and by no other.
    func mayBeFollowed(by other: ProviderTokenClaims) -> Bool {
        if other.keyID == keyID { return true }
        guard topics != nil else { return other.topics == nil }
        return other.topics != nil && (relatedKey == other.keyID || other.relatedKey == keyID)
    }

    /// Whether the key covers a topic: it is one for all topics, or lists the topic or the app's bundle id.
    package func covers(_ topic: Topic) -> Bool {
        topics?.contains { $0 == topic.name || $0 == topic.app.bundle } ?? true
    }

    /// Whether the key covers an app as a whole.
    package func covers(bundle: String) -> Bool { topics?.contains(bundle) ?? true }
}
