package import PushCore
package import PushCourier

/// Who listens to which channel, and how a broadcast reaches a device.
///
/// A broadcast is one push in the journal, and every device has lines of its own about it. It is in no mailbox: what
/// a channel keeps is kept once, in the channel, and the cursor of a subscription says whether its device has it. So a
/// broadcast costs nothing for devices that are away, replaces nothing that was sent to them alone, and a device that
/// subscribes later finds the newest message just as one that was away.
extension ServerCore {
    // MARK: Subscribing

    /// A device joins and leaves channels. All that can be done is done; the answer tells whether that was all.
    package func received(_ message: CourierSubscription, from connection: Int, now: Moment) {
        guard let session = introduced(connection, now: now), let device = session.device else { return }
        guard message.baseToken == device.baseToken else {
            reply(to: message, connection, isDone: false)
            return
        }
        var isDone = true
        var kept: [Subscription] = []
        for change in message.changes {
            for channel in change.joined {
                let subscription = join(
                    device, channelID: channel.id, topic: change.topic,
                    cursor: Int64(clamping: channel.lastMessageNanoseconds), now: now)
                if let subscription { kept.append(subscription) } else { isDone = false }
            }
            for left in change.left { leave(device, channelID: left.id) }
        }
        if message.replaces {
            let former = device.registrations.flatMap(\.subscriptions)
            for subscription in former where !kept.contains(where: { $0 === subscription }) { leave(subscription) }
        }
        reply(to: message, connection, isDone: isDone)
        for subscription in kept { replay(subscription, now: now) }
    }

    private func reply(to message: CourierSubscription, _ connection: Int, isDone: Bool) {
        outputs.append(
            .reply(
                connection: connection,
                .subscribed(index: message.index, token: message.baseToken, isDone: isDone)))
    }

    /// Lets a device listen to a channel of its environment under a topic of the channel's app. The topic is registered
    /// on the device when it is not yet: deliveries are addressed to a token. `nil` when there is no such channel.
    ///
    /// `cursor` is the newest message the device says it has; 0 says nothing, and then what we know stands.
    private func join(
        _ device: Device, channelID: [UInt8], topic: String, cursor: Int64, now: Moment
    ) -> Subscription? {
        guard let channel = registry.channels[id: channelID], channel.environment == device.environment,
            TopicSuffix.split(topic).bundle == channel.bundle,
            let registration = register(device, hash: TopicHash(of: topic).bytes, name: topic, now: now)
        else { return nil }
        return join(registration, channel, cursor: cursor)
    }

    /// The same for an app that is there.
    package func join(_ registration: Registration, _ channel: Channel, cursor: Int64 = 0) -> Subscription? {
        if let known = registration.subscriptions.first(where: { $0.channel === channel }) {
            if cursor > 0 && cursor != known.cursor {
                known.cursor = cursor
                outputs.append(.save(.subscription(known)))
            }
            return known
        }
        guard registration.subscriptions.count < CoreLimits.subscriptionsPerRegistrationMax else { return nil }
        // A device listens to a channel once, whatever topic it names.
        if let other = channel.subscription(of: registration.device) { leave(other) }
        let subscription = Subscription(channel: channel, registration: registration, cursor: cursor)
        channel.add(subscription)
        outputs.append(.save(.subscription(subscription)))
        return subscription
    }

    package func leave(_ device: Device, channelID: [UInt8]) {
        if let subscription = registry.channels[id: channelID]?.subscription(of: device) { leave(subscription) }
    }

    func leave(_ subscription: Subscription) {
        subscription.channel.remove(subscription)
        outputs.append(
            .save(
                .subscriptionRemoved(
                    registration: subscription.registration.id, channel: subscription.channel.number)))
    }

    /// Before a registration goes: what is on its way to it is forgotten.
    func leaveChannels(of registration: Registration, cause: DropCause, now: Moment) {
        for subscription in registration.subscriptions {
            for sequence in subscription.pending {
                registration.device.session?.forget(sequence)
                journal(.dropped, push: sequence, device: registration.device, detail: cause.rawValue, now: now)
            }
            leave(subscription)
        }
        registration.device.session?.waitingBroadcasts.removeAll { $0.subscription.registration === registration }
    }

    // MARK: Delivering

    /// A new broadcast for one subscriber: on its way, kept in the channel, or lost to it; one line says which.
    func deliver(
        _ sequence: Int64, _ nanoseconds: Int64, to subscription: Subscription, isKept: Bool, now: Moment
    ) {
        let device = subscription.registration.device
        if let cause = obstacle(to: subscription) {
            journal(.dropped, push: sequence, device: device, detail: cause.rawValue, now: now)
            // It was thrown away, not missed: it does not come later.
            if isKept { advance(subscription, to: nanoseconds) }
        } else if !dispatch(sequence, nanoseconds, to: subscription, isFromStorage: false, now: now) {
            if isKept {
                journal(.stored, push: sequence, device: device, now: now)
            } else {
                journal(
                    .dropped, push: sequence, device: device, detail: DropCause.channelKeepsNothing.rawValue, now: now)
            }
        }
    }

    /// What a channel keeps for a device that is here now and has not got it.
    package func replay(_ subscription: Subscription, now: Moment) {
        guard let stored = subscription.missing(now: now.unixMilliseconds), obstacle(to: subscription) == nil else {
            return
        }
        _ = dispatch(stored.sequence, stored.nanoseconds, to: subscription, isFromStorage: true, now: now)
    }

    func replayChannels(of device: Device, where isWanted: (Registration) -> Bool = { _ in true }, now: Moment) {
        for registration in device.registrations where isWanted(registration) {
            for subscription in registration.subscriptions { replay(subscription, now: now) }
        }
    }

    private func obstacle(to subscription: Subscription) -> DropCause? {
        let registration = subscription.registration
        if registration.unregisteredAt != nil || registration.expiredAt != nil { return .unregistered }
        return registration.device.notificationsEnabled ? nil : .notificationsDisabled
    }

    /// Sends, or lines up behind a full window; `false` when the device is not there or does not listen.
    private func dispatch(
        _ sequence: Int64, _ nanoseconds: Int64, to subscription: Subscription, isFromStorage: Bool, now: Moment
    ) -> Bool {
        let device = subscription.registration.device
        if device.isVirtual {
            guard device.isSwitchedOn else { return false }
            deliverVirtually(sequence, to: device, now: now)
            advance(subscription, to: nanoseconds)
            return true
        }
        guard let session = device.session, session.listens(to: subscription.registration.topic) else { return false }
        subscription.pending.append(sequence)
        session.waitingBroadcasts.append(
            DeviceSession.WaitingBroadcast(
                subscription: subscription, sequence: sequence, isFromStorage: isFromStorage))
        if session.waitingBroadcasts.count > CoreLimits.broadcastsWaitingMax {
            let oldest = session.waitingBroadcasts.removeFirst()
            oldest.subscription.pending.removeAll { $0 == oldest.sequence }
            journal(
                .dropped, push: oldest.sequence, device: device, detail: DropCause.queueFull.rawValue, now: now)
        }
        pumpBroadcasts(session, now: now)
        return true
    }

    /// Sends what waits for room, as far as the window allows.
    func pumpBroadcasts(_ session: DeviceSession, now: Moment) {
        while session.hasRoom, let next = session.waitingBroadcasts.first {
            session.waitingBroadcasts.removeFirst()
            send(session.sent(next, now: now), over: session, now: now)
        }
        if !session.waitingBroadcasts.isEmpty { session.hasBacklog = true }
    }

    /// A device answered to a broadcast.
    func acknowledgedBroadcast(_ record: DeviceSession.InFlight, isTaken: Bool, now: Moment) {
        let registration = record.registration
        if isTaken {
            journal(.acknowledged, push: record.sequence, device: registration.device, now: now)
        } else {
            journal(
                .dropped, push: record.sequence, device: registration.device,
                detail: DropCause.deviceRefused.rawValue, now: now)
        }
        guard let subscription = registration.subscriptions.first(where: { $0.pending.contains(record.sequence) })
        else { return }
        subscription.pending.removeAll { $0 == record.sequence }
        if let stored = subscription.channel.stored, stored.sequence == record.sequence {
            advance(subscription, to: stored.nanoseconds)
        }
    }

    /// The connection is gone: what was on its way is kept by its channel, or lost.
    func abandonBroadcasts(of session: DeviceSession, now: Moment) {
        guard let device = session.device else { return }
        session.waitingBroadcasts.removeAll()
        for subscription in device.registrations.flatMap(\.subscriptions) {
            for sequence in subscription.pending where sequence != subscription.channel.stored?.sequence {
                journal(
                    .dropped, push: sequence, device: device, detail: DropCause.channelKeepsNothing.rawValue, now: now)
            }
            subscription.pending.removeAll()
        }
    }

    private func advance(_ subscription: Subscription, to nanoseconds: Int64) {
        guard subscription.cursor < nanoseconds else { return }
        subscription.cursor = nanoseconds
        // Where nothing is kept nothing is replayed, and the cursor need not survive.
        if subscription.channel.policy == .newest { outputs.append(.save(.subscription(subscription))) }
    }

    // MARK: Restoring

    package func restore(_ channel: Channel) {
        registry.channels.add(channel)
        if let stored = channel.stored { expiryCheckAt = min(expiryCheckAt, stored.expiresAt) }
    }

    package func restore(subscription registration: Registration, _ channel: Channel, cursor: Int64) {
        channel.add(Subscription(channel: channel, registration: registration, cursor: cursor))
    }

    /// A broadcast that was on its way to a device when the server ended.
    package func restoreAbandoned(_ sequence: Int64, channel: Channel?, device: Device?, now: Moment) {
        guard channel?.stored?.sequence != sequence else { return }
        journal(.dropped, push: sequence, device: device, detail: DropCause.channelKeepsNothing.rawValue, now: now)
    }
}
