internal import PushBytes
internal import PushCourier
internal import PushCrypto
package import PushReactor
internal import PushSQLite
package import PushTLS

/// Who is told what a device hears. Calls come on the loop; any call of the connection is allowed from within.
package protocol DeviceConnectionHandler: AnyObject {
    /// A message is durable and was not handed out before in this run.
    func deviceDidReceive(_ connection: DeviceConnection, _ message: InboxMessage, sequence: Int64)
    func deviceDidChange(_ connection: DeviceConnection, _ event: DeviceEvent)
}

/// Drives one device: binds its core to a socket, TLS, a timer and an inbox. Any number share a loop. Loop-bound.
package final class DeviceConnection: SocketHandler {
    /// Where devices connect to; shared by as many as wanted.
    package final class Server: Sendable {
        let host: String
        let port: UInt16
        let serverName: String?
        let tls: TLSContext

        /// - Parameters:
        ///   - host: a name or a numeric address; the server's certificate must be for it.
        ///   - serverName: sent as SNI in place of `host`; the certificate is not compared with it.
        package init(host: String, port: UInt16, serverName: String? = nil, trust: TLSTrust) throws(TLSError) {
            self.host = host
            self.port = port
            self.serverName = serverName
            tls = try TLSContext.client(trust: trust, applicationProtocols: ["apns-security-v3"])
        }
    }

    private let deviceLoop: DeviceLoop
    private let server: Server
    private let identity: DeviceIdentity
    private weak var handler: (any DeviceConnectionHandler)?
    private var core: DeviceCore
    private var inbox: DeviceInbox

    private var socket: Socket?
    private var engine: TLSEngine?
    private var decoder = CourierDecoder()
    private var frame: CourierFrame
    private var plainIn = ByteQueue()
    private var plainOut = ByteQueue()
    private var timer: Timer?
    private var armedDeadline: Int64?

    private var outputs: [DeviceCore.Output] = []
    private var isPerforming = false
    private var change = DeviceInbox.Change()
    private var receipts: [Arrival.Receipt] = []
    private var isDirty = false

    /// - Parameters:
    ///   - inbox: belongs to the connection from here on.
    ///   - core: made with what the inbox knows: base token and number of unconsumed messages.
    ///   - handler: held weakly.
    package init(
        on deviceLoop: DeviceLoop, server: Server, identity: DeviceIdentity, inbox: DeviceInbox, core: DeviceCore,
        handler: any DeviceConnectionHandler
    ) {
        deviceLoop.loop.preconditionOnLoop()
        self.deviceLoop = deviceLoop
        self.server = server
        self.identity = identity
        self.inbox = inbox
        self.core = core
        self.handler = handler
        do throws(CourierError) {
            frame = try CourierFrame(command: 0)
        } catch {
            preconditionFailure("a frame without items is a frame")
        }
        timer = Timer(loop: deviceLoop.loop) { [unowned self] in timePassed() }
    }

    package var isOnline: Bool { core.isOnline }

    package func token(for topic: String) -> [UInt8]? { core.token(for: topic) }

    package func start() { enter(.start) }

    /// Closes the connection in order and commits what is still to be kept. It may be started again.
    package func stop() {
        enter(.stop)
        if isDirty { commit() }
    }

    /// Closes the inbox; the connection must be stopped and is of no use afterwards.
    package func close() {
        precondition(core.nextDeadline == nil, "a device is stopped before it is closed")
        inbox.close()
    }

    package func setTopics(_ topics: [DeviceTopic]) { enter(.setTopics(topics)) }

    package func subscribe(_ id: [UInt8], name: String, topic: String) {
        enter(.subscribe(id, name: name, topic: topic))
    }

    package func unsubscribe(_ id: [UInt8]) { enter(.unsubscribe(id)) }

    package func mintToken(topic: String) { enter(.mintToken(topic: topic)) }

    /// The app is done with a message: it leaves the inbox in this turn's commit.
    package func consume(sequence: Int64) {
        deviceLoop.loop.preconditionOnLoop()
        change.consumed.append(sequence)
        markDirty()
    }

    /// Closes the connection as a cut would, for tests and simulated bad networks; the device reconnects.
    package func cut() {
        guard let socket else { return }
        forget()
        socket.close(.reset)
        enter(.disconnected(DisconnectReason(.connectionFailed, "cut on request")))
    }

    // MARK: Steps

    private func enter(_ input: DeviceCore.Input) {
        deviceLoop.loop.preconditionOnLoop()
        step(input)
        settle()
    }

    private func timePassed() {
        armedDeadline = nil
        enter(.timer)
    }

    /// Steps the core and does what it says. A step from within only adds to what is being done.
    private func step(_ input: DeviceCore.Input) {
        let loop = deviceLoop.loop
        let now = DeviceCore.Moment(nanoseconds: loop.now.nanoseconds, wallMilliseconds: loop.wallMilliseconds)
        core.step(input, now: now, into: &outputs)
        if isPerforming { return }
        isPerforming = true
        var index = 0
        while index < outputs.count {
            perform(outputs[index])
            index += 1
        }
        outputs.removeAll(keepingCapacity: true)
        isPerforming = false
    }

    private func perform(_ output: DeviceCore.Output) {
        switch output {
        case .connect: connect()
        case .disconnect: disconnect()
        case .write(let message): write(message)
        case .store(let arrival):
            change.arrivals.append(arrival.message)
            receipts.append(arrival.receipt)
            markDirty()
        case .saveBaseToken(let token):
            change.baseToken = .some(token)
            markDirty()
        case .event(let event): handler?.deviceDidChange(self, event)
        }
    }

    /// Sends what was written and sets the timer.
    private func settle() {
        flush()
        let deadline = core.nextDeadline
        if deadline == armedDeadline { return }
        armedDeadline = deadline
        if let deadline {
            timer?.schedule(at: MonotonicTime(nanoseconds: deadline))
        } else {
            timer?.cancel()
        }
    }

    private func markDirty() {
        if isDirty { return }
        isDirty = true
        deviceLoop.add(dirty: self)
    }

    /// In phase `.commit`: keeps what came in this turn, and only then acknowledges it and hands it out.
    func commit() {
        guard isDirty else { return }
        isDirty = false
        let change = change
        let receipts = receipts
        self.change = DeviceInbox.Change()
        self.receipts = []
        let outcome: DeviceInbox.Outcome
        do throws(SQLiteError) {
            outcome = try inbox.commit(change)
        } catch {
            // Unacknowledged messages come again; what we know alone is kept for the next turn.
            self.change.consumed = change.consumed
            self.change.baseToken = change.baseToken
            if !self.change.isEmpty { markDirty() }
            if !receipts.isEmpty { enter(.storingFailed(error.description)) }
            return
        }
        for (index, receipt) in receipts.enumerated() {
            step(.stored(receipt, isNew: outcome.sequences[index] != nil))
        }
        if outcome.consumed > 0 { step(.consumed(outcome.consumed)) }
        settle()
        for (index, message) in change.arrivals.enumerated() {
            guard let sequence = outcome.sequences[index] else { continue }
            handler?.deviceDidReceive(self, message, sequence: sequence)
        }
    }

    // MARK: Socket and TLS

    private func connect() {
        precondition(socket == nil, "the former connection is gone")
        do {
            engine = try TLSEngine(client: server.tls, host: server.host, serverName: server.serverName)
            socket = try Socket.connect(
                loop: deviceLoop.loop, host: server.host, port: server.port, handler: self)
        } catch {
            forget()
            step(.disconnected(DisconnectReason(.connectionFailed, "\(error)")))
        }
    }

    /// In order as far as it goes: close_notify, then FIN.
    private func disconnect() {
        flush()
        guard let socket else { return }
        if let engine, engine.isEstablished {
            engine.close()
            engine.drain(into: &socket.output)
            socket.close(.fin)
        } else {
            socket.close(.reset)
        }
        forget()
    }

    private func forget() {
        socket = nil
        engine = nil
        decoder = CourierDecoder()
        plainIn = ByteQueue()
        plainOut = ByteQueue()
    }

    private func write(_ message: DeviceCore.Outgoing) {
        switch message {
        case .connect(let baseToken, let clock): writeConnect(baseToken: baseToken, clockMilliseconds: clock)
        case .filter(let filter): filter.write(into: &plainOut)
        case .tokenRequest(let request): request.write(into: &plainOut)
        case .subscription(let subscription): subscription.write(into: &plainOut)
        case .activeState(let state): state.write(into: &plainOut)
        case .acknowledgement(let acknowledgement): acknowledgement.write(into: &plainOut)
        case .keepAlive: CourierKeepAlive().write(into: &plainOut)
        case .keepAliveResponse: CourierKeepAliveResponse().write(into: &plainOut)
        }
    }

    private func writeConnect(baseToken: [UInt8]?, clockMilliseconds: Int64) {
        do {
            try identity.connectFrame(
                baseToken: baseToken, clockMilliseconds: clockMilliseconds, random: SecureRandom.bytes(8)
            ).write(into: &plainOut)
        } catch {
            preconditionFailure("a key that was made or read can sign")
        }
    }

    /// Everything written since the last time in as few TLS records as possible.
    private func flush() {
        guard let socket, let engine, !plainOut.isEmpty else { return }
        do throws(TLSError) {
            try plainOut.withSpan { (bytes) throws(TLSError) in try engine.send(bytes) }
            plainOut.removeAll()
            plainOut.shrink(to: 4096)
        } catch {
            return fail(Self.reason(error))
        }
        send(engine, socket)
    }

    private func send(_ engine: TLSEngine, _ socket: Socket) {
        engine.drain(into: &socket.output)
        if socket.output.isEmpty { return }
        if socket.output.count > core.limits.outputBytesMax {
            return fail(DisconnectReason(.connectionFailed, "the server does not read"))
        }
        socket.wantsFlush()
    }

    /// The connection is of no use any more: says why to the core. An alert that waits still goes out.
    private func fail(_ reason: DisconnectReason) {
        guard let socket else { return }
        engine?.drain(into: &socket.output)
        socket.close(socket.output.count > core.limits.outputBytesMax ? .reset : .fin)
        forget()
        step(.disconnected(reason))
    }

    package func socketDidConnect(_ socket: Socket) {
        guard socket === self.socket, let engine else { return }
        do throws(TLSError) {
            try engine.start()
            send(engine, socket)
        } catch {
            fail(Self.reason(error))
        }
        settle()
    }

    package func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
        guard socket === self.socket, let engine else { return }
        let wasEstablished = engine.isEstablished
        do throws(TLSError) {
            try engine.receive(bytes, into: &plainIn)
        } catch {
            fail(Self.reason(error))
            return settle()
        }
        if !wasEstablished && engine.isEstablished { step(.connected) }
        readFrames(of: engine)
        if engine === self.engine { send(engine, socket) }
        if engine === self.engine, engine.peerClosed {
            fail(DisconnectReason(.closedByServer, "the server closed the connection (close_notify)"))
        }
        settle()
    }

    private func readFrames(of engine: TLSEngine) {
        if plainIn.isEmpty { return }
        plainIn.withSpan { decoder.receive($0) }
        plainIn.removeAll()
        plainIn.shrink(to: 4096)
        do throws(CourierError) {
            // A step may end the connection, and then the rest of its bytes means nothing.
            while engine === self.engine, try decoder.next(into: &frame) { step(.frame(frame)) }
        } catch {
            fail(DisconnectReason(.protocolViolation, error.description))
        }
    }

    package func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) {
        guard socket === self.socket else { return }
        let isEstablished = engine?.isEstablished ?? false
        forget()
        let phase = isEstablished ? "" : " before TLS was up"
        switch reason {
        case .failed(let error):
            step(.disconnected(DisconnectReason(.connectionFailed, error.description)))
        case .endOfFile, .local:
            step(.disconnected(DisconnectReason(.closedByServer, "the server closed the connection\(phase)")))
        }
        settle()
    }

    private static func reason(_ error: TLSError) -> DisconnectReason {
        switch error.kind {
        case .untrusted: DisconnectReason(.untrusted, error.description)
        case .wrongHost: DisconnectReason(.wrongHostName, error.description)
        case .plainHTTP, .notTLS, .noCertificate, .refusedByPeer, .protocolViolation, .closed, .other:
            DisconnectReason(.protocolViolation, error.description)
        }
    }
}
