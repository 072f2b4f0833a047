package import PushCore

/// What the core remembers of one provider connection: the token it used last and the topic it named last, so that
/// the usual request, same token and same topic as before, is two comparisons.
package struct ProviderSession {
    /// By the name the client connected to, unless a request names another.
    package let environment: PushEnvironment
    var tokenBytes: [UInt8] = []
    var claims: ProviderTokenClaims?
    /// The keys the claims were checked with: after a change of keys they are checked again.
    var epoch: ProviderKeyEpoch?
    var topic: Topic?

    package init(environment: PushEnvironment) { self.environment = environment }
}

/// A request that passed every rule.
package struct Acceptance {
    package let registration: Registration
    package let topic: Topic
    package let notification: APNsNotification
}
