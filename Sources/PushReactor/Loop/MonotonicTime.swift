internal import CPushLibevent
internal import Glibc

/// A point on the machine's monotonic clock, in nanoseconds since an unspecified start (on Linux: boot).
///
/// Only differences mean something, and only within one boot. A plain value, not tied to a thread.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Reads the clock. On the loop prefer `EventLoop.now`, which is read once per turn.
    package static func current() -> MonotonicTime {
        MonotonicTime(nanoseconds: Clock.nanoseconds(CLOCK_MONOTONIC))
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Later by `duration`; stays at the last representable point (292 years) rather than overflow.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return MonotonicTime(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Earlier by `duration`, with the same bounds as `+`.
    package static func - (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (difference, overflow) = time.nanoseconds.subtractingReportingOverflow(duration.clampedNanoseconds)
        return MonotonicTime(nanoseconds: overflow ? (duration < .zero ? .max : .min) : difference)
    }

    /// From `right` to `left`; negative when `left` comes first.
    package static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds)
    }
}

extension Duration {
    /// Whole nanoseconds, held within what `Int64` can say.
    var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowToo) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflowToo ? (seconds < 0 ? .min : .max) : sum
    }
}

enum Clock {
    static func nanoseconds(_ id: clockid_t) -> Int64 {
        var time = timespec()
        let result = clock_gettime(id, &time)
        precondition(result == 0, "the kernel knows the clock")
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
