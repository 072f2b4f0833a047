import PushBytes
package import PushCore
package import PushHTTP2
import PushJSON
package import PushStore

/// The whole server without sockets and clocks: connections bring bytes, `endTurn` stores what they caused and only
/// then lets the answers go. The server's driver and the seeded simulations run this same type. Bound to the loop.
///
/// A turn: any number of `receive` calls, control calls and `timePassed`, then one `endTurn`.
package final class PushService {
    package private(set) var core: ServerCore
    package let store: PushStore
    package let setup: ServiceSetup
    /// What happened in the turn that was just stored; kept only while somebody `observes`.
    package var observer: ((_ events: [JournalEvent]) -> Void)?

    let parser = JSONParser()
    private let pool = HTTP2Pool()
    private var fields = HTTP2FieldList()
    private var answers: [ProviderAnswer] = []
    private var broadcastAnswers: [BroadcastAnswer] = []
    private var dirtyProviders: [ProviderConnection] = []
    private var dirtyCouriers: [CourierConnection] = []
    private var couriers: [Int: CourierConnection] = [:]
    private var lastConnection = 0
    private var turnEvents: [JournalEvent] = []
    private var afterCommit: [(_ isStored: Bool) -> Void] = []
    /// The store failed and has not worked since: pushes are refused at the door.
    private(set) package var isStoreFailing = false

    /// Opens over a store: registry and mailboxes are what the store says. `secret` is taken from the store when it has
    /// one, else kept there from now on.
    package init(store: PushStore, setup: ServiceSetup, secret: [UInt8], now: Moment) throws(StoreError) {
        self.store = store
        self.setup = setup
        let kept = try store.value("secret")
        if kept == nil { store.setValue("secret", secret) }
        core = try Self.restoredCore(from: store, setup: setup, secret: kept ?? secret, floor: 0, now: now)
        addDefaults()
        perform(now: now)
        try store.commit()
    }

    // MARK: Connections

    /// `certificate` is what the client showed in its handshake, DER; `nil` when it showed none. `hasProtocol`: ALPN
    /// has chosen HTTP/2; without it the connection says nothing before the client's first bytes. A management port names
    /// the environment, else the name does that the client connected to.
    package func openProvider(
        _ port: BroadcastPort = .provider, serverName: String?, certificate: [UInt8]? = nil, hasProtocol: Bool = true,
        now: Moment
    ) throws(HTTP2Error) -> ProviderConnection {
        let environment =
            switch port {
            case .provider: environment(named: serverName)
            case .management(let environment): environment
            }
        let session = ProviderSession(environment: environment, certificate: presented(certificate, now: now))
        return try ProviderConnection(service: self, session: session, hasProtocol: hasProtocol, pool: pool, port: port)
    }

    private func presented(_ der: [UInt8]?, now: Moment) -> PresentedCertificate {
        guard let der else { return .none }
        guard let authority = setup.authority,
            let certificate = ProviderCertificate(der: der, authority: authority, now: now.unixMilliseconds)
        else { return .bad }
        return .good(certificate)
    }

    package func openCourier(serverName: String?, now: Moment) -> CourierConnection {
        lastConnection += 1
        let connection = CourierConnection(service: self, number: lastConnection)
        couriers[connection.number] = connection
        core.deviceConnected(connection.number, environment: environment(named: serverName), now: now)
        return connection
    }

    /// The device's side is gone.
    package func closed(_ connection: CourierConnection, now: Moment) {
        connection.isEnded = true
        guard couriers.removeValue(forKey: connection.number) != nil else { return }
        core.deviceDisconnected(connection.number, now: now)
        perform(now: now)
    }

    package var courierCount: Int { couriers.count }

    private func environment(named serverName: String?) -> PushEnvironment {
        PushEnvironment.named(by: serverName ?? "", local: setup.rules.localEnvironment)
    }

    // MARK: Requests

    func handle(_ message: HTTP2Message, of connection: ProviderConnection, now: Moment) {
        var request = APNsRequest(storage: message.bytes)
        for field in message.fields { request.add(name: field.name, value: field.value) }
        request.bodyBytes = message.bodyBytesSeen
        if connection.port != .provider || BroadcastRules.concerns(request) {
            handleBroadcast(message, request, of: connection, now: now)
            return
        }
        let body = message.body
        let verdict: Result<Acceptance, APNsReason.Failure> =
            if let reason = hindrance(of: connection) {
                .failure(.init(reason))
            } else {
                core.judge(request, session: &connection.session, isJSON: { parser.isValid(body.span) }, now: now)
            }
        let answer: ProviderAnswer
        switch verdict {
        case .success(let acceptance):
            let record = accept(acceptance, request, now: now)
            answer = self.answer(record, connection, stream: message.streamID, failure: nil)
            store.add(record, payload: body.span)
            perform(now: now, current: (record, body))
        case .failure(let failure):
            let record = refused(failure.reason, request, &connection.session, now: now)
            answer = self.answer(record, connection, stream: message.streamID, failure: failure)
            if failure.reason != .serviceUnavailable { store.add(record, payload: body.span) }
            perform(now: now)
            if failure.reason == .badCertificateEnvironment {
                connection.leaveWithoutAnswer(failure.reason)
                return
            }
        }
        answers.append(answer)
    }

    /// Why no request can be looked at; `nil` when they can.
    func hindrance(of connection: ProviderConnection) -> APNsReason? {
        if isStoreFailing { return .serviceUnavailable }
        return connection.isShuttingDown ? .shutdown : nil
    }

    private func accept(_ acceptance: Acceptance, _ request: APNsRequest, now: Moment) -> PushRecord {
        let (sequence, entry) = core.accept(acceptance, now: now)
        let notification = acceptance.notification
        var record = PushRecord(
            sequence: sequence, id: notification.id, registration: acceptance.registration.id,
            at: now.unixMilliseconds, reason: nil, environment: acceptance.registration.device.environment)
        Self.link(&record, to: acceptance.registration)
        record.topic = acceptance.topic.name
        record.pushType = notification.pushType
        record.priority = notification.priority
        record.expiration = notification.expiration
        record.expiresAt = entry.expiresAt
        record.isStorable = entry.isStorable
        record.collapseID = request.text(notification.collapseID)
        observe(
            JournalEvent(
                sequence: sequence, milestone: .accepted, push: sequence, device: acceptance.registration.device.id,
                at: now.unixMilliseconds, detail: 0))
        return record
    }

    private func refused(
        _ reason: APNsReason, _ request: APNsRequest, _ session: inout ProviderSession, now: Moment
    ) -> PushRecord {
        let sequence = core.refuse()
        let id = request.id.flatMap { APNsID(textIn: request.storage, $0) }
        let registration = RefusalDetail.token(request).flatMap { core.registry.registration($0) }
        var record = PushRecord(
            sequence: sequence, id: id, registration: registration?.id ?? 0, at: now.unixMilliseconds, reason: reason,
            environment: core.environment(of: request, session: &session))
        // What the store cannot take leaves no trace: a later push that named it as the one before it would hide all
        // older ones.
        let isKept = reason != .serviceUnavailable
        if isKept, let registration { Self.link(&record, to: registration) }
        record.topic = RefusalDetail.shortened(request, request.topic)
        record.detail = RefusalDetail.offence(reason, request)
        record.isStorable = false
        guard isKept else { return record }
        observe(
            JournalEvent(
                sequence: sequence, milestone: .rejected, push: sequence, device: registration?.device.id ?? 0,
                at: now.unixMilliseconds, detail: Int64(reason.rawValue)))
        return record
    }

    private static func link(_ record: inout PushRecord, to registration: Registration) {
        record.previous = registration.lastPush
        registration.lastPush = record.sequence
    }

    private func answer(
        _ record: PushRecord, _ connection: ProviderConnection, stream: Int32, failure: APNsReason.Failure?
    ) -> ProviderAnswer {
        let made = core.ids.id(for: record.sequence)
        return ProviderAnswer(
            connection: connection, stream: stream, id: record.id ?? made,
            uniqueID: failure == nil && record.environment == .sandbox ? made : nil, failure: failure)
    }

    // MARK: Turns

    package func timePassed(now: Moment) {
        core.timePassed(now: now)
        perform(now: now)
    }

    package var wakeTimes: (unix: Int64, monotonic: Int64) { core.wakeTimes }

    /// Runs `body` when the turn is stored, or when that failed.
    package func whenStored(_ body: @escaping (_ isStored: Bool) -> Void) { afterCommit.append(body) }

    func add(_ answer: BroadcastAnswer) { broadcastAnswers.append(answer) }

    func markDirty(_ connection: ProviderConnection) {
        guard !connection.isDirty else { return }
        connection.isDirty = true
        dirtyProviders.append(connection)
    }

    /// Stores the turn, then lets its answers and frames go. When the store fails, nothing of the turn has happened:
    /// requests are answered 503 and devices are disconnected; they come back, and what was accepted before is there.
    package func endTurn(now: Moment) {
        do throws(StoreError) {
            try store.commit()
            if isStoreFailing && store.isWritable() { isStoreFailing = false }
            finishTurn(isStored: true)
        } catch {
            setup.log("cannot store: \(error)")
            isStoreFailing = true
            rebuild(now: now)
            finishTurn(isStored: false)
        }
    }

    private func finishTurn(isStored: Bool) {
        for answer in answers {
            let failure = isStored ? answer.failure : APNsReason.Failure(.serviceUnavailable)
            answer.send(failure: failure, fields: &fields)
            markDirty(answer.connection)
        }
        answers.removeAll(keepingCapacity: true)
        for answer in broadcastAnswers {
            answer.send(isStored: isStored, fields: &fields)
            markDirty(answer.connection)
        }
        broadcastAnswers.removeAll()
        for connection in dirtyProviders {
            connection.isDirty = false
            connection.announceStreams()
            connection.transport?.hasOutput()
        }
        dirtyProviders.removeAll(keepingCapacity: true)
        for connection in dirtyCouriers {
            connection.isDirty = false
            connection.transport?.hasOutput()
            if connection.isEnded { connection.transport?.end() }
        }
        dirtyCouriers.removeAll(keepingCapacity: true)
        let events = turnEvents
        turnEvents.removeAll(keepingCapacity: true)
        if isStored && !events.isEmpty { observer?(events) }
        let waiting = afterCommit
        afterCommit.removeAll()
        for body in waiting { body(isStored) }
    }

    /// Says goodbye to every device, for a stop: their connections end, nothing is lost.
    package func endAllCouriers() {
        for connection in couriers.values { markEnded(connection) }
    }

    // MARK: Carrying out

    /// Carries out what the core asked for. `current` is the push being accepted, whose payload is at hand.
    package func perform(now: Moment, current: (record: PushRecord, payload: [UInt8])? = nil) {
        guard !core.outputs.isEmpty else { return }
        let outputs = core.outputs
        core.outputs.removeAll(keepingCapacity: true)
        for output in outputs {
            switch output {
            case .event(let event):
                store.add(event)
                observe(event)
            case .deliver(let delivery): deliver(delivery, current: current)
            case .reply(let number, let reply):
                guard let connection = couriers[number] else { continue }
                connection.write(reply, now: now)
                markDirty(connection)
            case .close(let number, let why):
                guard let connection = couriers[number] else { continue }
                setup.log("device connection \(number) ended: \(why)")
                markEnded(connection)
            case .save(let change): save(change)
            }
        }
    }

    private func deliver(_ delivery: ServerDelivery, current: (record: PushRecord, payload: [UInt8])?) {
        guard let connection = couriers[delivery.connection] else { return }
        let pushID = core.ids.bytes(for: delivery.sequence)
        if let current, current.record.sequence == delivery.sequence {
            connection.write(delivery, current.record, payload: current.payload.span, pushID: pushID)
        } else {
            let found: Void? = try? store.withPush(delivery.sequence) { record, payload in
                connection.write(delivery, record, payload: payload, pushID: pushID)
            }
            if found == nil { setup.log("push \(delivery.sequence) could not be read from the store") }
        }
        markDirty(connection)
    }

    private func save(_ change: RegistryChange) {
        switch change {
        case .app(let app): store.save(app)
        case .appRemoved(let bundle):
            store.removeApp(bundle: bundle)
            keepNumbers()
        case .device(let device): store.save(device)
        case .deviceRemoved(let id):
            store.removeDevice(id: id)
            keepNumbers()
        case .registration(let registration): store.save(registration)
        case .channel(let channel): store.save(channel)
        case .channelRemoved(let number): store.removeChannel(number: number)
        case .subscription(let subscription): store.save(subscription)
        case .subscriptionRemoved(let registration, let channel):
            store.removeSubscription(registration: registration, channel: channel)
        }
    }

    /// The numbers of what was removed, and with them its tokens and inbox, are not given out again after a start.
    private func keepNumbers() {
        store.setValue("numbers", Array(core.numbers.map(String.init).joined(separator: " ").utf8))
    }

    func observe(_ event: JournalEvent) {
        if observer != nil { turnEvents.append(event) }
    }

    private func markDirty(_ connection: CourierConnection) {
        guard !connection.isDirty else { return }
        connection.isDirty = true
        dirtyCouriers.append(connection)
    }

    private func markEnded(_ connection: CourierConnection) {
        couriers[connection.number] = nil
        connection.isEnded = true
        markDirty(connection)
    }

    // MARK: Starting over

    /// Forgets what is not stored: the core is made anew from the store.
    private func rebuild(now: Moment) {
        // What was written in this turn speaks of pushes that are not stored: it must not leave.
        for connection in couriers.values { connection.output.removeAll() }
        endAllCouriers()
        core.outputs.removeAll()
        turnEvents.removeAll()
        do throws(StoreError) {
            core = try Self.restoredCore(
                from: store, setup: setup, secret: core.secret, floor: core.lastSequence, now: now)
            core.outputs.removeAll()
        } catch {
            setup.fail("the store can neither be written nor read: \(error)")
        }
    }

    /// Empties the workspace.
    package func reset(keepingApps: Bool, keepingKeys: Bool, now: Moment) throws(StoreError) {
        endAllCouriers()
        keepNumbers()
        store.reset(keepingApps: keepingApps, keepingKeys: keepingKeys, lastSequence: core.lastSequence)
        core = try Self.restoredCore(
            from: store, setup: setup, secret: core.secret, floor: core.lastSequence, now: now)
        addDefaults()
        perform(now: now)
    }

    private func addDefaults() {
        for bundle in setup.bundles where core.registry.app(bundle) == nil {
            core.addApp(bundle: bundle, team: nil, storageRule: nil)
        }
        // The setup's keys win: the file may have changed since the store saw it.
        for key in setup.keys {
            core.verifier.add(key)
            store.save(key)
        }
    }

    private static func restoredCore(
        from store: PushStore, setup: ServiceSetup, secret: [UInt8], floor: Int64, now: Moment
    ) throws(StoreError) -> ServerCore {
        let core = ServerCore(
            settings: setup.rules, identityMode: setup.identityMode, secret: secret,
            lastSequence: max(floor, try store.lastSequence()))
        let numbers = try store.value("numbers").map { String(decoding: $0, as: UTF8.self).split(separator: " ") }
        core.restore(numbers: numbers?.compactMap { Int64($0) } ?? [])
        for key in try store.loadKeys() { core.verifier.add(key) }
        for app in try store.loadApps() { core.restore(app) }
        for device in try store.loadDevices() { core.restore(device) }
        for registration in try store.loadRegistrations(into: core.registry) { core.restore(registration) }
        try store.loadChains { registration, newest in core.registry.registration(registration)?.lastPush = newest }
        try store.loadPending { registrationID, topicName, entry in
            guard let registration = core.registry.registration(registrationID),
                let topic = core.registry.topic(named: Array(topicName.utf8))
            else { return }
            core.restore(entry, registration: registration, topic: topic, now: now)
        }
        for channel in try store.loadChannels() { core.restore(channel) }
        try store.loadSubscriptions(into: core.registry) { core.restore(subscription: $0, $1, cursor: $2) }
        try store.loadAbandonedBroadcasts { sequence, channel, device in
            core.restoreAbandoned(
                sequence, channel: core.registry.channels[id: channel], device: core.registry.device(device), now: now)
        }
        return core
    }
}
