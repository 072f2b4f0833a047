internal import CPushLibevent
internal import Glibc
package import PushBytes

/// A non-blocking TCP connection (TCP_NODELAY).
///
/// Reading: one read per turn into the loop's buffer, handed out as a span. Writing: append to `output`, call
/// `wantsFlush()`; the loop writes in phase `.flush`. The loop keeps a socket until it is closed and swept; the socket
/// keeps its handler until `socketDidClose` has returned. Loop-bound.
package final class Socket {
    /// How long a closed socket may take to hand its last bytes to the peer and hear the peer's end: long enough for
    /// a lost packet or two, short enough that peers who never read cost little. Then it is reset.
    package static let lingerMax = Duration.seconds(5)

    private enum State {
        case connecting, open, dead, released
    }

    package let loop: EventLoop
    /// Bytes to be sent. Has no limit of its own: the owner looks at `output.count` before it appends.
    package var output = ByteQueue()
    var slot = -1

    private var handler: (any SocketHandler)?
    private var fd: Int32
    private var readEvent: OpaquePointer?
    private var writeEvent: OpaquePointer?
    private var connector: SocketConnector?
    private var lingerTimer: Timer?
    private var reason = SocketCloseReason.local
    private var state: State
    private var isDirty = false
    /// The kernel took less than it was given, and has not said since that it takes more.
    private var isWriteBlocked = false
    private var isWatchingWrites = false
    private var isWatchingReads = false
    /// The handler hears nothing more but `socketDidClose`.
    private var isClosed = false
    private var isEndReached = false
    private var isEndSent = false
    private var isWarm = false
    private var wasUsed = false

    /// Takes over a connected descriptor (from a `Listener`); it is closed with the socket.
    package init(loop: EventLoop, accepted fd: Int32, handler: any SocketHandler) {
        loop.preconditionOnLoop()
        precondition(fd >= 0, "a descriptor is open")
        self.loop = loop
        self.handler = handler
        self.fd = fd
        state = .open
        loop.sockets.add(self)
        opened()
    }

    /// Starts to connect. `host` is a numeric address (IPv6 with or without brackets) or a name, which is resolved
    /// without blocking; its addresses are tried one after the other. The handler hears `socketDidConnect` or, with
    /// the reason, `socketDidClose`. There is no time limit but the kernel's (two minutes): set a timer.
    /// Throws when the host is empty.
    package static func connect(
        loop: EventLoop, host: String, port: UInt16, handler: any SocketHandler
    ) throws(ReactorError) -> Socket {
        loop.preconditionOnLoop()
        if host.isEmpty || host.utf8.contains(0) {
            throw ReactorError(operation: "connect to \(HostPort.text(host: host, port: port))", errno: EINVAL)
        }
        let socket = Socket(connecting: loop, handler: handler)
        socket.connector = SocketConnector(socket: socket, host: host, port: port)
        socket.connector?.start()
        return socket
    }

    private init(connecting loop: EventLoop, handler: any SocketHandler) {
        self.loop = loop
        self.handler = handler
        fd = -1
        state = .connecting
        loop.sockets.add(self)
    }

    /// Asks for `output` to be written at the end of this turn; cheap to call again. Nothing is written before the
    /// connection is made or while the peer's window is full.
    package func wantsFlush() {
        loop.preconditionOnLoop()
        if isDirty { return }
        isDirty = true
        loop.sockets.addDirty(self)
    }

    /// True leaves arriving bytes in the kernel, and so makes the peer wait. Default false. While true, the peer's end
    /// or reset is not noticed either, unless a write runs into it.
    package var pausesReading = false {
        didSet {
            loop.preconditionOnLoop()
            watchReading()
        }
    }

    /// Closes. The handler hears `socketDidClose` once, in phase `.sweep`, and nothing else from now on. A second call
    /// does nothing, except that `.reset` cuts short a `.fin` that is still going out.
    package func close(_ kind: CloseKind = .fin) {
        loop.preconditionOnLoop()
        if kind == .reset { resetWhenFreed() }
        if !isClosed { end(isEndReached ? .endOfFile : .local) }
        if state == .dead || state == .released { return }
        if kind == .reset || state == .connecting || (isEndReached && output.isEmpty) {
            die()
        } else if lingerTimer == nil {
            let timer = Timer(loop: loop) { [unowned self] in lingeredTooLong() }
            timer.schedule(after: Self.lingerMax)
            lingerTimer = timer
            watchReading()
            wantsFlush()
        }
    }

    /// False once `close` was called or the connection broke.
    package var isOpen: Bool { !isClosed }

    /// The other side's numeric address and port; `?` when not connected.
    package var peerAddress: String {
        let fd = fd
        return SocketAddress { getpeername(fd, $0, $1) }?.text ?? "?"
    }

    // MARK: - Connecting

    /// False once closed: the connector then gives up, and is freed in the sweep.
    var isConnecting: Bool { state == .connecting }

    func connected(_ fd: Int32) {
        precondition(state == .connecting, "a socket connects once")
        self.fd = fd
        connector = nil
        state = .open
        opened()
        if !output.isEmpty { wantsFlush() }
        handler?.socketDidConnect(self)
    }

    func connectFailed(_ error: ReactorError) {
        fail(error)
    }

    private func opened() {
        var on: Int32 = 1
        setsockopt(fd, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        let me = Unmanaged.passUnretained(self).toOpaque()
        readEvent = event_new(loop.eventBase, fd, Int16(EV_READ | EV_PERSIST), socketReadable, me)
        precondition(readEvent != nil, "an event fits into memory")
        watchReading()
    }

    // MARK: - Reading

    private func watchReading() {
        let wanted = state == .open && !isEndReached && (isClosed || !pausesReading)
        if wanted == isWatchingReads { return }
        isWatchingReads = wanted
        _ = wanted ? event_add(readEvent, nil) : event_del(readEvent)
    }

    fileprivate func readable() {
        loop.noteAwake()
        if state != .open { return }
        let buffer = loop.scratch
        let count = recv(fd, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            // After `close` what still arrives is thrown away, so that closing does not turn into a reset.
            if isClosed { return }
            let bytes = UnsafeBufferPointer(
                start: buffer.baseAddress!.assumingMemoryBound(to: UInt8.self), count: count)
            handler?.socketDidReceive(self, bytes.span)
        } else if count == 0 {
            reachedEnd()
        } else if errno != EAGAIN && errno != EINTR {
            fail(ReactorError(operation: "read", errno: errno))
        }
    }

    private func reachedEnd() {
        isEndReached = true
        watchReading()
        if !isClosed {
            handler?.socketDidReachEnd(self)
        } else if output.isEmpty {
            die()
        }
    }

    // MARK: - Writing

    /// Writes what the kernel takes; asks for writability only after it took less than all.
    func flush() {
        isDirty = false
        if state != .open || isWriteBlocked { return }
        if !output.isEmpty { write() }
        if state != .open || !output.isEmpty { return }
        if isWatchingWrites {
            isWatchingWrites = false
            event_del(writeEvent)
            if !isClosed { handler?.socketDidDrain(self) }
        }
        if isClosed && output.isEmpty { finish() }
    }

    private func write() {
        let fd = fd
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        let wanted = output.count
        var written = output.withReadable { send(fd, $0.baseAddress, $0.count, flags) }
        if written < 0 {
            if errno != EAGAIN && errno != EINTR { return fail(ReactorError(operation: "write", errno: errno)) }
            written = 0
        }
        output.consume(written)
        if written < wanted { watchWriting() }
        noteUse()
    }

    private func watchWriting() {
        isWriteBlocked = true
        if isWatchingWrites { return }
        isWatchingWrites = true
        if writeEvent == nil {
            let me = Unmanaged.passUnretained(self).toOpaque()
            writeEvent = event_new(loop.eventBase, fd, Int16(EV_WRITE | EV_PERSIST), socketWritable, me)
            precondition(writeEvent != nil, "an event fits into memory")
        }
        event_add(writeEvent, nil)
    }

    /// Only notes it: what was appended in this turn may leave after the turn's commit, not before.
    fileprivate func writable() {
        loop.noteAwake()
        if state != .open { return }
        isWriteBlocked = false
        wantsFlush()
    }

    // MARK: - Closing

    /// All was written after `close`: sends FIN, then waits for the peer's.
    private func finish() {
        if isEndReached {
            die()
        } else if !isEndSent {
            isEndSent = true
            shutdown(fd, Int32(SHUT_WR))
        }
    }

    private func fail(_ error: ReactorError) {
        if !isClosed { end(.failed(error)) }
        die()
    }

    private func lingeredTooLong() {
        resetWhenFreed()
        die()
    }

    private func resetWhenFreed() {
        var option = linger(l_onoff: 1, l_linger: 0)
        if fd >= 0 { setsockopt(fd, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size)) }
    }

    /// Marks for `socketDidClose`.
    private func end(_ reason: SocketCloseReason) {
        isClosed = true
        self.reason = reason
        loop.sockets.addEnded(self)
    }

    /// Marks for freeing.
    private func die() {
        if state == .dead || state == .released { return }
        state = .dead
        watchReading()
        if isWatchingWrites { event_del(writeEvent) }
        loop.sockets.addEnded(self)
    }

    /// In the sweep. True when this freed the socket.
    func release() -> Bool {
        if state != .dead { return false }
        state = .released
        connector?.cancel()
        connector = nil
        lingerTimer = nil
        if let readEvent { event_free(readEvent) }
        if let writeEvent { event_free(writeEvent) }
        readEvent = nil
        writeEvent = nil
        if fd >= 0 { Glibc.close(fd) }
        fd = -1
        output = ByteQueue()
        return true
    }

    /// In the sweep: the handler's last call, then it is let go.
    func notifyClosed() {
        guard let last = handler else { return }
        handler = nil
        last.socketDidClose(self, reason)
    }

    // MARK: - Memory

    private func noteUse() {
        wasUsed = true
        if isWarm { return }
        isWarm = true
        loop.sockets.addWarm(self)
    }

    /// Gives an unused output's memory back. True when it need not be looked at again.
    func cool() -> Bool {
        if state == .released { return true }
        if wasUsed || !output.isEmpty {
            wasUsed = false
            return false
        }
        output.shrink(to: 0)
        isWarm = false
        return true
    }
}

// Three-line callbacks: the context is the socket, which the loop's registry holds until its events are freed.
private func socketReadable(_ fd: Int32, _ what: Int16, _ context: UnsafeMutableRawPointer?) {
    Unmanaged<Socket>.fromOpaque(context!).takeUnretainedValue().readable()
}

private func socketWritable(_ fd: Int32, _ what: Int16, _ context: UnsafeMutableRawPointer?) {
    Unmanaged<Socket>.fromOpaque(context!).takeUnretainedValue().writable()
}
