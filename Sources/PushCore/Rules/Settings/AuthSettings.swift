/// How providers show who they are. Names begin with `auth.`.
package struct AuthSettings: Sendable {
    /// Accept a well-formed provider token of an unknown key without checking its signature. Default off.
    package var trustAnyKey = false
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
    package var topicOutsideKey = TopicOutsideKeyReason.topicDisallowed
    /// A connection knows the apps of its team as they were at its first push: apps added or moved later get
    /// `TopicDisallowed` until it is opened anew. Default off, Apple on.
    package var bindsApps = false

    package init() {}

    package enum FutureTokenReason: String, Sendable, CaseIterable {
        case expired = "ExpiredProviderToken"
        case invalid = "InvalidProviderToken"

        package var reason: APNsReason { self == .expired ? .expiredProviderToken : .invalidProviderToken }
    }

    package enum EnvironmentKeyReason: String, Sendable, CaseIterable {
        case documented = "BadEnvironmentKeyIdInToken"
        case observed = "BadEnvironmentKeyInToken"

        package var reason: APNsReason {
            self == .documented ? .badEnvironmentKeyIDInToken : .badEnvironmentKeyInToken
        }
    }

    package enum TopicOutsideKeyReason: String, Sendable, CaseIterable {
        case topicDisallowed = "TopicDisallowed"
        case invalid = "InvalidProviderToken"
        case unrelated = "UnrelatedKeyIdInToken"

        package var reason: APNsReason {
            switch self {
            case .topicDisallowed: .topicDisallowed
            case .invalid: .invalidProviderToken
            case .unrelated: .unrelatedKeyIDInToken
            }
        }
    }
}
