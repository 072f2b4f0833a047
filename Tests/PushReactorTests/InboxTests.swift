import Glibc
import PushReactor
import Synchronization
import Testing

/// A value somebody on another thread waits for.
final class ValueLatch: Sendable {
    private let value = Mutex<Int64?>(nil)

    func fill(_ new: Int64) { value.withLock { $0 = new } }

    func wait() -> Int64 {
        while true {
            if let found = value.withLock({ $0 }) { return found }
            sched_yield()
        }
    }
}

@Suite struct InboxTests {
    struct Note: Sendable {
        var poster: Int
        var number: Int
    }

    @Test func messagesOfFourThreadsArriveCompleteAndInEachThreadsOrder() async throws {
        let each = 25_000
        let (thread, door) = try LoopThread.start(name: "inbox test") { loop -> (Inbox<Note>, Box) in
            var next = [0, 0, 0, 0]
            let box = Box()
            let inbox = Inbox<Note>(loop: loop) { note in
                if note.number != next[note.poster] { box.latch.fill(-1) }
                next[note.poster] += 1
                if next.allSatisfy({ $0 == each }) { box.latch.fill(Int64(next.reduce(0, +))) }
            }
            return (inbox, box)
        }
        let inbox = door.0
        await withTaskGroup(of: Void.self) { group in
            for poster in 0..<4 {
                group.addTask {
                    for number in 0..<each { inbox.post(Note(poster: poster, number: number)) }
                }
            }
        }
        #expect(door.1.latch.wait() == 100_000)
        thread.stop()
    }

    @Test func postsBeforeTheLoopRunsAreDelivered() throws {
        let loop = try EventLoop()
        var heard: [Int] = []
        let inbox = Inbox<Int>(loop: loop) {
            heard.append($0)
            if $0 == 2 { loop.stop() }
        }
        for number in 0...2 { inbox.post(number) }
        loop.run()
        #expect(heard == [0, 1, 2])
        loop.shutDown()
        #expect(!inbox.post(3))
    }

    @Test func aTurnDeliversABoundedBatchAndTheNextDoesNotWait() throws {
        let loop = try EventLoop()
        var heard = 0
        let inbox = Inbox<Int>(loop: loop) { _ in heard += 1 }
        for number in 0..<2500 { inbox.post(number) }
        loop.turn(wait: .zero)
        #expect(heard == EventLoop.inboxBatchMax)
        loop.turn(wait: nil)
        loop.turn(wait: nil)
        #expect(heard == 2500)
    }

    @Test func aFullInboxRejects() throws {
        let loop = try EventLoop()
        var heard: [Int] = []
        let inbox = Inbox<Int>(loop: loop, messagesMax: 3) { heard.append($0) }
        #expect((0..<5).map { inbox.post($0) } == [true, true, true, false, false])
        loop.turn(wait: .zero)
        #expect(heard == [0, 1, 2])
        #expect(inbox.post(5))
    }

    @Test func aDroppedInboxDeliversNothingMore() throws {
        let loop = try EventLoop()
        var heard = 0
        var inbox: Inbox<Int>? = Inbox<Int>(loop: loop) { _ in heard += 1 }
        inbox?.post(1)
        inbox = nil
        loop.turn(wait: .zero)
        #expect(heard == 0 && inbox == nil)
    }

    @Test func aHandlerThatPostsToItsOwnInboxForEverDoesNotHoldUpTheTurn() throws {
        let loop = try EventLoop()
        var heard: [Int] = []
        var inbox: Inbox<Int>!
        inbox = Inbox<Int>(loop: loop) { number in
            heard.append(number)
            inbox.post(number + 1)
        }
        inbox.post(0)
        loop.turn(wait: nil)
        loop.turn(wait: nil)
        #expect(heard == Array(0..<2 * EventLoop.inboxBatchMax))
        inbox = nil
    }
}
