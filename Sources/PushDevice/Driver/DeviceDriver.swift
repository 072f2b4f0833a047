internal import PushBytes
internal import PushCrypto
internal import PushReactor
internal import PushSQLite

/// The part of a `PushDevice` that lives on its loop.
final class DeviceDriver: DeviceConnectionHandler {
    enum Command: Sendable {
        case open(Reply<Void>)
        case setTopics([String])
        case token(TokenRequest)
        case cancelToken(UInt64)
        case subscribe([UInt8], name: String, topic: String)
        case unsubscribe([UInt8])
        case consumed(Int64)
        case stop(Reply<Void>)
    }

    struct TokenRequest: Sendable {
        let id: UInt64
        let topic: String
        let timeout: Duration
        let reply: Reply<String>
    }

    /// How long `stop()` waits for the last bytes to leave.
    private static let farewellMax = Duration.seconds(1)

    private struct Waiter {
        let request: TokenRequest
        let timer: Timer
    }

    private let configuration: DeviceConfiguration
    private let messages: AsyncStream<DeviceMessage>.Continuation
    private let events: AsyncStream<DeviceEvent>.Continuation
    /// Set right after the inbox is made; messages carry it to the app.
    var door: Inbox<Command>?
    private var loop: EventLoop?
    private var deviceLoop: DeviceLoop?
    private var connection: DeviceConnection?
    private var topics: [String]
    private var waiters: [UInt64: Waiter] = [:]
    private var lastReason: DisconnectReason?
    private var stopping: [Reply<Void>] = []
    private var farewell: Timer?

    init(
        loop: EventLoop, configuration: DeviceConfiguration, messages: AsyncStream<DeviceMessage>.Continuation,
        events: AsyncStream<DeviceEvent>.Continuation
    ) {
        self.loop = loop
        self.configuration = configuration
        self.messages = messages
        self.events = events
        topics = configuration.topics
        loop.beforeSleep(.sweep) { [weak self] in self?.endIfQuiet() }
    }

    func handle(_ command: Command) {
        switch command {
        case .open(let reply): reply.answer(open())
        case .setTopics(let topics):
            self.topics = topics
            connection?.setTopics(topics.map { DeviceTopic($0) })
        case .token(let request): token(request)
        case .cancelToken(let id): finish(id, .failure(DeviceError(.stopped, "the task was cancelled")))
        case .subscribe(let id, let name, let topic): connection?.subscribe(id, name: name, topic: topic)
        case .unsubscribe(let id): connection?.unsubscribe(id)
        case .consumed(let sequence): connection?.consume(sequence: sequence)
        case .stop(let reply): stop(reply)
        }
    }

    // MARK: Opening

    private func open() -> Result<Void, DeviceError> {
        do throws(DeviceError) {
            try openConnection()
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func openConnection() throws(DeviceError) {
        guard let loop, connection == nil else { throw DeviceError(.stopped, "the device was stopped") }
        let server = try configuration.makeServer()
        let saved = try openInbox(unixSeconds: loop.wallMilliseconds / 1000)
        let deviceLoop = DeviceLoop(loop)
        let core = DeviceCore(
            timing: configuration.timing, limits: configuration.limits, topics: topics.map { DeviceTopic($0) },
            baseToken: saved.baseToken, unconsumed: saved.messages.count, seed: SecureRandom.seed())
        let connection = DeviceConnection(
            on: deviceLoop, server: server, identity: saved.identity, inbox: saved.inbox, core: core, handler: self)
        self.deviceLoop = deviceLoop
        self.connection = connection
        for (sequence, message) in saved.messages { hand(message, sequence) }
        connection.start()
    }

    private struct Saved {
        var inbox: DeviceInbox
        var identity: DeviceIdentity
        var baseToken: [UInt8]?
        var messages: [(sequence: Int64, message: InboxMessage)]
    }

    private func openInbox(unixSeconds: Int64) throws(DeviceError) -> Saved {
        let seenMax = configuration.limits.seenMax
        guard let directory = configuration.stateDirectory else {
            let identity = try makeIdentity(unixSeconds)
            return Saved(inbox: .memory(MemoryInbox(seenMax: seenMax)), identity: identity, messages: [])
        }
        let path = try StateDirectory.prepare(directory)
        do throws(SQLiteError) {
            let file = try FileInbox(path: path, seenMax: seenMax)
            return Saved(
                inbox: .file(file), identity: try identity(in: file, unixSeconds),
                baseToken: try file.baseToken(), messages: try file.unconsumed())
        } catch {
            throw Self.explain(error, path)
        }
    }

    private static func explain(_ error: SQLiteError, _ path: String) -> DeviceError {
        let what =
            if error.isBusy {
                "\(path) is in use by another device"
            } else if error.isCorrupt {
                "\(path) is damaged; remove it to begin as a new device"
            } else {
                "\(path): \(error.description)"
            }
        return DeviceError(.stateDirectory, what)
    }

    private func identity(in file: FileInbox, _ unixSeconds: Int64) throws(SQLiteError) -> DeviceIdentity {
        if let saved = try file.identity() {
            do {
                return DeviceIdentity(
                    key: try RSAPrivateKey(pem: saved.key), certificate: try Certificate(pem: saved.certificate))
            } catch {
                throw SQLiteError(code: 11, message: "the saved identity is unreadable", operation: "read identity")
            }
        }
        let identity: DeviceIdentity
        do throws(DeviceError) {
            identity = try makeIdentity(unixSeconds)
        } catch {
            throw SQLiteError(code: 1, message: error.description, operation: "make identity")
        }
        try file.saveIdentity(key: identity.key.pem, certificate: identity.certificate.pem)
        return identity
    }

    private func makeIdentity(_ unixSeconds: Int64) throws(DeviceError) -> DeviceIdentity {
        do {
            return try DeviceIdentity(
                name: configuration.name, key: RSAPrivateKey(), serial: SecureRandom.bytes(16),
                unixSeconds: unixSeconds)
        } catch {
            throw DeviceError(.system, "cannot make an identity: \(error)")
        }
    }

    // MARK: From the connection

    func deviceDidReceive(_ connection: DeviceConnection, _ message: InboxMessage, sequence: Int64) {
        hand(message, sequence)
    }

    private func hand(_ message: InboxMessage, _ sequence: Int64) {
        guard let door else { return }
        messages.yield(DeviceMessage(message, sequence: sequence, door: door))
    }

    func deviceDidChange(_ connection: DeviceConnection, _ event: DeviceEvent) {
        switch event {
        case .token(let topic, let token):
            for (id, waiter) in waiters where waiter.request.topic == topic { finish(id, .success(token)) }
        case .tokenRefused(let topic, let status):
            let error = DeviceError(.refused, "the server gives no token for \(topic) (status \(status))")
            for (id, waiter) in waiters where waiter.request.topic == topic { finish(id, .failure(error)) }
        case .disconnected(let reason, _):
            lastReason = reason
            // Waiting helps against neither of these.
            if reason.kind == .untrusted || reason.kind == .wrongHostName {
                for id in waiters.keys { finish(id, .failure(DeviceError(.refused, reason.description))) }
            }
        case .connected: lastReason = nil
        case .connecting, .inboxFull, .subscribed, .subscriptionRefused: break
        }
        events.yield(event)
    }

    // MARK: Tokens

    private func token(_ request: TokenRequest) {
        guard let loop, let connection, stopping.isEmpty else {
            return request.reply.answer(.failure(DeviceError(.stopped, "the device is stopped")))
        }
        guard topics.contains(request.topic) else {
            let error = DeviceError(.configuration, "\(request.topic) is no topic of this device")
            return request.reply.answer(.failure(error))
        }
        if let token = connection.token(for: request.topic) {
            return request.reply.answer(.success(Hex.encode(token)))
        }
        let timer = Timer(loop: loop) { [unowned self] in timedOut(request.id) }
        timer.schedule(after: request.timeout)
        waiters[request.id] = Waiter(request: request, timer: timer)
        connection.mintToken(topic: request.topic)
    }

    private func timedOut(_ id: UInt64) {
        let why = lastReason.map { "; last: \($0.description)" } ?? ""
        finish(id, .failure(DeviceError(.timedOut, "no token within the time limit\(why)")))
    }

    private func finish(_ id: UInt64, _ result: Result<String, DeviceError>) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        waiter.timer.cancel()
        waiter.request.reply.answer(result)
    }

    // MARK: Stopping

    private func stop(_ reply: Reply<Void>) {
        guard let loop else { return reply.answer(.success(())) }
        stopping.append(reply)
        guard farewell == nil else { return }
        connection?.stop()
        for id in waiters.keys { finish(id, .failure(DeviceError(.stopped, "the device was stopped"))) }
        let timer = Timer(loop: loop) { [unowned self] in end() }
        timer.schedule(after: Self.farewellMax)
        farewell = timer
    }

    /// In phase `.sweep`: the last acknowledgements and close_notify are with the kernel, or the peer has them.
    private func endIfQuiet() {
        if farewell != nil, loop?.openSockets == 0 { end() }
    }

    /// Lets go of everything that holds the loop.
    private func end() {
        guard !stopping.isEmpty else { return }
        connection?.close()
        connection = nil
        deviceLoop = nil
        door = nil
        farewell = nil
        loop = nil
        messages.finish()
        events.finish()
        let replies = stopping
        stopping = []
        for reply in replies { reply.answer(.success(())) }
    }
}
