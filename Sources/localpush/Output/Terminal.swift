import Glibc

/// The process's two outputs: results to standard output, everything else to standard error.
enum Terminal {
    /// Ends the process quietly when the reader of our results has gone, as `localpush pushes list | head` does.
    private static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            // Safe: the slice lies within `buffer`, which lives for the call.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&ready, 1, 1000)
            } else if errno == EPIPE && descriptor == STDOUT_FILENO {
                exit(ExitCode.done.rawValue)
            } else if errno != EINTR {
                return
            }
        }
    }

    /// Writes results at once, so that a reader on a pipe sees them when they happen.
    static func out(_ text: String) { write(text, to: STDOUT_FILENO) }

    static func outLine(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    static func errorLine(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    static var isInputATerminal: Bool { isatty(STDIN_FILENO) == 1 }
}

/// The clock and the time zone of this machine.
enum LocalClock {
    static var wallMilliseconds: Int64 {
        var time = timespec()
        // Safe: the call fills the structure it is given and keeps no pointer.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Seconds east of UTC at that moment, by `TZ`.
    static func offsetSeconds(at milliseconds: Int64) -> Int {
        var seconds = time_t(milliseconds / 1000)
        var fields = unsafe tm()
        // Safe: both structures are ours and live for the call.
        guard unsafe localtime_r(&seconds, &fields) != nil else { return 0 }
        return unsafe fields.tm_gmtoff
    }

    static func local(_ milliseconds: Int64) -> String {
        TimeText.local(milliseconds: milliseconds, offsetSeconds: offsetSeconds(at: milliseconds))
    }

    static func iso(_ milliseconds: Int64) -> String {
        TimeText.iso(milliseconds: milliseconds, offsetSeconds: offsetSeconds(at: milliseconds))
    }
}
