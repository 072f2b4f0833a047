internal import CPushLibevent
internal import Glibc
package import PushReactor
package import PushTLS
internal import Synchronization

/// An HTTP/1.1 server, plain or TLS, over evhttp: whole requests in, answers out, now or later. Loop-bound.
///
/// GET, POST, PUT, PATCH, DELETE, HEAD and OPTIONS, each with or without a body; anything else is answered 501.
/// What is no HTTP is answered 400, a body over the limit 413; neither reaches the handler. Connections are kept
/// alive. Its owner keeps the server; letting go closes it, without telling the exchanges still open: call `close`.
package final class HTTP1Server {
    /// Longest request line, and most bytes of headers: what common servers take. Policy: 400.
    package static let headerBytesMax = 16384
    /// How long a connection may be silent while we wait for a request, or take nothing while we send. Then it is
    /// closed. Waiting for an answer of ours is not silence.
    package static let silenceMax = Duration.seconds(60)
    /// Pause after the process ran out of descriptors: trying on at once would only spin.
    package static let exhaustedPause = Duration.milliseconds(100)

    package let loop: EventLoop
    /// The port really listened on, also when 0 was asked for.
    package let port: UInt16
    /// Numeric host and port: `127.0.0.1:7580`, `[::1]:7580`.
    package let address: String

    private let handler: (HTTP1Exchange) -> Void
    // Connections made from the context use it to their end.
    private let tls: TLSContext?
    private var http: OpaquePointer?
    private var open: [ObjectIdentifier: HTTP1Exchange] = [:]
    private var arrived: [HTTP1Exchange] = []
    private var lostExchanges: [HTTP1Exchange] = []
    private var workTimer: Timer?
    private var resumeTimer: Timer?
    /// The server itself, while exchanges wait to be told something.
    private var keptForWork: HTTP1Server?

    /// Listens; see `ListeningSocket` for `host`, `port` and errors. The handler is called on the loop, after the
    /// sockets of the turn, once per request, and answers then or later. Makes the process ignore SIGPIPE unless it
    /// has a handler: libevent writes to sockets in a way that would raise it.
    package init(
        loop: EventLoop, host: String, port: UInt16, tls: TLSContext? = nil, bodyBytesMax: Int = 10 << 20,
        handler: @escaping (HTTP1Exchange) -> Void
    ) throws(ReactorError) {
        loop.preconditionOnLoop()
        precondition(bodyBytesMax >= 0, "a limit is not negative")
        self.loop = loop
        self.handler = handler
        self.tls = tls
        let socket = try ListeningSocket(host: host, port: port)
        self.port = socket.port
        address = socket.address
        Evhttp.ignorePipeSignal()
        guard let http = evhttp_new(loop.eventBase) else { preconditionFailure("a server fits into memory") }
        self.http = http
        evhttp_set_max_headers_size(http, Self.headerBytesMax)
        evhttp_set_max_body_size(http, bodyBytesMax)
        evhttp_set_timeout(http, Int32(Self.silenceMax.components.seconds))
        evhttp_set_default_content_type(http, nil)
        // So that a peer that is still sending too long a body hears 413 rather than a reset.
        evhttp_set_flags(http, EVHTTP_SERVER_LINGERING_CLOSE)
        evhttp_set_allowed_methods(http, UInt16(EvhttpMessage.methods.reduce(0) { $0 | $1.type.rawValue }))
        let me = Unmanaged.passUnretained(self).toOpaque()
        evhttp_set_gencb(http, serverRequestArrived, me)
        if let tls { evhttp_set_bevcb(http, serverMakeTLS, UnsafeMutableRawPointer(tls.opaqueHandle)) }
        let bound = evhttp_accept_socket_with_handle(http, socket.fd)
        precondition(bound != nil, "a listener fits into memory")
        evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(bound), serverAcceptFailed)
        Evhttp.register(http, me)
        workTimer = Timer(loop: loop) { [weak self] in self?.work() }
        resumeTimer = Timer(loop: loop) { evconnlistener_enable(evhttp_bound_socket_get_listener(bound)) }
    }

    deinit {
        free()
    }

    /// Stops listening, drops every connection and calls `onClose` of the exchanges that had no answer yet (later in
    /// the turn, or in the next). A second call does nothing.
    package func close() {
        loop.preconditionOnLoop()
        free()
    }

    private func free() {
        guard let http else { return }
        self.http = nil
        resumeTimer = nil
        Evhttp.unregister(http)
        evhttp_free(http)
    }

    // MARK: - From evhttp's callbacks: record, act later

    fileprivate func requestArrived(_ raw: EvhttpRequest) {
        loop.noteAwake()
        let exchange = HTTP1Exchange(server: self, raw: raw)
        open[ObjectIdentifier(exchange)] = exchange
        arrived.append(exchange)
        scheduleWork()
    }

    fileprivate func acceptFailed(_ listener: OpaquePointer?) {
        loop.noteAwake()
        evconnlistener_disable(listener)
        resumeTimer?.schedule(after: Self.exhaustedPause)
    }

    func ended(_ exchange: HTTP1Exchange) {
        open[ObjectIdentifier(exchange)] = nil
    }

    func lost(_ exchange: HTTP1Exchange) {
        lostExchanges.append(exchange)
        scheduleWork()
    }

    private func scheduleWork() {
        keptForWork = self
        workTimer?.schedule(after: .zero)
    }

    /// Calls handlers and `onClose`, outside of evhttp, so that they may do anything, closing the server included.
    private func work() {
        keptForWork = nil
        let new = arrived
        arrived = []
        for exchange in new where exchange.isOpen {
            handler(exchange)
            exchange.watchForEnd()
        }
        let lost = lostExchanges
        lostExchanges = []
        for exchange in lost { exchange.tellClosed() }
    }
}

// Three-line callbacks: the context is the server, which frees its evhttp before it goes away.
private func serverRequestArrived(_ raw: EvhttpRequest?, _ context: UnsafeMutableRawPointer?) {
    Unmanaged<HTTP1Server>.fromOpaque(context!).takeUnretainedValue().requestArrived(raw!)
}

private func serverMakeTLS(_ base: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> OpaquePointer? {
    push_bufferevent_tls(base, context)
}

private func serverAcceptFailed(_ listener: OpaquePointer?, _ http: UnsafeMutableRawPointer?) {
    guard let server = Evhttp.owner(OpaquePointer(http)) else { return }
    Unmanaged<HTTP1Server>.fromOpaque(server).takeUnretainedValue().acceptFailed(listener)
}

enum Evhttp {
    /// evhttp passes itself, not our context, to the callback for failed accepts; this finds the server again. An
    /// entry is used only on the loop that owns the server, and lives as long as the evhttp does.
    private static let owners = Mutex<[UInt: UInt]>([:])

    static func register(_ http: OpaquePointer, _ owner: UnsafeMutableRawPointer) {
        owners.withLock { $0[UInt(bitPattern: http)] = UInt(bitPattern: owner) }
    }

    static func unregister(_ http: OpaquePointer) {
        owners.withLock { $0[UInt(bitPattern: http)] = nil }
    }

    static func owner(_ http: OpaquePointer?) -> UnsafeMutableRawPointer? {
        owners.withLock { $0[UInt(bitPattern: http)].flatMap { UnsafeMutableRawPointer(bitPattern: $0) } }
    }

    /// Ignores SIGPIPE unless the process handles it.
    static func ignorePipeSignal() {
        var current = sigaction()
        sigaction(SIGPIPE, nil, &current)
        if current.__sigaction_handler.sa_handler == nil { signal(SIGPIPE, SIG_IGN) }
    }
}
