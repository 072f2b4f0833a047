internal import CPushLibevent

/// One signal the loop listens for; owns its event.
final class LoopSignal {
    private unowned let loop: EventLoop
    private let body: () -> Void
    private var event: OpaquePointer?

    init(loop: EventLoop, number: Int32, body: @escaping () -> Void) {
        self.loop = loop
        self.body = body
        let me = Unmanaged.passUnretained(self).toOpaque()
        event = event_new(loop.eventBase, number, Int16(EV_SIGNAL | EV_PERSIST), signalArrived, me)
        precondition(event != nil, "an event fits into memory")
        event_add(event, nil)
    }

    /// Restores the signal's former disposition; before the loop's base goes away.
    func cancel() {
        event_free(event)
        event = nil
    }

    fileprivate func arrived() {
        loop.noteAwake()
        body()
    }
}

// The context is the signal, which the loop keeps until it goes away itself.
private func signalArrived(_ number: Int32, _ what: Int16, _ context: UnsafeMutableRawPointer?) {
    Unmanaged<LoopSignal>.fromOpaque(context!).takeUnretainedValue().arrived()
}
