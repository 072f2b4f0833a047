import PushReactor
internal import Synchronization

/// A whole push service inside the calling process, on a thread of its own.
///
///     var configuration = LocalPushConfiguration()
///     configuration.isEphemeral = true
///     configuration.apnsPort = 0
///     configuration.broadcastPorts = .init(sandbox: 0, production: 0)
///     let server = try LocalPushServer.start(configuration)
///     print(server.ready.apns)      // 127.0.0.1:41231
///     await server.stop()
///
/// Any number of servers may run in one process, each with its own data directory. Safe to use from any thread.
public final class LocalPushServer: Sendable {
    /// Where it listens and what clients need to trust and to sign with.
    public let ready: LocalPushReady
    private let thread: LoopThread
    private let stopper: Inbox<CheckedContinuation<Void, Never>>
    private let stopping = Mutex<Task<Void, Never>?>(nil)

    /// Starts and waits until every port is open. Throws `LocalPushError`; nothing is left half-started then. Lines for
    /// people go to `log`, which is called on the server's thread; default nothing.
    public static func start(
        _ configuration: LocalPushConfiguration, log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> LocalPushServer {
        let (thread, door) = try LoopThread.start(name: "localpush") { loop in
            let driver = try ServerDriver(loop: loop, configuration: configuration, log: log)
            let stopper = Inbox<CheckedContinuation<Void, Never>>(loop: loop) { continuation in
                driver.stop { continuation.resume() }
            }
            return (driver.ready, stopper)
        }
        return LocalPushServer(ready: door.0, thread: thread, stopper: door.1)
    }

    private init(ready: LocalPushReady, thread: LoopThread, stopper: Inbox<CheckedContinuation<Void, Never>>) {
        self.ready = ready
        self.thread = thread
        self.stopper = stopper
    }

    /// Stops as SIGTERM stops `localpush serve`: GOAWAY with `Shutdown`, answers for what was accepted, store flushed.
    /// Takes two seconds at most. Further calls wait for the first; a server that is never stopped ends with the
    /// process.
    public func stop() async {
        let task = stopping.withLock { task in
            let running = task ?? Task { await end() }
            task = running
            return running
        }
        await task.value
    }

    private func end() async {
        await withCheckedContinuation { continuation in
            if !stopper.post(continuation) { continuation.resume() }
        }
        thread.stop()
    }
}
