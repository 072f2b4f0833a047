package import PushCore

/// What a service is told when it is made.
package struct ServiceSetup {
    package var rules = RuleSettings()
    package var identityMode = DeviceIdentityMode.proof
    /// One line for people; no tokens, keys or payloads.
    package var log: (String) -> Void = { _ in }
    /// Something without remedy happened: stop the server. The default traps.
    package var fail: (String) -> Void = { preconditionFailure($0) }

    package init() {}
}
