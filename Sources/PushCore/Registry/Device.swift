/// One phone: who it is to the device protocol, and the apps registered on it. Bound to the loop.
package final class Device {
    /// Row number in the store; people see `d1`.
    package let id: Int64
    package var name: String
    /// SHA-256 of the device's certificate, or empty for a device hosted by the server.
    package let identity: [UInt8]
    /// The token of the device itself, 32 bytes, from the courier.
    package let baseToken: [UInt8]
    package let environment: PushEnvironment
    /// Hosted by the server itself: no process, receives and acknowledges at once while `isOnline`.
    package let isVirtual: Bool
    /// The switch of a virtual device; a real one is online while it has a session.
    package var isSwitchedOn: Bool
    /// `false`: pushes are accepted and thrown away, as with notifications switched off in Settings.
    package var notificationsEnabled = true
    package var registrations: [Registration] = []
    /// The living connection, newest wins.
    package var session: DeviceSession?
    /// Pushes are kept back by priority; until when at most, in monotonic milliseconds. `nil`: none is.
    package var heldUntil: Int64?

    package init(
        id: Int64, name: String, identity: [UInt8], baseToken: [UInt8], environment: PushEnvironment,
        isVirtual: Bool, isSwitchedOn: Bool
    ) {
        self.id = id
        self.name = name
        self.identity = identity
        self.baseToken = baseToken
        self.environment = environment
        self.isVirtual = isVirtual
        self.isSwitchedOn = isSwitchedOn
    }

    package var isOnline: Bool { isVirtual ? isSwitchedOn : session != nil }

    /// Whether a push with this topic would be sent to it now.
    package func listens(to topic: Topic) -> Bool {
        isVirtual ? isSwitchedOn : session?.listens(to: topic) ?? false
    }

    /// The name in the control API.
    package var label: String { "d\(id)" }

    package static func id(label: some StringProtocol) -> Int64? {
        label.first == "d" ? Int64(label.dropFirst()) : nil
    }
}

/// One app on one device: the token providers use, and what waits for it. Bound to the loop.
package final class Registration {
    package let id: Int64
    package unowned let device: Device
    /// The topic the token was made for.
    package let topic: Topic
    package let token: AppToken
    /// Unix milliseconds since which the token answers 410 `Unregistered`.
    package var unregisteredAt: Int64?
    /// Unix milliseconds since which the token answers 410 `ExpiredToken`.
    package var expiredAt: Int64?
    /// Pushes accepted since it was unregistered.
    package var graceSends = 0
    /// Pushes to the token in the interval of `delivery.requestsPerToken`.
    package var requests = RateWindow()
    /// Background pushes in the interval of `delivery.backgroundPushes`, and the one that waits for the next.
    package var backgroundPushes = RateWindow()
    package var throttled: (entry: MailboxEntry, topic: Topic)?
    /// Place of the newest push to it in the journal, refused ones too; 0 when there is none.
    package var lastPush: Int64 = 0
    /// Channels the app listens to.
    package var subscriptions: [Subscription] = []
    private(set) package var mailboxes: [(topic: Topic, mailbox: Mailbox)] = []

    package init(id: Int64, device: Device, topic: Topic, token: AppToken) {
        self.id = id
        self.device = device
        self.topic = topic
        self.token = token
    }

    package var app: App { topic.app }

    package var waitingCount: Int { mailboxes.reduce(0) { $0 + $1.mailbox.count - $1.mailbox.inFlightCount } }
    package var inFlightCount: Int { mailboxes.reduce(0) { $0 + $1.mailbox.inFlightCount } }

    /// Index of the mailbox for a topic, made on first use.
    package func mailboxIndex(for topic: Topic) -> Int {
        if let index = mailboxes.firstIndex(where: { $0.topic === topic }) { return index }
        precondition(
            mailboxes.count < CoreLimits.mailboxesPerRegistrationMax, "an app has no more topics than suffixes")
        mailboxes.append((topic, Mailbox()))
        return mailboxes.count - 1
    }

    /// Index of a second mailbox for a topic, for what was held back longer than what came after it.
    package func lateMailboxIndex(for topic: Topic) -> Int {
        let first = mailboxIndex(for: topic)
        if let index = mailboxes.lastIndex(where: { $0.topic === topic }), index != first { return index }
        precondition(
            mailboxes.count < CoreLimits.mailboxesPerRegistrationMax, "background pushes have one topic of an app")
        mailboxes.append((topic, Mailbox()))
        return mailboxes.count - 1
    }

    /// Changes a mailbox in place.
    package func withMailbox<Result>(_ index: Int, _ body: (inout Mailbox) -> Result) -> Result {
        body(&mailboxes[index].mailbox)
    }
}
