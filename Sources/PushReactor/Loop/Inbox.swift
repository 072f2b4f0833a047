internal import CPushLibevent
internal import Glibc
internal import Synchronization

/// The one door into a loop from other threads: messages come out on the loop, each poster's in its own order.
///
/// Posting works before, while and after the loop runs. Dropping the inbox ends delivery of what still waits.
package final class Inbox<Message: Sendable>: Sendable {
    private let queue: MessageQueue<Message>

    /// Makes the door. `handler` runs on the loop, at most `EventLoop.inboxBatchMax` times a turn.
    /// - Parameter messagesMax: how many may wait; default one million, since a poster that far ahead of the loop
    ///   is broken and memory is the next thing to go. Policy: reject, `post` says so.
    package init(loop: EventLoop, messagesMax: Int = 1_000_000, _ handler: @escaping (Message) -> Void) {
        precondition(messagesMax > 0, "an inbox holds something")
        loop.preconditionOnLoop()
        queue = MessageQueue(wake: loop.wake, messagesMax: messagesMax)
        loop.add(InboxDelivery(queue: queue, handler: handler))
    }

    deinit {
        queue.close()
    }

    /// Hands over a message from any thread. False, with the message dropped, when the inbox is full or the loop
    /// is gone.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        queue.post(message)
    }
}

/// What both sides of an inbox share.
final class MessageQueue<Message: Sendable>: Sendable {
    struct State {
        var waiting: [Message] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wake: LoopWake
    private let messagesMax: Int

    init(wake: LoopWake, messagesMax: Int) {
        self.wake = wake
        self.messagesMax = messagesMax
    }

    func post(_ message: Message) -> Bool {
        let (isAccepted, isFirst) = state.withLock { state in
            if state.isClosed || state.waiting.count >= messagesMax { return (false, false) }
            state.waiting.append(message)
            return (true, state.waiting.count == 1)
        }
        if isFirst { wake.signal() }
        return isAccepted
    }

    /// Swaps `taken`, which is empty, for everything that waits. False once the inbox is closed.
    func take(into taken: inout [Message]) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            swap(&taken, &state.waiting)
            return true
        }
    }

    func close() {
        let left = state.withLock { state in
            state.isClosed = true
            let left = state.waiting
            state.waiting = []
            return left
        }
        // Messages may own things; they go away outside the lock.
        _ = consume left
    }
}

/// The loop's side: delivers in bounded batches.
class AnyInboxDelivery {
    /// Delivers up to `limit` messages. Nil when the inbox is gone, else whether more may wait.
    func deliver(_ limit: Int) -> Bool? { nil }
    func close() {}
    fileprivate(set) var isClosed = false
}

final class InboxDelivery<Message: Sendable>: AnyInboxDelivery {
    private let queue: MessageQueue<Message>
    private let handler: (Message) -> Void
    private var taken: [Message] = []
    private var position = 0

    init(queue: MessageQueue<Message>, handler: @escaping (Message) -> Void) {
        self.queue = queue
        self.handler = handler
    }

    override func deliver(_ limit: Int) -> Bool? {
        var delivered = 0
        while delivered < limit {
            if position == taken.count {
                taken.removeAll(keepingCapacity: taken.capacity <= 4096)
                position = 0
                if !queue.take(into: &taken) {
                    isClosed = true
                    return nil
                }
                if taken.isEmpty { return false }
            }
            let message = taken[position]
            position += 1
            delivered += 1
            handler(message)
        }
        // What was posted while the rest of an older batch was delivered has had its signal already: look again.
        return true
    }

    override func close() {
        queue.close()
    }
}

/// An eventfd that ends the loop's wait, signalled at most once until the loop has looked.
final class LoopWake: Sendable {
    let fd: Int32
    private let isSignalled = Atomic(false)

    init() throws(ReactorError) {
        fd = push_eventfd()
        if fd < 0 { throw ReactorError(operation: "eventfd", errno: errno) }
    }

    deinit {
        close(fd)
    }

    var isPending: Bool { isSignalled.load(ordering: .acquiring) }

    func signal() {
        if isSignalled.exchange(true, ordering: .acquiringAndReleasing) { return }
        var one: UInt64 = 1
        // A full counter (EAGAIN) is signalled already; nothing else can fail on an open eventfd.
        _ = write(fd, &one, 8)
    }

    /// To be called before looking into the queues, so that a later post signals again.
    func clear() {
        if !isSignalled.load(ordering: .acquiring) { return }
        var count: UInt64 = 0
        _ = read(fd, &count, 8)
        isSignalled.store(false, ordering: .releasing)
    }
}
