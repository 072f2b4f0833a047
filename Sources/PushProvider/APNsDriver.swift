internal import PushHTTP2
internal import PushJSON
internal import PushReactor
internal import PushTLS

/// Carries out what the ledger decides: the part of a client that lives on its loop. Loop-bound.
final class APNsDriver: APNsConnection.Owner {
    /// A push and who waits for its answer.
    struct Send: Sendable {
        let request: Request
        let continuation: CheckedContinuation<APNsResponse, any Error>
    }

    enum Request: Sendable {
        case push(APNsNotification, token: String)
        case channel(APNsChannelCall)

        var body: [UInt8] {
            switch self {
            case .push(let notification, _): notification.payload
            case .channel(let call): call.body
            }
        }
    }

    enum Command: Sendable {
        case send(SendLedger.SendID, Send)
        case cancel(SendLedger.SendID)
        /// Take nothing more; resume once all is answered and the sockets are gone.
        case shutDown(CheckedContinuation<Void, Never>)
        /// The client was let go: end at once.
        case abandon
    }

    /// Connections in a row that may end without one answer before what waits is failed: more would be a loop of
    /// handshakes against a service that does not want us.
    static let fruitlessMax = 3

    private let loop: EventLoop
    private let configuration: APNsConfiguration
    private let authority: String
    private let context: TLSContext
    private let pool = HTTP2Pool()
    private let parser = JSONParser()
    private var token: ProviderToken
    private var ledger: SendLedger
    private var sends: [SendLedger.SendID: Send] = [:]
    private var fields = HTTP2FieldList()
    /// All connections that are not gone; the one new pushes use, and those that finish what they have.
    private var connections: [Int: APNsConnection] = [:]
    private var current: APNsConnection?
    private var connectionsMade = 0
    private var fruitless = 0
    /// The reason the service last gave for sending a connection away.
    private var goAwayReason: String?
    private var deadlineTimer: Timer?
    private var shutdowns: [CheckedContinuation<Void, Never>] = []
    private var isShuttingDown = false
    /// The door stays open as long as the loop runs, even when the client is let go.
    var door: Inbox<Command>?

    init(loop: EventLoop, configuration: APNsConfiguration, context: TLSContext, token: ProviderToken) {
        self.loop = loop
        self.configuration = configuration
        self.context = context
        self.token = token
        authority = configuration.authority
        ledger = SendLedger(sendsMax: configuration.sendsMax)
        deadlineTimer = Timer(loop: loop) { [unowned self] in deadlinePassed() }
        loop.beforeSleep(.sweep) { [unowned self] in finishShutdown() }
    }

    func receive(_ command: Command) {
        loop.preconditionOnLoop()
        switch command {
        case .send(let id, let send): add(id, send)
        case .cancel(let id): cancel(id)
        case .shutDown(let continuation):
            shutdowns.append(continuation)
            isShuttingDown = true
        case .abandon:
            isShuttingDown = true
            for id in sends.keys { _ = ledger.remove(id) }
            failAll(Array(sends.keys), APNsError(.shutDown, "The client was let go."))
            loop.stop()
        }
        pump()
    }

    // MARK: Pushes

    private func add(_ id: SendLedger.SendID, _ send: Send) {
        if isShuttingDown {
            return send.continuation.resume(throwing: APNsError(.shutDown, "The client was shut down."))
        }
        guard ledger.add(id, deadline: loop.now + configuration.requestDeadline) else {
            let message = "More than \(configuration.sendsMax) pushes wait for an answer."
            return send.continuation.resume(throwing: APNsError(.queueFull, message))
        }
        sends[id] = send
    }

    private func cancel(_ id: SendLedger.SendID) {
        guard let send = sends.removeValue(forKey: id) else { return }
        if let key = ledger.remove(id) { connections[key.connection]?.cancel(stream: key.stream) }
        send.continuation.resume(throwing: CancellationError())
        current?.flush()
    }

    /// Submits what may go out; opens a connection if pushes wait and none takes them.
    private func pump() {
        if let current, current.isGoingAway { leaveCurrent() }
        while let id = ledger.next() {
            guard let connection = current else {
                openConnection()
                return schedule()
            }
            guard connection.canSubmit else { break }
            submit(id, on: connection)
        }
        current?.flush()
        schedule()
    }

    private func submit(_ id: SendLedger.SendID, on connection: APNsConnection) {
        guard let send = sends[id] else { preconditionFailure("the ledger and the sends agree") }
        do {
            let authorization = try token.authorization(nowSeconds: loop.wallMilliseconds / 1000)
            switch send.request {
            case .push(let notification, let token):
                APNsRequest.write(
                    notification, token: token, authority: authority, authorization: authorization, into: &fields)
            case .channel(let call):
                call.write(authority: authority, authorization: authorization, into: &fields)
            }
        } catch {
            _ = ledger.remove(id)
            return fail(id, error)
        }
        guard let stream = connection.submit(fields, body: send.request.body) else {
            current = nil
            return
        }
        ledger.submitted(id, SendLedger.StreamKey(connection: connection.number, stream: stream))
    }

    private func openConnection() {
        connectionsMade += 1
        do {
            let connection = try APNsConnection(
                number: connectionsMade, loop: loop, configuration: configuration, context: context, pool: pool,
                owner: self)
            connections[connection.number] = connection
            current = connection
        } catch {
            failAll(ledger.removeWaiting(), error)
        }
    }

    /// New pushes go elsewhere from here on.
    private func leaveCurrent() {
        current = nil
        fruitless += 1
        guard fruitless >= Self.fruitlessMax else { return }
        fruitless = 0
        let message = "The service ended \(Self.fruitlessMax) connections in a row without one answer."
        failAll(ledger.removeWaiting(), APNsError(.goneAway, message + goAwayText))
    }

    private func answer(_ id: SendLedger.SendID, _ response: APNsResponse) {
        if response.reason == .expiredProviderToken { token.wasRefused(nowSeconds: loop.wallMilliseconds / 1000) }
        sends.removeValue(forKey: id)?.continuation.resume(returning: response)
    }

    private func fail(_ id: SendLedger.SendID, _ error: APNsError) {
        sends.removeValue(forKey: id)?.continuation.resume(throwing: error)
    }

    private func failAll(_ ids: [SendLedger.SendID], _ error: APNsError) {
        for id in ids { fail(id, error) }
    }

    // MARK: Connections

    func connection(_ connection: APNsConnection, received event: HTTP2ClientEngine.Event) {
        switch event {
        case .response(let message):
            let response = APNsRequest.response(from: message, parser: parser)
            let key = SendLedger.StreamKey(connection: connection.number, stream: message.streamID)
            connection.recycle(message)
            fruitless = 0
            guard let id = ledger.finished(key) else { break }
            if let response {
                answer(id, response)
            } else {
                fail(id, APNsError(.protocolViolation, "The answer has no status."))
            }
        case .streamClosed(let stream, let code): streamClosed(connection, stream, code)
        case .goAway(_, _, let data): goAwayReason = APNsRequest.reason(inGoAway: data, parser: parser)
        case .settings, .pingAcknowledged: break
        }
    }

    private func streamClosed(_ connection: APNsConnection, _ stream: Int32, _ code: UInt32) {
        let key = SendLedger.StreamKey(connection: connection.number, stream: stream)
        guard code == HTTP2ErrorCode.refusedStream else {
            if let id = ledger.finished(key) {
                fail(id, APNsError(.streamReset, "The service ended the push's stream with code \(code)."))
            }
            return
        }
        guard case .over(let id) = ledger.unseen(key, connection.isGoingAway ? .goneAway : .refused) else { return }
        fail(
            id,
            connection.isGoingAway
                ? APNsError(.goneAway, "The service sent the connection away, twice." + goAwayText)
                : APNsError(.streamReset, "The service kept refusing the push for its stream limit."))
    }

    private var goAwayText: String { goAwayReason.map { " Its reason: \($0)." } ?? "" }

    func connectionSettled(_ connection: APNsConnection) { pump() }

    func connectionEnded(_ connection: APNsConnection, _ error: APNsError) {
        connections[connection.number] = nil
        failAll(ledger.lost(connection: connection.number), error)
        if current === connection {
            leaveCurrent()
            // It never came up: the next one would not either. What waits is told at once.
            if !connection.isReady { failAll(ledger.removeWaiting(), error) }
        }
        pump()
    }

    // MARK: Time and the end

    private func schedule() {
        if let at = ledger.nextDeadline() {
            if deadlineTimer?.isScheduled != true || deadlineTimer?.deadline != at { deadlineTimer?.schedule(at: at) }
        } else {
            deadlineTimer?.cancel()
        }
    }

    private func deadlinePassed() {
        let now = loop.now
        while let (id, key) = ledger.expired(now: now) {
            fail(id, APNsError(.timedOut, "No answer within \(configuration.requestDeadline)."))
            guard let key, let connection = connections[key.connection] else { continue }
            connection.cancel(stream: key.stream)
            connection.flush()
            // Not a byte for as long as a push may take: the connection is dead, and nobody told us.
            if now - connection.lastHeard >= configuration.requestDeadline {
                connection.fail(APNsError(.connectionLost, "The service has not sent a byte for too long."), .reset)
                if current === connection { leaveCurrent() }
            }
        }
        pump()
    }

    private func finishShutdown() {
        guard isShuttingDown, ledger.isEmpty else { return }
        for connection in connections.values { connection.close() }
        guard loop.openSockets == 0 else { return }
        current = nil
        for shutdown in shutdowns { shutdown.resume() }
        shutdowns = []
    }
}
