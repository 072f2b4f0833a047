import Glibc
import PushBytes
import PushReactor
import Testing

@Suite struct EventLoopTests {
    @Test func phasesRunInOrderOncePerTurnAfterTimersAndInboxes() throws {
        let loop = try EventLoop()
        var log: [String] = []
        loop.beforeSleep(.sweep) { log.append("sweep") }
        loop.beforeSleep(.flush) { log.append("flush") }
        loop.beforeSleep(.commit) { log.append("commit 1") }
        loop.beforeSleep(.commit) { log.append("commit 2") }
        let inbox = Inbox<String>(loop: loop) { log.append($0) }
        let timer = Timer(loop: loop) { log.append("timer") }
        timer.schedule(after: .zero)
        inbox.post("inbox")
        loop.turn(wait: .zero)
        #expect(log == ["timer", "inbox", "commit 1", "commit 2", "flush", "sweep"])
        loop.turn(wait: .zero)
        #expect(log.count == 10)
    }

    @Test func nothingLeavesASocketBeforeTheCommitOfTheTurn() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) {
            let handler = Recorder()
            handler.isEcho = true
            return handler
        }
        let raw = RawClient(port: server.port)
        turn(loop) { server.sockets.count == 1 }
        var seenAtCommit: [[UInt8]?] = []
        var seenAtSweep: [[UInt8]?] = []
        loop.beforeSleep(.commit) { seenAtCommit.append(raw.readNow()) }
        loop.beforeSleep(.flush) {
            server.sockets[0].output.append("+flush")
            server.sockets[0].wantsFlush()
        }
        loop.beforeSleep(.sweep) { seenAtSweep.append(raw.readNow()) }
        raw.write("reply")
        turn(loop) { server.handlers[0].received == 5 }
        let last = seenAtSweep.count - 1
        #expect(seenAtCommit[last] == [])
        #expect(seenAtSweep[last] == Array("reply+flush".utf8))
    }

    @Test func aBlockedSocketTurnedWritableStillWaitsForTheCommit() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let raw = RawClient(port: server.port)
        turn(loop) { server.sockets.count == 1 }
        let socket = server.sockets[0]
        socket.output.append([UInt8](repeating: 0, count: 30_000_000))
        socket.wantsFlush()
        for _ in 0..<3 { loop.turn(wait: .zero) }
        var countsAtCommit: [Int] = []
        var countsAtSweep: [Int] = []
        loop.beforeSleep(.commit) { countsAtCommit.append(socket.output.count) }
        loop.beforeSleep(.sweep) { countsAtSweep.append(socket.output.count) }
        let blocked = socket.output.count
        #expect(blocked > 0, "the kernel did not take everything")
        var bytes: [UInt8] = []
        turn(loop) {
            _ = raw.collect(into: &bytes)
            return countsAtSweep.last.map { $0 < blocked } ?? false
        }
        let index = countsAtSweep.count - 1
        #expect(countsAtCommit[index] == blocked, "readiness alone wrote nothing")
        loop.shutDown()
    }

    @Test func flushAskedForInTheSweepDoesNotWait() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let raw = RawClient(port: server.port)
        turn(loop) { server.sockets.count == 1 }
        var isFirst = true
        loop.beforeSleep(.sweep) {
            if !isFirst { return }
            isFirst = false
            server.sockets[0].output.append("now")
            server.sockets[0].wantsFlush()
        }
        loop.turn(wait: .zero)
        // Would block for ever if the loop did not see the work.
        loop.turn(wait: nil)
        #expect(raw.readNow() == Array("now".utf8))
    }

    @Test func stopEndsRunAfterTheTurn() throws {
        let loop = try EventLoop()
        var turns = 0
        loop.beforeSleep(.sweep) {
            turns += 1
            if turns == 3 { loop.stop() }
        }
        let timer = Timer(loop: loop) {}
        loop.beforeSleep(.commit) { timer.schedule(after: .zero) }
        timer.schedule(after: .zero)
        loop.run()
        #expect(turns == 3)
        loop.shutDown()
    }

    @Test func timeStandsStillWithinAStepAndNeverGoesBack() throws {
        let loop = try EventLoop()
        var times: [MonotonicTime] = []
        let timer = Timer(loop: loop) {
            times.append(loop.now)
            times.append(loop.now)
        }
        loop.beforeSleep(.commit) { times.append(loop.now) }
        let before = loop.now
        timer.schedule(after: .milliseconds(2))
        turn(loop) { times.count >= 3 && !timer.isScheduled }
        let fired = times.firstIndex { _ in true }!
        #expect(times == times.sorted() && times[fired] >= before)
        let unixSeconds = time(nil)
        #expect(abs(loop.wallMilliseconds / 1000 - Int64(unixSeconds)) <= 1)
    }

    @Test func signalReachesTheLoop() throws {
        let loop = try EventLoop()
        var heard = 0
        loop.onSignal(SIGUSR2) { heard += 1 }
        kill(getpid(), SIGUSR2)
        turn(loop) { heard == 1 }
        kill(getpid(), SIGUSR2)
        turn(loop) { heard == 2 }
    }

    @Test func loopThreadRunsUntilStoppedAndReportsSetUpErrors() throws {
        let (thread, door) = try LoopThread.start(name: "test loop") { loop in
            Inbox<Box>(loop: loop) { $0.latch.fill(loop.wallMilliseconds) }
        }
        let box = Box()
        #expect(door.post(box))
        #expect(box.latch.wait() > 0)
        thread.stop()
        thread.stop()
        #expect(!door.post(Box()), "a loop that is gone takes no message")
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            _ = try LoopThread.start(name: "refused") { _ -> Int in throw Refused() }
        }
    }

    @Test func shutDownResetsSocketsAndTellsHandlers() throws {
        let loop = try EventLoop()
        let server = try TestServer(loop) { Recorder() }
        let raw = RawClient(port: server.port)
        turn(loop) { server.sockets.count == 1 }
        loop.shutDown()
        #expect(server.handlers[0].closes == [.local] && loop.openSockets == 0)
        #expect(raw.readError() == ECONNRESET)
    }

    @Test(
        arguments: [
            (0, Duration.seconds(1), 1_000_000_000), (5, .nanoseconds(-7), -2), (.max, .seconds(1), .max),
            (0, .seconds(Int64.max), .max), (0, .seconds(Int64.min), .min),
        ] as [(Int64, Duration, Int64)])
    func monotonicTimeAddsAndSaturates(start: Int64, duration: Duration, expected: Int64) {
        #expect((MonotonicTime(nanoseconds: start) + duration).nanoseconds == expected)
    }

    @Test func differencesOfMonotonicTimesAreDurations() {
        let early = MonotonicTime(nanoseconds: 1_500)
        let late = MonotonicTime(nanoseconds: 4_000_001_500)
        #expect(late - early == .seconds(4) && early - late == .seconds(-4))
        #expect(late - .seconds(4) == early && early < late)
    }
}

/// Carries a value from the loop's thread to the test's.
final class Box: Sendable {
    let latch = ValueLatch()
}
