import PushBytes
import PushReactor
import Testing

@Suite struct TimerTests {
    @Test func thousandsOfTimersFireInOrderOfDeadlineThenOfScheduling() throws {
        let loop = try EventLoop()
        var random = SeededRandom(seed: 42)
        var fired: [Int] = []
        var expected: [(deadline: MonotonicTime, index: Int)] = []
        let start = loop.now
        let timers = (0..<5000).map { index in Timer(loop: loop) { fired.append(index) } }
        for (index, timer) in timers.enumerated() {
            let deadline = start + .microseconds(Int64.random(in: 50_000...90_000, using: &random) / 500 * 500)
            timer.schedule(at: deadline)
            // Read back: on a slow machine the deadline may have passed already.
            expected.append((timer.deadline, index))
        }
        expected.sort { $0.deadline == $1.deadline ? $0.index < $1.index : $0.deadline < $1.deadline }
        turn(loop) { fired.count == 5000 }
        #expect(fired == expected.map(\.index))
    }

    /// Random schedules, moves both ways and cancels, against a plain sorted list.
    @Test(arguments: 0..<20 as Range<UInt64>) func heapAgreesWithASortedList(seed: UInt64) throws {
        let loop = try EventLoop()
        var random = SeededRandom(seed: seed)
        var fired: [Int] = []
        var model: [Int: (deadline: MonotonicTime, order: Int)] = [:]
        let start = loop.now + .milliseconds(20)
        let timers = (0..<60).map { index in Timer(loop: loop) { fired.append(index) } }
        for order in 0..<400 {
            let index = Int.random(in: 0..<60, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                timers[index].cancel()
                model[index] = nil
            } else {
                let deadline = start + .microseconds(Int64.random(in: 0...40, using: &random) * 100)
                timers[index].schedule(at: deadline)
                model[index] = (timers[index].deadline, order)
            }
        }
        #expect(timers.enumerated().allSatisfy { $0.element.isScheduled == (model[$0.offset] != nil) })
        turn(loop) { timers.allSatisfy { !$0.isScheduled } }
        let sorted = model.sorted {
            $0.value.deadline == $1.value.deadline
                ? $0.value.order < $1.value.order : $0.value.deadline < $1.value.deadline
        }
        #expect(fired == sorted.map(\.key), "seed \(seed)")
    }

    @Test func aTimerIsNeverEarly() throws {
        let loop = try EventLoop()
        var firedAt: [MonotonicTime] = []
        var timers: [Timer] = []
        for step in 0..<30 {
            let timer = Timer(loop: loop) { firedAt.append(loop.now) }
            timer.schedule(after: .microseconds(700 * step + 1))
            timers.append(timer)
        }
        turn(loop) { firedAt.count == 30 }
        #expect(zip(firedAt, timers).allSatisfy { $0 >= $1.deadline })
    }

    @Test func aTimerThatReschedulesItselfStarvesNobody() throws {
        let loop = try EventLoop()
        var greedyCount = 0
        var otherCount = 0
        var greedy: Timer!
        greedy = Timer(loop: loop) { [unowned loop] in
            greedyCount += 1
            greedy.schedule(at: loop.now - .seconds(5))
        }
        let other = Timer(loop: loop) { otherCount += 1 }
        greedy.schedule(after: .zero)
        other.schedule(after: .zero)
        loop.turn(wait: .zero)
        #expect(greedyCount == 1 && otherCount == 1)
        other.schedule(after: .zero)
        loop.turn(wait: nil)
        #expect(greedyCount == 2 && otherCount == 1 || otherCount == 2)
        loop.turn(wait: nil)
        #expect(greedyCount == 3 && otherCount == 2)
        greedy.cancel()
        greedy = nil
    }

    @Test func cancelledAndDroppedTimersDoNotFire() throws {
        let loop = try EventLoop()
        var fired: [String] = []
        let cancelled = Timer(loop: loop) { fired.append("cancelled") }
        var dropped: Timer? = Timer(loop: loop) { fired.append("dropped") }
        let victim = Timer(loop: loop) { fired.append("victim") }
        let killer = Timer(loop: loop) {
            fired.append("killer")
            victim.cancel()
        }
        cancelled.schedule(after: .zero)
        dropped?.schedule(after: .zero)
        killer.schedule(after: .zero)
        victim.schedule(after: .zero)
        cancelled.cancel()
        cancelled.cancel()
        dropped = nil
        loop.turn(wait: .zero)
        loop.turn(wait: .zero)
        #expect(fired == ["killer"])
        #expect(!victim.isScheduled && dropped == nil)
    }

    @Test func aTimerMayDropItselfAndOthersWhileFiring() throws {
        let loop = try EventLoop()
        var timers: [Timer] = []
        var fired = 0
        for _ in 0..<10 {
            timers.append(
                Timer(loop: loop) {
                    fired += 1
                    timers.removeAll()
                })
        }
        for timer in timers { timer.schedule(after: .zero) }
        loop.turn(wait: .zero)
        #expect(fired == 1)
    }

    @Test func aFiredTimerCanBeScheduledAgain() throws {
        let loop = try EventLoop()
        var fired = 0
        var timer: Timer!
        timer = Timer(loop: loop) {
            fired += 1
            if fired < 5 { timer.schedule(after: .milliseconds(1)) }
        }
        timer.schedule(after: .milliseconds(1))
        turn(loop) { fired == 5 }
        #expect(!timer.isScheduled)
        timer = nil
    }
}
