package import PushCore

extension ServerCore {
    /// Puts a push into its mailbox, or straight onto the wire when the device listens and nothing is before it.
    /// `mailbox` is the topic's own unless told otherwise.
    func route(
        _ entry: MailboxEntry, to registration: Registration, topic: Topic, mailbox: Int? = nil, now: Moment
    ) {
        let device = registration.device
        guard device.notificationsEnabled else {
            journal(
                .dropped, push: entry.sequence, device: device, detail: DropCause.notificationsDisabled.rawValue,
                now: now)
            return
        }
        if device.isVirtual && device.isSwitchedOn {
            deliverVirtually(entry.sequence, to: device, now: now)
            return
        }
        let session = device.session
        let canDeliver = session?.listens(to: topic) ?? false
        let index = mailbox ?? registration.mailboxIndex(for: topic)
        registration.withMailbox(index) {
            $0.admit(entry, canDeliver: canDeliver, rule: rule(of: registration.app), departures: &departures)
        }
        if !departures.isEmpty { journalDepartures(of: registration, now: now) }
        if let session, canDeliver {
            pump(session, registration, index, now: now)
            // All of it went out, and what is in flight does not expire.
            guard session.hasBacklog else { return }
        }
        if entry.isStorable { expiryCheckAt = min(expiryCheckAt, entry.expiresAt) }
    }

    func rule(of app: App) -> StorageRule { app.storageRule ?? settings.storageRule }

    /// Sends what waits in one mailbox, as far as the window allows.
    func pump(_ session: DeviceSession, _ registration: Registration, _ index: Int, now: Moment) {
        while session.hasRoom {
            let next = registration.withMailbox(index) {
                $0.takeNext(now: now.unixMilliseconds, departures: &departures)
            }
            if !departures.isEmpty { journalDepartures(of: registration, now: now) }
            guard let next else { return }
            let record = session.sent(
                next.entry, registration, mailboxIndex: index, isLastStored: next.isLastStored, now: now)
            send(record, over: session, now: now)
        }
        session.hasBacklog = true
    }

    /// Sends whatever the device listens to: at the end of a full window, or when it comes back.
    func pumpAll(_ session: DeviceSession, now: Moment) {
        session.hasBacklog = false
        for registration in session.device?.registrations ?? [] {
            for (index, slot) in registration.mailboxes.enumerated()
            where !slot.mailbox.isEmpty && session.listens(to: slot.topic) {
                pump(session, registration, index, now: now)
            }
        }
        if !session.waitingBroadcasts.isEmpty { pumpBroadcasts(session, now: now) }
    }

    /// Pushes were taken out of the window without an acknowledgement: others may have their place.
    func refillWindow(of device: Device, now: Moment) {
        if let session = device.session, session.hasBacklog { pumpAll(session, now: now) }
    }

    func send(_ record: DeviceSession.InFlight, over session: DeviceSession, now: Moment) {
        let registration = record.registration
        outputs.append(
            .deliver(
                ServerDelivery(
                    connection: session.connection, sequence: record.sequence, messageID: record.messageID,
                    token: registration.token, topic: record.topic,
                    isFromStorage: record.isFromStorage || record.attempts > 1, isLastStored: record.isLastStored)))
        journal(
            .sent, push: record.sequence, device: registration.device, detail: Int64(record.attempts), now: now)
    }

    func deliverVirtually(_ sequence: Int64, to device: Device, now: Moment) {
        journal(.sent, push: sequence, device: device, detail: 1, now: now)
        journal(.acknowledged, push: sequence, device: device, now: now)
    }

    /// A virtual device was switched on: it takes everything that waits, in the order it was accepted.
    func drainVirtually(_ device: Device, now: Moment) {
        var waiting: [Int64] = []
        for registration in device.registrations {
            for index in registration.mailboxes.indices {
                registration.withMailbox(index) { $0.expire(at: now.unixMilliseconds, departures: &departures) }
                journalDepartures(of: registration, now: now)
                waiting += registration.withMailbox(index) { $0.removeAll() }
            }
        }
        for sequence in waiting.sorted() { deliverVirtually(sequence, to: device, now: now) }
        replayChannels(of: device, now: now)
    }

    /// Throws away what waits for a registration, with the reason.
    func dropAll(of registration: Registration, cause: DropCause, now: Moment) {
        dropThrottled(of: registration, cause: cause, now: now)
        for index in registration.mailboxes.indices {
            for sequence in registration.withMailbox(index, { $0.removeAll() }) {
                registration.device.session?.forget(sequence)
                journal(.dropped, push: sequence, device: registration.device, detail: cause.rawValue, now: now)
            }
        }
    }

    /// The latest time at which `timePassed` must be called again, in unix milliseconds and monotonic milliseconds;
    /// `Int64.max` when nothing waits.
    package var wakeTimes: (unix: Int64, monotonic: Int64) {
        (expiryCheckAt, min(holdCheckAt, sessions.isEmpty ? .max : sessionCheckAt))
    }

    /// Does what is due: expires stored pushes, sends unacknowledged ones again, ends silent connections.
    package func timePassed(now: Moment) {
        if now.unixMilliseconds >= expiryCheckAt { expireStored(now: now) }
        if now.monotonicMilliseconds >= holdCheckAt { releaseDue(now: now) }
        guard !sessions.isEmpty, now.monotonicMilliseconds >= sessionCheckAt else { return }
        sessionCheckAt = now.monotonicMilliseconds + 1000
        for session in sessions.values.sorted(by: { $0.connection < $1.connection })
        where session.deadline <= now.monotonicMilliseconds {
            checkSilence(of: session, now: now)
        }
    }

    private func expireStored(now: Moment) {
        expiryCheckAt = .max
        for registration in registry.allRegistrations.sorted(by: { $0.id < $1.id }) {
            for index in registration.mailboxes.indices {
                let earliest = registration.withMailbox(index) {
                    $0.expire(at: now.unixMilliseconds, departures: &departures)
                    return $0.earliestExpiry
                }
                journalDepartures(of: registration, now: now)
                if earliest > now.unixMilliseconds { expiryCheckAt = min(expiryCheckAt, earliest) }
            }
            expireThrottled(of: registration, now: now)
        }
        expireChannels(now: now)
    }

    private func checkSilence(of session: DeviceSession, now: Moment) {
        guard session.device != nil else {
            end(session, why: "it did not introduce itself", now: now)
            return
        }
        if session.lastHeard + CoreLimits.deviceSilenceMillisecondsMax <= now.monotonicMilliseconds {
            end(session, why: "it was silent for too long", now: now)
            return
        }
        let late = session.overdue(now: now)
        if late.contains(where: { $0.attempts > CoreLimits.deliveryAttemptsMax }) {
            end(session, why: "it never acknowledged a push that was sent several times", now: now)
            return
        }
        for record in late { send(record, over: session, now: now) }
    }
}
