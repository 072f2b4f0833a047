/// Which stored pushes a device finds when it comes back.
package enum StorageRule: UInt8, Sendable, CaseIterable {
    /// Apple's: of what arrived while the device was away only the newest of a topic is kept, for at most 30 days.
    case apns = 1
    /// Everything is kept, in order, until it expires: a test sees each push.
    case ideal = 2

    package var text: String { "\(self)" }

    package init?(text: String) {
        guard let match = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = match
    }
}

/// The switches a behaviour profile presets. Each may be set on its own; those in `RuleTable` by name. The fields'
/// own defaults are the profile `lenient`.
package struct RuleSettings: Sendable {
    package var auth = AuthSettings()
    package var connection = ConnectionSettings()
    package var delivery = DeliverySettings()
    package var broadcast = BroadcastSettings()
    /// The environment of clients that use a local name. Default sandbox.
    package var localEnvironment = PushEnvironment.sandbox
    /// The storage rule of apps that do not name one. Default `apns`.
    package var storageRule = StorageRule.apns
    /// Accept a well-formed provider token of an unknown key without checking its signature. Default off.
    package var trustsAnyKey = false
    /// Make the app and a virtual device for a well-formed device token nobody has seen. Default off.
    package var registersUnknownTokens = false
    /// Team of apps that are made without naming one.
    package var defaultTeam = "LOCALTEAM1"

    package init() {}
}

/// Every limit of the core, each with the reason for its number.
package enum CoreLimits {
    /// Apple: 4096 bytes of payload, 5120 for voip. Exactly the limit passes.
    package static let payloadBytesMax = 4096
    package static let payloadBytesVoIPMax = 5120
    /// Apple: 5120 bytes of a broadcast; a request about a channel gets no more.
    package static let payloadBytesBroadcastMax = 5120
    package static func payloadBytesMax(for suffix: TopicSuffix) -> Int {
        suffix == .voip ? payloadBytesVoIPMax : payloadBytesMax
    }
    /// Apple: at most 64 bytes, counted in UTF-8.
    package static let collapseIDBytesMax = 64
    /// Longer topics are typos: bundle ids have at most 155 characters, suffixes at most 23.
    package static let topicBytesMax = 255
    /// Apple keeps a push for at most 30 days.
    package static let storageMillisecondsMax: Int64 = 30 * 86_400_000
    /// Apple: a channel keeps its newest broadcast for eight hours at most.
    package static let broadcastStorageMillisecondsMax: Int64 = 8 * 3_600_000
    /// Channels one app on one device may subscribe to. An app shows at most a handful of Live Activities.
    package static let subscriptionsPerRegistrationMax = 1000
    /// Broadcasts that wait for room on one device connection; at the limit the oldest is dropped ("queue full").
    package static let broadcastsWaitingMax = 1000
    /// Apple: a provider token is good for one hour around its `iat`.
    package static let providerTokenAgeSecondsMax: Int64 = 3600
    /// Apple: a connection may change its provider token once in 20 minutes.
    package static let providerTokenRestMilliseconds: Int64 = 20 * 60_000
    /// Apple: up to 400 topics for a topic-specific key.
    package static let topicsPerKeyMax = 400
    /// A JSON Web Token of an APNs client has some 200 bytes; the whole header block may have 8000.
    package static let providerTokenBytesMax = 4096
    /// Verified provider tokens remembered, so that a signature is checked once and not per push. Oldest go first.
    package static let verifiedTokensMax = 1024
    /// Pushes on their way to one device without an acknowledgement. With 5 KiB each this bounds what a device that
    /// never reads can cost to some 1.3 MB.
    package static let inFlightMax = 256
    /// Pushes waiting in one mailbox; at the limit the oldest is dropped and says so ("queue full").
    package static let mailboxMax = 100_000
    /// Unacknowledged for so long on a living connection: sent again.
    package static let acknowledgementMillisecondsMax: Int64 = 20_000
    /// Sent so often on one connection without an acknowledgement: the connection is closed.
    package static let deliveryAttemptsMax = 4
    /// A device that says nothing for so long is gone. Apple's devices speak every 10 to 20 minutes.
    package static let deviceSilenceMillisecondsMax: Int64 = 30 * 60_000
    /// How long a new device connection may take to introduce itself.
    package static let introductionMillisecondsMax: Int64 = 30_000
    /// Clock difference a device's proof may have.
    package static let proofClockMillisecondsMax: Int64 = 5 * 60_000
    /// Topics one device may enable; Apple's devices have a few dozen.
    package static let enabledTopicsMax = 1024
    /// Registrations (apps) of one device.
    package static let registrationsPerDeviceMax = 1024
    /// Topics with a mailbox of their own per registration: there are nine suffixes.
    package static let mailboxesPerRegistrationMax = 16
    /// Topic names looked up lately and remembered by the registry.
    package static let topicsMax = 10_000
}
