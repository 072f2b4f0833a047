/// One device connection as the core sees it: which topics it listens to and what is on its way. Bound to the loop.
package final class DeviceSession {
    /// A push that was sent and not acknowledged yet.
    package struct InFlight {
        package let messageID: UInt32
        package let registration: Registration
        /// `broadcastIndex` for a broadcast: it is in no mailbox.
        package let mailboxIndex: Int
        package let sequence: Int64
        package let isFromStorage: Bool
        package let isLastStored: Bool
        package var sentAt: Int64
        package var attempts = 1

        package var isBroadcast: Bool { mailboxIndex == DeviceSession.broadcastIndex }

        package var topic: Topic {
            isBroadcast ? registration.topic : registration.mailboxes[mailboxIndex].topic
        }
    }

    /// A broadcast that waits for room in the window.
    package struct WaitingBroadcast {
        package let subscription: Subscription
        package let sequence: Int64
        package let isFromStorage: Bool

        package init(subscription: Subscription, sequence: Int64, isFromStorage: Bool) {
            self.subscription = subscription
            self.sequence = sequence
            self.isFromStorage = isFromStorage
        }
    }

    package static let broadcastIndex = -1

    /// The driver's number of the connection.
    package let connection: Int
    /// Environment by the name the device connected to.
    package let environment: PushEnvironment
    package internal(set) var device: Device?
    package private(set) var enabled: Set<TopicHash> = []
    /// By the time they were sent, oldest first.
    package private(set) var inFlight: [InFlight] = []
    package var lastHeard: Int64
    /// The window was full and more waits.
    package var hasBacklog = false
    package var waitingBroadcasts: [WaitingBroadcast] = []
    package let openedAt: Int64
    private var lastMessageID: UInt32 = 0

    package init(connection: Int, environment: PushEnvironment, now: Moment) {
        self.connection = connection
        self.environment = environment
        lastHeard = now.monotonicMilliseconds
        openedAt = now.monotonicMilliseconds
    }

    package var hasRoom: Bool { inFlight.count < CoreLimits.inFlightMax }

    /// When something must be done about silence, in monotonic milliseconds.
    package var deadline: Int64 {
        if device == nil { return openedAt + CoreLimits.introductionMillisecondsMax }
        let silence = lastHeard + CoreLimits.deviceSilenceMillisecondsMax
        guard let oldest = inFlight.first else { return silence }
        return min(silence, oldest.sentAt + CoreLimits.acknowledgementMillisecondsMax)
    }

    package func bind(to device: Device) { self.device = device }

    /// Replaces the filter; returns the topics that were not enabled before.
    package func enable(_ topics: Set<TopicHash>) -> Set<TopicHash> {
        defer { enabled = topics }
        return topics.subtracting(enabled)
    }

    package func listens(to topic: Topic) -> Bool { enabled.contains(topic.hash) }

    /// Notes a push as sent and numbers it.
    package func sent(
        _ entry: MailboxEntry, _ registration: Registration, mailboxIndex: Int, isLastStored: Bool, now: Moment
    ) -> InFlight {
        sent(
            entry.sequence, registration, mailboxIndex: mailboxIndex, isFromStorage: entry.isFromStorage,
            isLastStored: isLastStored, now: now)
    }

    /// The same for a broadcast. What a channel keeps is one message: from storage it is also the last.
    package func sent(_ broadcast: WaitingBroadcast, now: Moment) -> InFlight {
        sent(
            broadcast.sequence, broadcast.subscription.registration, mailboxIndex: Self.broadcastIndex,
            isFromStorage: broadcast.isFromStorage, isLastStored: broadcast.isFromStorage, now: now)
    }

    private func sent(
        _ sequence: Int64, _ registration: Registration, mailboxIndex: Int, isFromStorage: Bool, isLastStored: Bool,
        now: Moment
    ) -> InFlight {
        precondition(hasRoom, "nothing is sent beyond the window")
        lastMessageID &+= 1
        let record = InFlight(
            messageID: lastMessageID, registration: registration, mailboxIndex: mailboxIndex, sequence: sequence,
            isFromStorage: isFromStorage, isLastStored: isLastStored, sentAt: now.monotonicMilliseconds)
        inFlight.append(record)
        return record
    }

    /// Takes the record an acknowledgement names; `nil` for an unknown or repeated number.
    package func acknowledged(_ messageID: UInt32) -> InFlight? {
        guard let index = inFlight.firstIndex(where: { $0.messageID == messageID }) else { return nil }
        return inFlight.remove(at: index)
    }

    /// What has waited too long for its acknowledgement, counted as sent once more. A topic the device no longer listens
    /// to is not sent again, only looked at again as late.
    package func overdue(now: Moment) -> [InFlight] {
        let due = now.monotonicMilliseconds - CoreLimits.acknowledgementMillisecondsMax
        var looked = Array(inFlight.prefix { $0.sentAt <= due })
        // They go to the end with their new time, so that the oldest stays in front.
        inFlight.removeFirst(looked.count)
        var late: [InFlight] = []
        for index in looked.indices {
            looked[index].sentAt = now.monotonicMilliseconds
            guard listens(to: looked[index].topic) else { continue }
            looked[index].attempts += 1
            late.append(looked[index])
        }
        inFlight += looked
        return late
    }

    /// Forgets a delivery that ended otherwise (unregistered, dropped by a limit).
    package func forget(_ sequence: Int64) { inFlight.removeAll { $0.sequence == sequence } }
}
