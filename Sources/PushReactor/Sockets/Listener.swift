internal import CPushLibevent
internal import Glibc

/// A listening TCP socket (SO_REUSEADDR). Its owner keeps it; letting go closes it. Loop-bound.
package final class Listener {
    /// Connections accepted in one turn; more wait in the kernel, so that those already open are served too.
    package static let acceptsPerTurnMax = 64
    /// Pause after the process ran out of descriptors: trying on at once would only spin.
    package static let exhaustedPause = Duration.milliseconds(100)

    package let loop: EventLoop
    /// The port really listened on, also when 0 was asked for.
    package let port: UInt16
    /// Numeric host and port: `127.0.0.1:5223`, `[::1]:5223`.
    package let address: String

    private let accepted: (Int32) -> Void
    private var fd: Int32
    private var event: OpaquePointer?
    private var resumeTimer: Timer?
    private var isPaused = false

    /// Listens on `host` (numeric, IPv6 with or without brackets, or a name; a name is resolved with the calling thread
    /// waiting) and `port` (0: any free one). `accepted` gets each connection's descriptor, non-blocking, and owns it.
    /// Errors name host and port: taken, not permitted, no such address.
    package init(
        loop: EventLoop, host: String, port: UInt16, backlog: Int32 = 1024, accepted: @escaping (Int32) -> Void
    ) throws(ReactorError) {
        loop.preconditionOnLoop()
        self.loop = loop
        self.accepted = accepted
        let socket = try ListeningSocket(host: host, port: port, backlog: backlog)
        fd = socket.fd
        self.port = socket.port
        address = socket.address
        event = event_new(
            loop.eventBase, fd, Int16(EV_READ | EV_PERSIST), listenerReadable,
            Unmanaged.passUnretained(self).toOpaque())
        precondition(event != nil, "an event fits into memory")
        event_add(event, nil)
    }

    deinit {
        close()
    }

    /// Leaves new connections in the kernel's backlog until `resume`.
    package func pause() {
        loop.preconditionOnLoop()
        resumeTimer = nil
        if isPaused || fd < 0 { return }
        isPaused = true
        event_del(event)
    }

    /// Accepts again; does nothing when not paused.
    package func resume() {
        loop.preconditionOnLoop()
        resumeTimer = nil
        if !isPaused || fd < 0 { return }
        isPaused = false
        event_add(event, nil)
    }

    /// Stops listening; connections already accepted live on. A second call does nothing.
    package func close() {
        resumeTimer = nil
        if fd < 0 { return }
        event_free(event)
        event = nil
        Glibc.close(fd)
        fd = -1
    }

    fileprivate func readable() {
        loop.noteAwake()
        var count = 0
        // `accepted` may pause or close.
        while fd >= 0 && !isPaused && count < Self.acceptsPerTurnMax {
            let connection = push_accept(fd)
            if connection >= 0 {
                count += 1
                accepted(connection)
                continue
            }
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pauseExhausted()
            // Nothing (more) to accept.
            case EAGAIN, EBADF, EINVAL: return
            // That one connection broke before it was accepted.
            default: count += 1
            }
        }
    }

    private func pauseExhausted() {
        pause()
        let timer = Timer(loop: loop) { [unowned self] in resume() }
        timer.schedule(after: Self.exhaustedPause)
        resumeTimer = timer
    }
}

// The context is the listener, kept for the length of the call: `accepted` may let go of it.
private func listenerReadable(_ fd: Int32, _ what: Int16, _ context: UnsafeMutableRawPointer?) {
    let listener = Unmanaged<Listener>.fromOpaque(context!).takeUnretainedValue()
    withExtendedLifetime(listener) { listener.readable() }
}
