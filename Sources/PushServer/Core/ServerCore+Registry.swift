package import PushCore
import PushBytes
import PushCrypto

extension ServerCore {
    /// Makes an app; `nil` when it exists or its bundle id is not one.
    @discardableResult
    package func addApp(bundle: String, team: String?, storageRule: StorageRule?) -> App? {
        guard App.isValid(bundle: bundle), registry.app(bundle) == nil else { return nil }
        let app = App(bundle: bundle, team: team ?? settings.defaultTeam, storageRule: storageRule)
        registry.add(app)
        outputs.append(.save(.app(app)))
        return app
    }

    /// Removes an app and what waits for it; its registrations go with it.
    package func removeApp(_ app: App, now: Moment) {
        let registrations = registry.registrations(of: app)
        for registration in registrations {
            dropAll(of: registration, cause: .unregistered, now: now)
            leaveChannels(of: registration, cause: .unregistered, now: now)
            registry.remove(registration)
        }
        for environment in PushEnvironment.allCases {
            for channel in registry.channels.channels(of: app.bundle, environment) { deleteChannel(channel, now: now) }
        }
        for registration in registrations { refillWindow(of: registration.device, now: now) }
        registry.remove(app)
        outputs.append(.save(.appRemoved(bundle: app.bundle)))
    }

    /// Makes a device hosted by the server, with one app on it.
    package func addVirtualDevice(
        app: App, name: String?, environment: PushEnvironment?, isOnline: Bool, now: Moment
    ) -> Registration {
        let device = addDevice(
            identity: [], environment: environment ?? settings.localEnvironment, isVirtual: true, now: now)
        device.isSwitchedOn = isOnline
        if let name { device.name = name }
        guard let topic = registry.topic(named: Array(app.bundle.utf8)) else {
            preconditionFailure("an app that is registered has its topics")
        }
        outputs.append(.save(.device(device)))
        return addRegistration(device, topic, token: appToken(of: device, topic), now: now)
    }

    /// Longest name of a device, in bytes; a longer one is not taken.
    package static var nameBytesMax: Int { 128 }

    func addDevice(
        identity: [UInt8], environment: PushEnvironment, isVirtual: Bool, name: String? = nil, now: Moment
    ) -> Device {
        let given = name.flatMap { $0.isEmpty || $0.utf8.count > Self.nameBytesMax ? nil : $0 }
        lastDeviceID += 1
        // Without an identity of its own a device gets one from its number, which is never used again.
        let origin = identity.isEmpty ? Array("device \(lastDeviceID)".utf8) : identity
        let device = Device(
            id: lastDeviceID, name: given ?? "phone \(lastDeviceID)", identity: identity,
            baseToken: HMACSHA256.authenticate(origin, key: secret), environment: environment, isVirtual: isVirtual,
            isSwitchedOn: isVirtual)
        registry.add(device)
        outputs.append(.save(.device(device)))
        return device
    }

    package func removeDevice(_ device: Device, now: Moment) {
        if let session = device.session { end(session, why: "the device was removed", now: now) }
        for registration in device.registrations {
            dropAll(of: registration, cause: .deviceRemoved, now: now)
            leaveChannels(of: registration, cause: .deviceRemoved, now: now)
        }
        registry.remove(device)
        outputs.append(.save(.deviceRemoved(id: device.id)))
    }

    /// The registration of an app on a device, made when it is new: same device and topic, same token. `nil` when the
    /// topic belongs to no app and its name was not given.
    func register(_ device: Device, hash: [UInt8], name: String?, now: Moment) -> Registration? {
        guard let topicHash = TopicHash(bytes: hash) else { return nil }
        if registry.topic(hash: topicHash) == nil, let name, TopicHash(of: name) == topicHash {
            addApp(bundle: TopicSuffix.split(name).bundle, team: nil, storageRule: nil)
        }
        guard let topic = registry.topic(hash: topicHash) else { return nil }
        if let known = device.registrations.first(where: { $0.topic === topic }) {
            if known.unregisteredAt != nil { setRegistered(known, true, now: now) }
            return known
        }
        guard device.registrations.count < CoreLimits.registrationsPerDeviceMax else { return nil }
        return addRegistration(device, topic, token: appToken(of: device, topic), now: now)
    }

    /// Makes the token and a switched-on virtual device behind it.
    func registerUnknown(
        _ token: AppToken, _ topic: Topic, _ environment: PushEnvironment, now: Moment
    ) -> Registration {
        let device = addDevice(identity: [], environment: environment, isVirtual: true, now: now)
        return addRegistration(device, topic, token: token, now: now)
    }

    private func addRegistration(
        _ device: Device, _ topic: Topic, token: AppToken, now: Moment
    ) -> Registration {
        lastRegistrationID += 1
        let registration = Registration(id: lastRegistrationID, device: device, topic: topic, token: token)
        registry.add(registration)
        outputs.append(.save(.registration(registration)))
        journal(.registered, device: device, now: now)
        return registration
    }

    private func appToken(of device: Device, _ topic: Topic) -> AppToken {
        let bytes = HMACSHA256.authenticate(device.baseToken + topic.hash.bytes, key: secret)
        guard let token = AppToken(bytes: bytes) else { preconditionFailure("a digest has 32 bytes") }
        return token
    }

    /// Unregisters an app on a device, so that its token answers 410 from now on, or registers it again.
    package func setRegistered(_ registration: Registration, _ isRegistered: Bool, now: Moment) {
        guard (registration.unregisteredAt == nil) != isRegistered else { return }
        registration.unregisteredAt = isRegistered ? nil : now.unixMilliseconds
        registration.graceSends = 0
        if !isRegistered { dropAll(of: registration, cause: .unregistered, now: now) }
        outputs.append(.save(.registration(registration)))
        journal(isRegistered ? .registered : .unregistered, device: registration.device, now: now)
        refillWindow(of: registration.device, now: now)
    }

    /// Lets a token run out (410 `ExpiredToken`), or makes it good again.
    package func setExpired(_ registration: Registration, _ isExpired: Bool, now: Moment) {
        guard (registration.expiredAt != nil) != isExpired else { return }
        registration.expiredAt = isExpired ? now.unixMilliseconds : nil
        outputs.append(.save(.registration(registration)))
    }

    /// Switches a virtual device on or off. A device with a process of its own is not ours to switch.
    package func setOnline(_ device: Device, _ isOnline: Bool, now: Moment) {
        precondition(device.isVirtual, "only virtual devices are switched")
        guard device.isSwitchedOn != isOnline else { return }
        device.isSwitchedOn = isOnline
        outputs.append(.save(.device(device)))
        journal(isOnline ? .connected : .disconnected, device: device, now: now)
        if isOnline {
            drainVirtually(device, now: now)
        } else {
            keepUnsent(of: device, now: now)
        }
    }

    package func setNotificationsEnabled(_ device: Device, _ isEnabled: Bool) {
        device.notificationsEnabled = isEnabled
        outputs.append(.save(.device(device)))
    }

    /// The highest numbers given to a device and to a registration.
    var numbers: [Int64] { [lastDeviceID, lastRegistrationID] }

    func restore(numbers: [Int64]) {
        guard numbers.count == 2 else { return }
        lastDeviceID = max(lastDeviceID, numbers[0])
        lastRegistrationID = max(lastRegistrationID, numbers[1])
    }

    /// Puts back what the store remembered: called before anything else happens, in the order apps, devices,
    /// registrations, pushes; writes nothing.
    package func restore(_ app: App) { registry.add(app) }

    package func restore(_ device: Device) {
        registry.add(device)
        lastDeviceID = max(lastDeviceID, device.id)
    }

    package func restore(_ registration: Registration) {
        registry.add(registration)
        lastRegistrationID = max(lastRegistrationID, registration.id)
    }

    /// A push that was accepted and has not ended. Those whose device will never come (it was not storable) end now.
    package func restore(_ entry: MailboxEntry, registration: Registration, topic: Topic, now: Moment) {
        let index = registration.mailboxIndex(for: topic)
        registration.withMailbox(index) {
            $0.admit(entry, canDeliver: false, rule: .ideal, departures: &departures)
        }
        journalDepartures(of: registration, now: now)
        if registration.withMailbox(index, { $0.contains(entry.sequence) }) {
            expiryCheckAt = min(expiryCheckAt, entry.expiresAt)
        }
    }
}
