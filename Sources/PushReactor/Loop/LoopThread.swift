internal import Synchronization

/// A thread that runs one event loop: how a library gets a loop beside whatever its user's process does.
package final class LoopThread: Sendable {
    private let stopper: Inbox<Void>
    private let ended: Latch

    /// Starts the thread and waits until `setUp` has returned on it; `setUp` makes the sockets, timers and inboxes.
    /// What it returns comes back, typically the inbox that is the door in. An error it throws ends the thread.
    package static func start<Door: Sendable>(
        name: String, _ setUp: @escaping @Sendable (EventLoop) throws -> Door
    ) throws -> (thread: LoopThread, door: Door) {
        let started = Latch()
        let ended = Latch()
        let cell = Outcome<Door>()
        let failure = DetachedThread.start(name: name) {
            do {
                let loop = try EventLoop()
                defer { loop.shutDown() }
                let stopper = Inbox<Void>(loop: loop) { [unowned loop] in loop.stop() }
                let door = try setUp(loop)
                cell.result.withLock { $0 = .success((LoopThread(stopper: stopper, ended: ended), door)) }
                started.open()
                loop.run()
            } catch {
                cell.result.withLock { $0 = .failure(error) }
                started.open()
            }
            ended.open()
        }
        if let failure { throw failure }
        started.wait()
        return try cell.result.withLock { $0! }.get()
    }

    private final class Outcome<Door: Sendable>: Sendable {
        let result = Mutex<Result<(LoopThread, Door), any Error>?>(nil)
    }

    private init(stopper: Inbox<Void>, ended: Latch) {
        self.stopper = stopper
        self.ended = ended
    }

    /// Stops the loop after its current turn, resets what is still open and waits for the thread to end. A second call
    /// only waits. Never from the loop's own thread, which would wait for itself.
    package func stop() {
        stopper.post(())
        ended.wait()
    }
}
