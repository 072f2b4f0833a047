/// A one-shot timer on the loop's clock; made once, scheduled as often as wanted.
///
/// Its owner keeps it: letting go of a timer cancels it. The body should hold its owner weakly or unowned, since
/// the timer holds the body. Fires on the loop, after the sockets of a turn; timers with one deadline fire in the
/// order they were scheduled. Precision is a few milliseconds late, never early.
package final class Timer {
    package let loop: EventLoop
    private let body: () -> Void
    var heapIndex = -1
    var sequence: UInt64 = 0
    /// The deadline; means something only while the timer is scheduled.
    package internal(set) var deadline = MonotonicTime(nanoseconds: 0)

    package init(loop: EventLoop, _ body: @escaping () -> Void) {
        self.loop = loop
        self.body = body
    }

    deinit {
        loop.timers.remove(self)
    }

    /// Whether the body is still to be called.
    package var isScheduled: Bool { heapIndex >= 0 }

    /// Fires once, `delay` from the loop's `now`; replaces an earlier schedule. Zero or less means the next turn.
    package func schedule(after delay: Duration) {
        schedule(at: loop.now + delay)
    }

    /// Fires once, at `deadline`; replaces an earlier schedule. A deadline in the past means the next turn.
    package func schedule(at deadline: MonotonicTime) {
        loop.preconditionOnLoop()
        // A past deadline must not overtake timers that are already due, or one that reschedules itself starves them.
        loop.timers.schedule(self, at: max(deadline, loop.now))
    }

    /// Takes back the schedule; nothing happens when there is none.
    package func cancel() {
        loop.preconditionOnLoop()
        loop.timers.remove(self)
    }

    func fire() {
        body()
    }
}
