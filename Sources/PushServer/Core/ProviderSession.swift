package import PushCore

/// What the core remembers of one provider connection: the token it used last and the topic it named last, so that
/// the usual request, same token and same topic as before, is two comparisons.
package struct ProviderSession {
    /// By the name the client connected to, unless a request names another.
    package let environment: PushEnvironment
    /// What the client showed in its handshake. With a certificate, provider tokens are not looked at.
    package let certificate: PresentedCertificate
    var token = TokenBinding()
    /// The keys the token was checked with: after a change of keys it is checked again.
    var epoch: ProviderKeyEpoch?
    /// Apps that joined later are unknown to this connection, where `auth.bindsApps` says so.
    var joinsKnown = 0
    var joinsRegistry: RegistryIdentity?
    /// The last topic, found to be allowed for the current token or certificate.
    var topic: Topic?

    /// The name the last request was sent to, and what it means.
    var authorityBytes: [UInt8] = []
    var authorityEnvironment: PushEnvironment

    package init(environment: PushEnvironment, certificate: PresentedCertificate = .none) {
        self.environment = environment
        self.certificate = certificate
        authorityEnvironment = environment
    }
}

/// A request that passed every rule.
package struct Acceptance {
    package let registration: Registration
    package let topic: Topic
    package let notification: APNsNotification
}
