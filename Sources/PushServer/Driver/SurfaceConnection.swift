import PushBytes
import PushCore
import PushHTTP2
import PushReactor
import PushTLS

/// One client on one socket: TLS, and above it the surface it came to. Bound to the loop.
final class SurfaceConnection: SocketHandler, ServiceTransport {
    /// Which port the client came to.
    enum Surface: Equatable {
        case apns, courier
        /// Channel management; the port tells the environment.
        case management(PushEnvironment)
    }

    private enum Stack {
        /// The handshake is not done: nobody knows yet which environment the client wants.
        case opening
        case provider(ProviderConnection)
        case courier(CourierConnection)
    }

    let surface: Surface
    /// Until the handshake is done: when it was accepted. Bytes that only come now and then do not prolong that.
    private(set) var lastHeard: MonotonicTime
    private unowned let driver: ServerDriver
    private let tls: TLSEngine
    private var stack = Stack.opening
    private var socket: Socket?
    private var isEnding = false
    private var hasSaidGoodbye = false

    init(driver: ServerDriver, surface: Surface, accepted fd: Int32) throws(TLSError) {
        self.driver = driver
        self.surface = surface
        lastHeard = driver.loop.now
        tls = try TLSEngine(server: surface == .courier ? driver.courierTLS : driver.apnsTLS)
        socket = Socket(loop: driver.loop, accepted: fd, handler: self)
    }

    var isOpening: Bool {
        if case .opening = stack { true } else { false }
    }

    // MARK: SocketHandler

    func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
        guard !isEnding else { return }
        do throws(TLSError) {
            try tls.receive(bytes, into: &driver.scratch)
        } catch {
            refuse(error)
            return
        }
        if isOpening && tls.isEstablished { open() }
        if !isOpening { lastHeard = driver.loop.now }
        if !driver.scratch.isEmpty { receivePlain() }
        flushTLS()
        if tls.peerClosed { close() }
    }

    func socketDidDrain(_ socket: Socket) {
        if socket.pausesReading { socket.pausesReading = false }
        tls.releaseMemory()
    }

    func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) {
        isEnding = true
        if case .courier(let connection) = stack { driver.service.closed(connection, now: driver.moment) }
        stack = .opening
        self.socket = nil
        driver.remove(self)
    }

    // MARK: ServiceTransport

    func hasOutput() {
        guard let socket, !isEnding else { return }
        switch stack {
        case .opening: return
        case .courier(let connection): connection.drain(into: &driver.scratch)
        case .provider(let connection):
            do throws(HTTP2Error) {
                try connection.drain(into: &driver.scratch)
            } catch {
                close()
                return
            }
        }
        sendScratch()
        flushTLS()
        if case .provider(let connection) = stack, connection.isFinished { close() }
        if socket.output.count > DriverLimits.outputBytesMax {
            socket.close(.reset)
        } else if socket.output.count > DriverLimits.outputBytesPause {
            socket.pausesReading = true
        }
    }

    func end() {
        guard !isEnding else { return }
        isEnding = true
        socket?.close(.fin)
    }

    // MARK: Ending

    /// Ends the connection politely: TLS's close_notify, then FIN.
    func close() {
        guard !isEnding else { return }
        isEnding = true
        tls.close()
        flushTLS()
        socket?.close(.fin)
    }

    /// Says GOAWAY to a provider with a reason; a device is just let go.
    func sayGoodbye(_ reason: Goodbye) {
        switch stack {
        case .provider(let connection):
            // It was said a while ago, and a request without an end keeps the connection open.
            if hasSaidGoodbye { return close() }
            hasSaidGoodbye = true
            connection.shutDown(reason == .shutdown ? .shutdown : .idleTimeout)
        case .courier, .opening: end()
        }
    }

    /// Asks a provider to open no new streams; a device is let go. Returns whether a goodbye must follow.
    func announceShutdown() -> Bool {
        guard case .provider(let connection) = stack else {
            end()
            return false
        }
        connection.announceShutdown()
        return true
    }

    enum Goodbye {
        case shutdown, idleTimeout
    }

    // MARK: Helpers

    private func open() {
        do throws(HTTP2Error) {
            switch surface {
            case .apns: try openProvider(.provider)
            case .management(let environment): try openProvider(.management(environment))
            case .courier:
                let connection = driver.service.openCourier(serverName: tls.serverName, now: driver.moment)
                connection.transport = self
                stack = .courier(connection)
            }
        } catch {
            driver.log("cannot open a connection: \(error)")
            close()
        }
    }

    private func openProvider(_ port: BroadcastPort) throws(HTTP2Error) {
        let connection = try driver.service.openProvider(
            port, serverName: tls.serverName, certificate: tls.peerCertificate,
            hasProtocol: tls.applicationProtocol != nil, now: driver.moment)
        connection.transport = self
        stack = .provider(connection)
    }

    private func receivePlain() {
        let moment = driver.moment
        var failure: String?
        var refusal: HTTP2Error?
        driver.scratch.withSpan { bytes in
            switch stack {
            case .opening: break
            case .provider(let connection):
                do throws(HTTP2Error) {
                    try connection.receive(bytes, now: moment)
                } catch {
                    failure = "\(error)"
                    refusal = error
                }
            case .courier(let connection):
                do { try connection.receive(bytes, now: moment) } catch { failure = "\(error)" }
            }
        }
        driver.scratch.removeAll()
        guard let failure else { return }
        driver.log("\(surface) client broke the protocol: \(failure)")
        if case .provider(let connection) = stack, let refusal, connection.canBeToldInClear(refusal) {
            driver.scratch.append(Self.needsHTTP2)
            sendScratch()
        } else if case .provider(let connection) = stack, (try? connection.drain(into: &driver.scratch)) != nil {
            sendScratch()
        }
        close()
    }

    /// The answer to HTTP/1.1 inside TLS, by a client that named no protocol.
    private static let needsHTTP2: String = {
        let text = "The APNs provider API speaks HTTP/2 only: use a client that offers h2.\n"
        return "HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: text/plain\r\n"
            + "Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
    }()

    /// A client that is no TLS client. One that speaks HTTP in clear gets a readable answer, any other an alert.
    private func refuse(_ error: TLSError) {
        driver.scratch.removeAll()
        driver.log("\(surface) client refused: \(error)")
        isEnding = true
        if error.kind == .plainHTTP {
            let text = "This port speaks TLS only (LocalPush \(surface)). Use https, or the REST port for plain HTTP.\n"
            socket?.output.append(
                "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: \(text.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(text)")
            socket?.wantsFlush()
        } else {
            flushTLS()
        }
        socket?.close(.fin)
    }

    private func sendScratch() {
        guard !driver.scratch.isEmpty else { return }
        do throws(TLSError) {
            try driver.scratch.withSpan { bytes throws(TLSError) in try tls.send(bytes) }
        } catch {
            close()
        }
        driver.scratch.removeAll()
    }

    private func flushTLS() {
        guard let socket, tls.waitingBytes > 0 else { return }
        tls.drain(into: &socket.output)
        socket.wantsFlush()
    }
}
