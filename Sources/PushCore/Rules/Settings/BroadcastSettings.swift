/// Broadcast pushes and their channels. Names begin with `broadcast.`. Where nobody knows what the real service does,
/// both ways can be had.
package struct BroadcastSettings: Sendable {
    /// Apps may broadcast unless they say otherwise; off answers 400 `FeatureNotEnabled`. Default on.
    package var isEnabled = true
    /// Channels of one app in one environment; one more answers 400 `CannotCreateChannelConfig`. Default and Apple's
    /// number 10,000.
    package var channelsMax = 10_000
    /// `apns-expiration` and `apns-priority` must be there, else 400 `BadExpirationDate` or `BadPriority`. Default on, as
    /// clients had to learn; off takes 0 (nothing stored) or eight hours (newest stored), and priority 10.
    package var requiresHeaders = true
    /// A broadcast cannot start a Live Activity: refuse `"event":"start"` with 400 `BadRequestPayload`, or accept it and
    /// leave it to the device. Default off: accepted.
    package var refusesStart = false
    /// Answer broadcasts in the sandbox with `apns-unique-id`, too. Default off.
    package var givesUniqueID = false
    /// Command of the answer to a subscription; sources disagree. Default 0x1D.
    package var replyCommand = ReplyCommand.subscription

    package enum ReplyCommand: UInt8, Sendable, CaseIterable {
        case subscription = 0x1D
        case response = 0x20

        var text: String { self == .subscription ? "0x1D" : "0x20" }
    }

    package init() {}

    static let table: [RuleSetting] = [
        RuleSetting(
            "broadcast.enabled", .flag(\.broadcast.isEnabled),
            "Apps may broadcast unless they say otherwise; off answers FeatureNotEnabled."),
        RuleSetting(
            "broadcast.channels", .count(\.broadcast.channelsMax, 0...10_000),
            "Channels of one app in one environment; one more answers CannotCreateChannelConfig."),
        RuleSetting(
            "broadcast.requireHeaders", .flag(\.broadcast.requiresHeaders),
            "A broadcast must name its expiration and priority; off takes defaults."),
        RuleSetting(
            "broadcast.refuseStart", .flag(\.broadcast.refusesStart),
            "Refuse a broadcast that would start a Live Activity with BadRequestPayload; off leaves that to the device."
        ),
        RuleSetting(
            "broadcast.uniqueID", .flag(\.broadcast.givesUniqueID),
            "Answer broadcasts in the sandbox with apns-unique-id, as pushes are."),
        RuleSetting(
            "broadcast.replyCommand",
            .choice(
                ReplyCommand.allCases.map(\.text), get: { $0.broadcast.replyCommand.text },
                set: { settings, text in
                    settings.broadcast.replyCommand = text == ReplyCommand.response.text ? .response : .subscription
                }),
            "Command of the answer to a device that subscribes: clients read it under one or the other."),
    ]
}
