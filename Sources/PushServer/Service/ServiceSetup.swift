package import PushCore
package import PushCrypto

/// What a service is told when it is made.
package struct ServiceSetup {
    package var rules = RuleSettings()
    package var identityMode = DeviceIdentityMode.proof
    /// Apps and keys that are there from the start, and again after a reset; made when missing.
    package var bundles: [String] = []
    package var keys: [ProviderKey] = []
    /// Signs the client certificates that count; without it every one is bad.
    package var authority: Certificate?
    /// One line for people; no tokens, keys or payloads.
    package var log: (String) -> Void = { _ in }
    /// Something without remedy happened: stop the server. The default traps.
    package var fail: (String) -> Void = { preconditionFailure($0) }

    package init() {}
}
