internal import CPushLibevent
internal import Glibc

/// One event loop on one thread, over libevent.
///
/// A turn: sockets, then timers, then inboxes, then the phases before sleep (`.commit`, `.flush`, `.sweep`), each
/// bounded. If work is left over, the next turn does not wait. Loop-bound types are made before `run` or on the
/// loop's thread, and are touched only there; other threads come in through an `Inbox`. Sockets, timers, listeners
/// and inbox handlers hold the loop, and the loop holds its open sockets: close them to let it go.
package final class EventLoop {
    /// What happens at the end of a turn, in this order.
    package enum Phase: Int, CaseIterable, Sendable {
        /// Storage writes what the turn changed.
        case commit
        /// Replies leave: first the bodies of this phase, then every socket that asked for it.
        case flush
        /// Closed sockets are freed and their handlers told, then the bodies of this phase.
        case sweep
    }

    /// Messages one inbox may deliver in a turn: enough to amortise the turn, few enough to keep sockets served.
    package static let inboxBatchMax = 1024
    /// Bytes one socket may read in a turn, and the size of the one buffer all sockets of the loop read into.
    package static let readBytesMax = 65536

    /// The `event_base` underneath, for libevent's own higher layers.
    package let eventBase: OpaquePointer

    let wake: LoopWake
    let scratch: UnsafeMutableRawBufferPointer
    var timers = TimerHeap()
    let sockets = SocketRegistry()

    private var cachedNow = MonotonicTime(nanoseconds: 0)
    private var cachedWallMilliseconds: Int64 = 0
    private var isAwake = false
    private var isStopping = false
    private var thread: pthread_t?
    private var wakeEvent: OpaquePointer?
    private var alarmEvent: OpaquePointer?
    private var armedAlarm: MonotonicTime?
    private var inboxes: [AnyInboxDelivery] = []
    private var hasInboxBacklog = false
    private var phases: [[() -> Void]] = [[], [], []]
    private var signals: [LoopSignal] = []
    private var resolver: Resolver?
    private var coolTimer: Timer?

    package init() throws(ReactorError) {
        guard let configuration = event_config_new() else { throw ReactorError(operation: "event loop", errno: ENOMEM) }
        defer { event_config_free(configuration) }
        event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        wake = try LoopWake()
        guard let base = event_base_new_with_config(configuration) else {
            throw ReactorError(operation: "event loop", errno: errno)
        }
        eventBase = base
        scratch = .allocate(byteCount: Self.readBytesMax, alignment: 64)
        let me = Unmanaged.passUnretained(self).toOpaque()
        wakeEvent = event_new(base, wake.fd, Int16(EV_READ | EV_PERSIST), loopWoke, me)
        alarmEvent = event_new(base, -1, 0, loopWoke, me)
        precondition(wakeEvent != nil && alarmEvent != nil, "two events fit into memory")
        event_add(wakeEvent, nil)
    }

    deinit {
        for inbox in inboxes { inbox.close() }
        for signal in signals { signal.cancel() }
        event_free(wakeEvent)
        event_free(alarmEvent)
        event_base_free(eventBase)
        scratch.deallocate()
    }

    /// Monotonic time, read once after the wait and once before the phases; between turns, read at every call.
    package var now: MonotonicTime {
        isAwake ? cachedNow : .current()
    }

    /// Unix time in milliseconds, read together with `now`. Can jump when the machine's clock is set.
    package var wallMilliseconds: Int64 {
        isAwake ? cachedWallMilliseconds : Clock.nanoseconds(CLOCK_REALTIME) / 1_000_000
    }

    /// Sockets not yet freed, lingering ones included: zero once everything closed has really gone out.
    package var openSockets: Int { sockets.count }

    /// Turns until `stop()`. The calling thread is the loop's thread from here on.
    package func run() {
        thread = pthread_self()
        while !isStopping { turn(wait: nil) }
        isStopping = false
    }

    /// Ends `run` after the current turn (or at once when called between turns). On the loop; from elsewhere, post
    /// to an inbox whose handler calls this.
    package func stop() {
        preconditionOnLoop()
        isStopping = true
    }

    /// One turn. Waits for something to happen, at most `wait` (`nil`: as long as it takes; `.zero`: not at all).
    /// Never waits when work is left over from the last turn.
    package func turn(wait: Duration?) {
        if thread == nil { thread = pthread_self() }
        preconditionOnLoop()
        precondition(!isAwake, "a turn is not started from within a turn")
        let waits = !hasWork && wait != .zero && armAlarm(wait: wait)
        event_base_loop(eventBase, waits ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK)
        noteAwake()
        fireTimers()
        deliverInboxes()
        readClocks()
        runPhases()
        isAwake = false
    }

    /// Traps unless called on the loop's thread, or before the loop has one.
    package func preconditionOnLoop() {
        guard let thread else { return }
        precondition(pthread_equal(thread, pthread_self()) != 0, "called on the loop's thread")
    }

    /// Adds `body` to what runs at the end of every turn; bodies of a phase run in the order they were added.
    package func beforeSleep(_ phase: Phase, _ body: @escaping () -> Void) {
        preconditionOnLoop()
        phases[phase.rawValue].append(body)
    }

    /// Calls `body` on the loop whenever the process receives the signal, from now until the loop goes away.
    package func onSignal(_ number: Int32, _ body: @escaping () -> Void) {
        preconditionOnLoop()
        signals.append(LoopSignal(loop: self, number: number, body: body))
    }

    /// To be called first by every libevent callback: the first one of a turn reads the clocks.
    @inline(__always)
    package func noteAwake() {
        if !isAwake {
            isAwake = true
            readClocks()
        }
    }

    /// Ends a loop that is turned no more: resets every socket and tells the handlers, then lets go of all bodies, so
    /// that nothing they hold stays behind. Not within a turn.
    package func shutDown() {
        preconditionOnLoop()
        precondition(!isAwake, "a loop is not shut down from within a turn")
        sockets.resetAll()
        var sweeps = 0
        while sockets.hasWork && sweeps < 100 {
            sockets.sweep()
            sockets.flush()
            sweeps += 1
        }
        coolTimer = nil
        phases = [[], [], []]
        for signal in signals { signal.cancel() }
        signals = []
        for inbox in inboxes { inbox.close() }
        inboxes = []
        resolver = nil
    }

    func add(_ inbox: AnyInboxDelivery) {
        inboxes.append(inbox)
    }

    /// Finds the numeric addresses of a host without blocking; `body` is called on the loop, later, once.
    package func resolve(host: String, _ body: @escaping (Result<[String], ReactorError>) -> Void) {
        preconditionOnLoop()
        resolve(host: host, port: 0) { body($0.map { $0.map(\.host) }) }
    }

    /// Resolves a name off the loop; `body` is called on it, later.
    func resolve(
        host: String, port: UInt16, _ body: @escaping (Result<[SocketAddress], ReactorError>) -> Void
    ) {
        let resolver = self.resolver ?? Resolver(loop: self)
        self.resolver = resolver
        resolver.resolve(host: host, port: port, body)
    }

    private var hasWork: Bool {
        isStopping || hasInboxBacklog || sockets.hasWork
    }

    private func readClocks() {
        cachedNow = .current()
        cachedWallMilliseconds = Clock.nanoseconds(CLOCK_REALTIME) / 1_000_000
    }

    /// Sets libevent's timer to the nearest deadline. False when that has passed already.
    private func armAlarm(wait: Duration?) -> Bool {
        var deadline = timers.nearest
        let now = MonotonicTime.current()
        if let wait {
            deadline = min(deadline ?? now + wait, now + wait)
        }
        guard let deadline else {
            if armedAlarm != nil { event_del(alarmEvent) }
            armedAlarm = nil
            return true
        }
        if deadline <= now { return false }
        if armedAlarm != deadline {
            // Rounded up, so that the alarm is not early and the loop does not turn in vain.
            let microseconds = ((deadline - now).clampedNanoseconds + 999) / 1000
            var interval = timeval(
                tv_sec: Int(min(microseconds / 1_000_000, 86_400)), tv_usec: Int(microseconds % 1_000_000))
            event_add(alarmEvent, &interval)
            armedAlarm = deadline
        }
        return true
    }

    fileprivate func woke(_ fd: Int32) {
        noteAwake()
        if fd < 0 { armedAlarm = nil }
    }

    private func fireTimers() {
        let mark = timers.nextSequence
        while let timer = timers.popDue(cachedNow, before: mark) {
            timer.fire()
        }
    }

    private func deliverInboxes() {
        if !hasInboxBacklog && !wake.isPending { return }
        wake.clear()
        hasInboxBacklog = false
        var ended = false
        // By index: a handler may add an inbox.
        var index = 0
        while index < inboxes.count {
            switch inboxes[index].deliver(Self.inboxBatchMax) {
            case .some(let hasMore): hasInboxBacklog = hasInboxBacklog || hasMore
            case nil: ended = true
            }
            index += 1
        }
        if ended { inboxes.removeAll { $0.isClosed } }
    }

    private func runPhases() {
        run(.commit)
        run(.flush)
        sockets.flush()
        sockets.sweep()
        run(.sweep)
        if sockets.hasWarm != (coolTimer != nil) { setCooling(sockets.hasWarm) }
    }

    private func setCooling(_ isWanted: Bool) {
        coolTimer =
            !isWanted
            ? nil
            : Timer(loop: self) { [unowned self] in
                sockets.cool()
                coolTimer?.schedule(after: SocketRegistry.warmMax)
            }
        coolTimer?.schedule(after: SocketRegistry.warmMax)
    }

    private func run(_ phase: Phase) {
        var index = 0
        while index < phases[phase.rawValue].count {
            phases[phase.rawValue][index]()
            index += 1
        }
    }
}

// Three-line callbacks: the context is the loop, which outlives its events.
private func loopWoke(_ fd: Int32, _ what: Int16, _ context: UnsafeMutableRawPointer?) {
    Unmanaged<EventLoop>.fromOpaque(context!).takeUnretainedValue().woke(fd)
}
