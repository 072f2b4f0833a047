/// How providers show who they are. Names begin with `auth.`.
package struct AuthSettings: Sendable {
    /// Refuse a token that differs from the connection's current one, first seen there less than 20 minutes before.
    /// Default off, Apple on.
    package var limitsTokenChanges = false
    /// Changes within those 20 minutes that are let pass before one is refused. Default 0; Apple's number is unknown,
    /// providers saw some five.
    package var tokenChangesTolerated = 0
    /// What a token issued more than one hour in the future gets. Default `ExpiredProviderToken`, since Apple names one
    /// window of an hour to either side; the reason it sends is unknown.
    package var futureToken = FutureTokenReason.expired
    /// Take `iat` as a number only. Default off: the real service takes digits in a string as well.
    package var strictIssuedAt = false
    /// How "key of the other environment" is spelled. Default as documented.
    package var environmentKeyReason = EnvironmentKeyReason.documented
    /// What a topic outside a topic-specific key gets. Default `TopicDisallowed`; Apple's reason is unknown.
    package var topicOutsideKey = TopicOutsideKeyReason.disallowed
    /// A connection knows the apps of its team as they were at its first push: apps added or moved later get
    /// `TopicDisallowed` until it is opened anew. Default off, Apple on.
    package var bindsApps = false

    package init() {}

    static let table: [RuleSetting] = [
        RuleSetting(
            "auth.trustAnyKey", .flag(\.trustsAnyKey),
            "Accept well-formed provider tokens of unknown keys without checking the signature."),
        RuleSetting(
            "auth.limitTokenChanges", .flag(\.auth.limitsTokenChanges), faithful: "on",
            "Refuse a new provider token less than 20 minutes after the last one on the same connection."),
        RuleSetting(
            "auth.tokenChangesTolerated", .count(\.auth.tokenChangesTolerated, 0...1000),
            "Early changes of the provider token that are let pass before one is refused."),
        RuleSetting(
            "auth.futureTokenReason", RuleSetting.choice(\.auth.futureToken),
            "A provider token issued over one hour in the future gets ExpiredProviderToken or InvalidProviderToken."),
        RuleSetting(
            "auth.strictIssuedAt", .flag(\.auth.strictIssuedAt),
            "Take the iat of provider tokens as a number only, not as digits in a string."),
        RuleSetting(
            "auth.environmentKeyReason", RuleSetting.choice(\.auth.environmentKeyReason),
            "A key of the other environment gets BadEnvironmentKeyIdInToken, or BadEnvironmentKeyInToken as observed."),
        RuleSetting(
            "auth.topicOutsideKeyReason", RuleSetting.choice(\.auth.topicOutsideKey),
            "A topic outside its key gets TopicDisallowed, InvalidProviderToken or UnrelatedKeyIdInToken."),
        RuleSetting(
            "auth.bindApps", .flag(\.auth.bindsApps), faithful: "on",
            "Refuse apps that came to the team after the connection's first push."),
    ]

    package enum FutureTokenReason: Sendable, CaseIterable {
        case expired, invalid

        package var reason: APNsReason { self == .expired ? .expiredProviderToken : .invalidProviderToken }
    }

    package enum EnvironmentKeyReason: Sendable, CaseIterable {
        case documented, observed

        package var reason: APNsReason {
            self == .documented ? .badEnvironmentKeyIDInToken : .badEnvironmentKeyInToken
        }
    }

    package enum TopicOutsideKeyReason: Sendable, CaseIterable {
        case disallowed, invalid, unrelated

        package var reason: APNsReason {
            switch self {
            case .disallowed: .topicDisallowed
            case .invalid: .invalidProviderToken
            case .unrelated: .unrelatedKeyIDInToken
            }
        }
    }
}
