import PushCore

/// Pushes that are kept back although their device is there: priorities 5 and 1 to be sent in bursts, and background
/// pushes beyond an app's share. Off in the profiles lenient and ideal.
extension ServerCore {
    /// Keeps a push back if a rule says so; `false`: route it. One that would be stored nowhere is never kept back.
    func holdBack(_ entry: MailboxEntry, _ acceptance: Acceptance, now: Moment) -> Bool {
        let (registration, topic) = (acceptance.registration, acceptance.topic)
        let device = registration.device
        guard device.notificationsEnabled, device.listens(to: topic) else { return false }
        if acceptance.notification.pushType == .background && entry.isStorable
            && throttle(entry, registration, topic, now: now)
        {
            return true
        }
        guard settings.delivery.burstMilliseconds > 0, entry.priority < 10, entry.isStorable else {
            // What goes now takes along what waits.
            release(device, now: now)
            return false
        }
        hold(entry, registration, topic, now: now)
        return true
    }

    // MARK: Bursts

    private func hold(_ entry: MailboxEntry, _ registration: Registration, _ topic: Topic, now: Moment) {
        let device = registration.device
        registration.withMailbox(registration.mailboxIndex(for: topic)) {
            $0.admit(entry, canDeliver: true, rule: rule(of: registration.app), departures: &departures)
        }
        journalDepartures(of: registration, now: now)
        expiryCheckAt = min(expiryCheckAt, entry.expiresAt)
        let wakes = entry.priority != 1
        let due = wakes ? now.monotonicMilliseconds + settings.delivery.burstMilliseconds : Int64.max
        device.heldUntil = min(device.heldUntil ?? .max, due)
        holding[device.id] = device
        holdCheckAt = min(holdCheckAt, due)
        let cause: HoldCause = wakes ? .burst : .neverWakes
        journal(.held, push: entry.sequence, device: device, detail: cause.rawValue, now: now)
    }

    /// Sends all that is kept back by priority for one device.
    private func release(_ device: Device, now: Moment) {
        guard device.heldUntil != nil else { return }
        device.heldUntil = nil
        holding[device.id] = nil
        if device.isVirtual {
            if device.isSwitchedOn { drainVirtually(device, now: now) }
        } else if let session = device.session {
            pumpAll(session, now: now)
        }
    }

    /// The next burst, and the next interval of throttled apps.
    func releaseDue(now: Moment) {
        for device in holding.values.sorted(by: { $0.id < $1.id })
        where device.heldUntil ?? .max <= now.monotonicMilliseconds {
            release(device, now: now)
        }
        for registration in throttling.values.sorted(by: { $0.id < $1.id })
        where throttleEnd(registration) <= now.monotonicMilliseconds {
            routeThrottled(registration, now: now)
        }
        let dues = holding.values.map { $0.heldUntil ?? .max } + throttling.values.map(throttleEnd)
        holdCheckAt = dues.min() ?? .max
    }

    // MARK: Background pushes

    /// Keeps a background push back when the app has had its share; only the newest waits.
    private func throttle(
        _ entry: MailboxEntry, _ registration: Registration, _ topic: Topic, now: Moment
    ) -> Bool {
        let delivery = settings.delivery
        guard delivery.backgroundPushes > 0 else { return false }
        let interval = delivery.backgroundIntervalMilliseconds
        let time = now.monotonicMilliseconds
        if registration.backgroundPushes.take(delivery.backgroundPushes, per: interval, now: time) { return false }
        dropThrottled(of: registration, cause: .throttled, now: now)
        registration.throttled = (entry, topic)
        throttling[registration.id] = registration
        holdCheckAt = min(holdCheckAt, throttleEnd(registration))
        expiryCheckAt = min(expiryCheckAt, entry.expiresAt)
        journal(
            .held, push: entry.sequence, device: registration.device, detail: HoldCause.throttled.rawValue, now: now)
        return true
    }

    private func throttleEnd(_ registration: Registration) -> Int64 {
        registration.backgroundPushes.end(per: settings.delivery.backgroundIntervalMilliseconds)
    }

    private func takeThrottled(of registration: Registration) -> (entry: MailboxEntry, topic: Topic)? {
        guard let waiting = registration.throttled else { return nil }
        registration.throttled = nil
        throttling[registration.id] = nil
        return waiting
    }

    /// Its interval has come: it counts as the first of it.
    private func routeThrottled(_ registration: Registration, now: Moment) {
        guard let (entry, topic) = takeThrottled(of: registration) else { return }
        let delivery = settings.delivery
        _ = registration.backgroundPushes.take(
            delivery.backgroundPushes, per: delivery.backgroundIntervalMilliseconds, now: now.monotonicMilliseconds)
        // Newer pushes may be before it by now: a mailbox keeps its order.
        let mailbox = registration.lateMailboxIndex(for: topic)
        route(entry, to: registration, topic: topic, mailbox: mailbox, now: now)
    }

    func dropThrottled(of registration: Registration, cause: DropCause, now: Moment) {
        guard let (entry, _) = takeThrottled(of: registration) else { return }
        journal(.dropped, push: entry.sequence, device: registration.device, detail: cause.rawValue, now: now)
    }

    func expireThrottled(of registration: Registration, now: Moment) {
        guard let expiresAt = registration.throttled?.entry.expiresAt else { return }
        guard expiresAt <= now.unixMilliseconds else {
            expiryCheckAt = min(expiryCheckAt, expiresAt)
            return
        }
        guard let (entry, _) = takeThrottled(of: registration) else { return }
        journal(.expired, push: entry.sequence, device: registration.device, detail: expiresAt, now: now)
    }
}
