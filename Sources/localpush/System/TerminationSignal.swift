import Glibc

/// The signals that ask a process to end.
enum TerminationSignal {
    static let all: [Int32] = [SIGINT, SIGTERM]

    /// A parent that starts us from a thread with blocked signals, as test runners do, hands its mask down to us; then
    /// nobody could end us in order.
    static func unblock() {
        var mask = sigset_t()
        // Safe: the calls use a structure of ours and keep no pointer.
        unsafe sigemptyset(&mask)
        for signal in all { unsafe sigaddset(&mask, signal) }
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    /// For somebody who asked twice.
    static func exitAtOnce() -> Never { exit(ExitCode.no.rawValue) }
}
