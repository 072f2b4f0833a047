/// What can happen to a push or a device; the journal is the ordered record of these.
package enum Milestone: UInt8, Sendable, CaseIterable {
    case accepted = 1
    case stored = 2
    case sent = 3
    case acknowledged = 4
    /// Kept back although the device is there, by a `HoldCause`.
    case held = 5
    // Ends with a reason.
    case rejected = 16
    case replaced = 17
    case expired = 18
    case dropped = 19
    // Not about a push.
    case connected = 32
    case disconnected = 33
    case registered = 34
    case unregistered = 35
    case channelCreated = 36
    case channelDeleted = 37

    package var text: String { "\(self)" }

    package init?(text: String) {
        guard let match = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = match
    }

    /// Whether the push leaves its mailbox with this.
    package var endsDelivery: Bool { self == .acknowledged || isFailure }

    package var isFailure: Bool { (Self.rejected.rawValue...Self.dropped.rawValue).contains(rawValue) }

    /// The milestones a push passes on its way, in order.
    package static let way: [Milestone] = [.accepted, .stored, .sent, .acknowledged]
}

/// Why a push was dropped, kept as a number in the journal.
package enum DropCause: Int64, Sendable, CaseIterable {
    case notStorable = 1
    case queueFull
    case unregistered
    case notificationsDisabled
    case deviceRefused
    case deviceRemoved
    case channelKeepsNothing
    case channelDeleted
    case throttled

    package var explanation: String {
        switch self {
        case .notStorable: "the device was away, and a push whose apns-expiration is 0 or has passed is tried only once"
        case .queueFull: "the queue of the device was full, and the oldest push gave way"
        case .unregistered: "the app is no longer registered on the device: it was unregistered"
        case .notificationsDisabled: "notifications are switched off on the device"
        case .deviceRefused: "the device answered that it could not take the push"
        case .deviceRemoved: "the device was removed while the push waited"
        case .channelKeepsNothing: "the device was away, and the channel keeps nothing, or something newer"
        case .channelDeleted: "the channel was deleted while the push waited in it"
        case .throttled:
            "more background pushes came than delivery.backgroundPushes allows, and a newer one waits in its place"
        }
    }
}

/// Why a push is kept back from a device that is there, kept as a number in the journal.
package enum HoldCause: Int64, Sendable, CaseIterable {
    case burst = 1
    case neverWakes
    case throttled

    package var explanation: String {
        switch self {
        case .burst: "priority 5 is sent in bursts (delivery.burstInterval)"
        case .neverWakes: "priority 1 never wakes a device and goes along with other pushes (delivery.burstInterval)"
        case .throttled: "the app has had its share of background pushes (delivery.backgroundPushes)"
        }
    }
}

/// One line of the journal.
package struct JournalEvent: Sendable, Equatable {
    /// Place in the journal; pushes and events share one count.
    package let sequence: Int64
    package let milestone: Milestone
    /// The push it is about, or 0.
    package let push: Int64
    /// The device it is about, or 0.
    package let device: Int64
    /// Unix milliseconds.
    package let at: Int64
    /// By milestone: `sent` the number of the attempt, `replaced` the push that took the place, `expired` the time,
    /// `dropped` a `DropCause`, `held` a `HoldCause`.
    package let detail: Int64

    package init(sequence: Int64, milestone: Milestone, push: Int64, device: Int64, at: Int64, detail: Int64) {
        self.sequence = sequence
        self.milestone = milestone
        self.push = push
        self.device = device
        self.at = at
        self.detail = detail
    }
}

/// Which channel a push went to, and its time in it.
package struct BroadcastMark: Sendable, Equatable {
    package var channel: [UInt8]
    /// Unix nanoseconds; grows with every broadcast of the channel.
    package var nanoseconds: Int64

    package init(channel: [UInt8], nanoseconds: Int64) {
        self.channel = channel
        self.nanoseconds = nanoseconds
    }
}

/// What the journal keeps of a request to push, whether it was accepted or refused.
package struct PushRecord: Sendable {
    package var sequence: Int64
    /// The id the provider chose, as it wrote it; `nil` when the server made one from the sequence.
    package var id: APNsID?
    /// 0 when the request named no registration of ours.
    package var registration: Int64
    /// The push before it to the same registration, or 0.
    package var previous: Int64 = 0
    /// Unix milliseconds.
    package var at: Int64
    /// `nil`: accepted.
    package var reason: APNsReason?
    /// What was wrong or asked for, as the provider wrote it (a token that is not ours, a bad priority); no secret.
    package var detail: String?
    package var topic: String?
    package var environment: PushEnvironment
    package var pushType: PushType?
    package var priority: UInt8
    /// `apns-expiration` as sent, in seconds; `nil` when absent.
    package var expiration: Int64?
    /// Unix milliseconds until which it may be delivered.
    package var expiresAt: Int64
    package var isStorable: Bool
    package var collapseID: String?
    /// Set when it went to a channel and not to one registration; every device has lines of its own then.
    package var broadcast: BroadcastMark?

    package init(
        sequence: Int64, id: APNsID?, registration: Int64, at: Int64, reason: APNsReason?, environment: PushEnvironment
    ) {
        self.sequence = sequence
        self.id = id
        self.registration = registration
        self.at = at
        self.reason = reason
        self.environment = environment
        priority = 10
        expiresAt = .max
        isStorable = true
    }
}
