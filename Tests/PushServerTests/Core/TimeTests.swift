import PushCore
import PushCourier
import Testing

@testable import PushServer

@Suite struct TimeTests {
    private let harness = CoreHarness()
    private var core: ServerCore { harness.core }

    /// Goes from one wake time to the next until `end`, as a driver does, and notes when lines appeared.
    private func run(until end: Int64) -> [(at: Int64, line: String)] {
        var seen: [(Int64, String)] = []
        while true {
            let wake = core.wakeTimes
            let unix = wake.unix == .max ? Int64.max : wake.unix - CoreHarness.start
            let monotonic = wake.monotonic == .max ? Int64.max : wake.monotonic - 5_000_000
            let next = max(harness.elapsed, min(unix, monotonic))
            guard next <= end else { break }
            let before = core.wakeTimes
            harness.elapsed = next
            core.timePassed(now: harness.now)
            for line in harness.lines() { seen.append((next, line)) }
            precondition(
                core.wakeTimes.unix != before.unix || core.wakeTimes.monotonic != before.monotonic,
                "a wake time that was served moves on")
        }
        harness.elapsed = end
        return seen
    }

    @Test func anUnacknowledgedPushComesAgainAfterTwentySecondsAndAfterTheFourthTimeTheConnectionEnds() {
        let registration = harness.ready()
        let push = harness.push(to: registration)
        core.outputs = []
        let seen = run(until: 200_000)
        #expect(seen.map(\.at) == [20_000, 20_000, 40_000, 40_000, 60_000, 60_000, 80_000, 80_000])
        #expect(
            seen.map(\.line) == [
                "deliver \(push) as 1 to 1 stored", "sent push \(push) device 1 detail 2",
                "deliver \(push) as 1 to 1 stored", "sent push \(push) device 1 detail 3",
                "deliver \(push) as 1 to 1 stored", "sent push \(push) device 1 detail 4",
                "close 1: it never acknowledged a push that was sent several times",
                "disconnected push 0 device 1 detail 0",
            ])
        #expect(registration.waitingCount == 1)
        harness.connect(2, token: registration.device.baseToken)
        harness.listen(2)
        #expect(harness.deliveries().map(\.sequence) == [push])
    }

    @Test func anAcknowledgementOfALaterAttemptEndsThePush() {
        let registration = harness.ready()
        let push = harness.push(to: registration)
        _ = run(until: 45_000)
        harness.acknowledge(1, 1)
        #expect(harness.lines() == ["acknowledged push \(push) device 1 detail 0"])
        #expect(run(until: 200_000).isEmpty)
    }

    @Test func eachPushHasItsOwnTwentySeconds() {
        let registration = harness.ready()
        let first = harness.push(to: registration)
        harness.elapsed = 12_000
        let second = harness.push(to: registration)
        core.outputs = []
        let sent = run(until: 33_000).filter { $0.line.hasPrefix("deliver") }
        #expect(sent.map(\.at) == [20_000, 32_000])
        #expect(sent.map(\.line) == ["deliver \(first) as 1 to 1 stored", "deliver \(second) as 2 to 1 stored"])
    }

    @Test func aTopicThatIsSwitchedOffIsNotSentAgain() {
        let registration = harness.ready()
        let push = harness.push(to: registration)
        harness.listen(1, [])
        core.outputs = []
        #expect(run(until: 300_000).isEmpty)
        harness.listen(1)
        #expect(run(until: 320_000).first?.line == "deliver \(push) as 1 to 1 stored")
        harness.acknowledge(1, 1)
        #expect(harness.lines() == ["acknowledged push \(push) device 1 detail 0"])
    }

    @Test func storedPushesExpireAtTheirTime() {
        let registration = harness.ready()
        core.deviceDisconnected(1, now: harness.now)
        core.outputs = []
        #expect(core.wakeTimes == (.max, .max))
        let late = harness.push(to: registration, seconds: 30)
        #expect(core.wakeTimes.unix == CoreHarness.start + 30_000)
        let early = harness.push(to: registration, .voip, seconds: 10)
        #expect(core.wakeTimes.unix == CoreHarness.start + 10_000)
        harness.pass(9_999)
        #expect(harness.lines() == [])
        harness.pass(1)
        #expect(harness.lines() == ["expired push \(early) device 1 detail \(CoreHarness.start + 10_000)"])
        #expect(core.wakeTimes.unix == CoreHarness.start + 30_000)
        harness.pass(20_000)
        #expect(harness.lines() == ["expired push \(late) device 1 detail \(CoreHarness.start + 30_000)"])
        #expect(core.wakeTimes.unix == .max)
        #expect(registration.waitingCount == 0)
    }

    @Test func whatIsInFlightExpiresOnlyAfterTheDeviceLeft() {
        let registration = harness.ready()
        let push = harness.push(to: registration, seconds: 10)
        core.outputs = []
        harness.pass(15_000)
        #expect(harness.lines() == [])
        core.deviceDisconnected(1, now: harness.now)
        core.outputs = []
        #expect(core.wakeTimes.unix <= harness.now.unixMilliseconds)
        core.timePassed(now: harness.now)
        #expect(harness.lines() == ["expired push \(push) device 1 detail \(CoreHarness.start + 10_000)"])
        #expect(core.wakeTimes.unix == .max)
    }

    @Test func whatWaitsBehindAFullWindowExpiresInTime() {
        let registration = harness.ready()
        for _ in 1...CoreLimits.inFlightMax { harness.push(to: registration, seconds: 1) }
        let waiting = harness.push(to: registration, seconds: 10)
        core.outputs = []
        let expired = run(until: 11_000).filter { $0.line.hasPrefix("expired") }
        #expect(expired.map(\.at) == [10_000])
        #expect(expired.first?.line == "expired push \(waiting) device 1 detail \(CoreHarness.start + 10_000)")
    }

    @Test func apnsKeepsForThirtyDaysAtMost() {
        let registration = harness.ready()
        core.deviceDisconnected(1, now: harness.now)
        harness.push(to: registration, seconds: 365 * 86_400)
        harness.push(to: registration, .voip)
        core.outputs = []
        #expect(core.wakeTimes.unix == CoreHarness.start + CoreLimits.storageMillisecondsMax)
        harness.pass(CoreLimits.storageMillisecondsMax)
        #expect(harness.lines().count == 2)
    }

    @Test func aConnectionThatSaysNothingEndsAfterThirtySeconds() {
        core.deviceConnected(1, environment: .sandbox, now: harness.now)
        let seen = run(until: 60_000)
        #expect(seen.map(\.line) == ["close 1: it did not introduce itself"])
        #expect(seen.map(\.at) == [CoreLimits.introductionMillisecondsMax])
        #expect(core.wakeTimes == (.max, .max))
    }

    @Test func aDeviceThatFallsSilentEndsAndOneThatSpeaksStays() {
        harness.ready(1)
        harness.ready(2)
        let half = CoreLimits.deviceSilenceMillisecondsMax / 2
        harness.elapsed = half
        core.receivedKeepAlive(from: 2, now: harness.now)
        #expect(harness.lines() == ["reply 2 keep-alive"])
        let seen = run(until: 2 * half + 1000)
        #expect(seen.map(\.line) == ["close 1: it was silent for too long", "disconnected push 0 device 1 detail 0"])
        #expect(seen.first?.at == 2 * half)
        #expect(run(until: 3 * half + 1000).map(\.at) == [3 * half, 3 * half])
    }

    @Test func nothingIsDoneWhenTimeStandsStill() {
        let registration = harness.ready()
        harness.push(to: registration)
        core.outputs = []
        for _ in 1...3 { harness.pass(0) }
        #expect(harness.allLines() == [])
    }
}
