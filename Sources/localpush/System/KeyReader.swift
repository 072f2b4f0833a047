import Glibc
internal import Synchronization

/// Single keys from a terminal, without return and without echo; signals such as ^C stay signals.
final class KeyReader: Sendable {
    private let former: Mutex<termios>

    /// `nil` unless standard input is a terminal and this process is in its foreground; in the background, touching
    /// the terminal would stop us. `press` is called on a thread of its own, which ends with the process.
    init?(_ press: @escaping @Sendable (UInt8) -> Void) {
        guard Terminal.isInputATerminal, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return nil }
        var settings = termios()
        // Safe: the calls use a structure of ours and keep no pointer.
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        former = Mutex(settings)
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else { return nil }
        Self.start(press)
    }

    /// Gives the terminal back as it was.
    func end() {
        former.withLock { settings in
            _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
    }

    private final class Press: Sendable {
        let body: @Sendable (UInt8) -> Void

        init(_ body: @escaping @Sendable (UInt8) -> Void) { self.body = body }

        func readAll() {
            var key: UInt8 = 0
            // Safe: one byte is read into one byte.
            while unsafe read(STDIN_FILENO, &key, 1) == 1 { body(key) }
        }
    }

    private static func start(_ press: @escaping @Sendable (UInt8) -> Void) {
        var thread = pthread_t()
        // Safe: the reference that goes into the thread is the one it takes back.
        let context = unsafe Unmanaged.passRetained(Press(press)).toOpaque()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<Press>.fromOpaque(context).takeRetainedValue().readAll()
                }
                return nil
            }, context)
        if code == 0 { pthread_detach(thread) }
    }
}
