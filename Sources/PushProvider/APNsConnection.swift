internal import PushBytes
internal import PushHTTP2
internal import PushReactor
internal import PushTLS

/// One connection to the service: socket, TLS and HTTP/2 stacked. Loop-bound.
///
/// It moves bytes and passes events on to its owner, which decides.
final class APNsConnection: SocketHandler {
    /// What the owner is told. `connectionEnded` comes exactly once and last.
    protocol Owner: AnyObject {
        func connection(_ connection: APNsConnection, received event: HTTP2ClientEngine.Event)
        /// All events of what just arrived were passed on.
        func connectionSettled(_ connection: APNsConnection)
        func connectionEnded(_ connection: APNsConnection, _ error: APNsError)
    }

    /// Bytes that may wait in the socket before more requests are encrypted.
    private static let outputBytesMax = 1 << 20

    let number: Int
    private let loop: EventLoop
    private unowned let owner: any Owner
    private let tls: TLSEngine
    private let http: HTTP2ClientEngine
    private var socket: Socket?
    private var connectTimer: Timer?
    private var plainIn = ByteQueue()
    private var plainOut = ByteQueue()
    /// What went wrong first; told when the socket is gone.
    private var error: APNsError?
    private var address: String

    /// The server's first SETTINGS are here: only then is its stream limit known, and requests may go out.
    private(set) var isReady = false
    private(set) var isGoingAway = false
    /// When bytes last came in.
    private(set) var lastHeard: MonotonicTime

    init(
        number: Int, loop: EventLoop, configuration: APNsConfiguration, context: TLSContext, pool: HTTP2Pool,
        owner: any Owner
    ) throws(APNsError) {
        self.number = number
        self.loop = loop
        self.owner = owner
        lastHeard = loop.now
        address = "\(configuration.host):\(configuration.port)"
        do {
            tls = try TLSEngine(
                client: context, host: configuration.serverName ?? configuration.host,
                serverName: configuration.serverName)
            http = try HTTP2ClientEngine(pool: pool)
        } catch let error as TLSError {
            throw APNsError(.badConfiguration, "\(error)")
        } catch {
            throw APNsError(.protocolViolation, "\(error)")
        }
        do {
            socket = try Socket.connect(
                loop: loop, host: configuration.host, port: configuration.port, handler: self)
        } catch {
            throw APNsError(.cannotConnect, "Cannot connect to \(address): \(error.text)")
        }
        let limit = configuration.connectDeadline
        let timer = Timer(loop: loop) { [unowned self] in
            fail(APNsError(.cannotConnect, "No HTTP/2 connection to \(address) within \(limit)."), .reset)
        }
        timer.schedule(after: limit)
        connectTimer = timer
    }

    /// Whether a request submitted now goes out at once.
    var canSubmit: Bool { isReady && !isGoingAway && error == nil && http.canSubmit }

    var openStreams: Int { http.openStreams }

    /// Submits a request; the stream's number, or nil when this connection has no numbers left.
    func submit(_ fields: borrowing HTTP2FieldList, body: [UInt8]) -> Int32? {
        do {
            return try http.submit(fields: fields, body: body)
        } catch {
            isGoingAway = true
            http.shutdown()
            return nil
        }
    }

    func cancel(stream: Int32) { http.cancel(stream: stream) }

    func recycle(_ message: HTTP2Message) { http.recycle(message) }

    /// Sends what waits to go out.
    func flush() {
        guard let socket, error == nil, socket.isOpen else { return }
        do {
            while socket.output.count < Self.outputBytesMax {
                try http.drain(into: &plainOut)
                if plainOut.isEmpty { break }
                try plainOut.withSpan { (bytes) throws(TLSError) in try tls.send(bytes) }
                plainOut.removeAll()
                tls.drain(into: &socket.output)
            }
        } catch let error as HTTP2Error {
            return fail(APNsError(.protocolViolation, "HTTP/2 with \(address) failed: \(error.reason)."))
        } catch {
            return fail(APNsError(.insecure, "TLS with \(address) failed: \(error)."))
        }
        tls.drain(into: &socket.output)
        socket.wantsFlush()
    }

    /// Says goodbye and closes; streams still open are lost.
    func close() {
        guard error == nil else { return }
        http.shutdown()
        flush()
        tls.close()
        fail(APNsError(.shutDown, "The client was shut down."))
    }

    /// Ends the connection; the owner hears it once the socket is closed. `.reset` is for a peer that seems dead and
    /// would not end its side either.
    func fail(_ error: APNsError, _ kind: CloseKind = .fin) {
        guard self.error == nil, let socket else { return }
        self.error = error
        connectTimer?.cancel()
        tls.drain(into: &socket.output)
        socket.wantsFlush()
        socket.close(kind)
    }

    // MARK: SocketHandler

    func socketDidConnect(_ socket: Socket) {
        do {
            try tls.start()
            flush()
        } catch {
            fail(APNsError(.insecure, "TLS with \(address) failed: \(error)."))
        }
    }

    func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
        guard error == nil else { return }
        lastHeard = loop.now
        do {
            try tls.receive(bytes, into: &plainIn)
            try plainIn.withSpan { (bytes) throws(HTTP2Error) in try http.receive(bytes) }
            plainIn.removeAll()
        } catch let error as HTTP2Error {
            passEvents()
            flush()
            return fail(APNsError(.protocolViolation, "HTTP/2 with \(address) failed: \(error.reason)."))
        } catch {
            return fail(APNsError(.insecure, "TLS with \(address) failed: \(error)."))
        }
        passEvents()
        owner.connectionSettled(self)
        flush()
        if error == nil && (http.wantsClose || tls.peerClosed) { leave() }
    }

    func socketDidDrain(_ socket: Socket) {
        owner.connectionSettled(self)
        flush()
    }

    func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) {
        self.socket = nil
        connectTimer = nil
        let told =
            switch reason {
            case .failed(let why) where !isReady:
                APNsError(.cannotConnect, "Cannot connect to \(address): \(why.text).")
            case .failed(let why): APNsError(.connectionLost, "The connection to \(address) broke: \(why.text).")
            case .endOfFile, .local:
                isReady
                    ? APNsError(.connectionLost, "\(address) closed the connection.")
                    : APNsError(.cannotConnect, "\(address) closed the connection before HTTP/2 began.")
            }
        owner.connectionEnded(self, error ?? told)
    }

    private func passEvents() {
        while let event = http.nextEvent() {
            switch event {
            case .settings where !isReady:
                isReady = true
                connectTimer?.cancel()
            case .goAway: isGoingAway = true
            default: break
            }
            owner.connection(self, received: event)
        }
    }

    /// Nothing is left to be said on this connection.
    private func leave() {
        tls.close()
        fail(APNsError(.connectionLost, "\(address) closed the connection."))
    }
}
