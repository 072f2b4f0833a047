import PushCore
import Testing

@testable import PushServer

/// Pushes that are kept back from a phone that is there, without anything around the core.
@Suite struct HoldingTests {
    private func harness(burst: Int64 = 1000, background: Int = 0, rule: StorageRule = .ideal) -> CoreHarness {
        var settings = RuleSettings()
        settings.delivery.burstMilliseconds = burst
        settings.delivery.backgroundPushes = background
        settings.delivery.backgroundIntervalMilliseconds = 60_000
        return CoreHarness(settings: settings, rule: rule)
    }

    @discardableResult
    private func push(
        _ core: CoreHarness, _ registration: Registration, priority: UInt8, type: PushType? = nil,
        expiration: Int64? = nil
    ) -> Int64 {
        var notification = APNsNotification()
        notification.priority = priority
        notification.pushType = type
        notification.expiration = expiration
        return core.core.accept(
            Acceptance(registration: registration, topic: core.topic(), notification: notification), now: core.now
        ).sequence
    }

    private func delivered(_ core: CoreHarness) -> [Int64] {
        defer { core.core.outputs = [] }
        return core.deliveries().map(\.sequence)
    }

    @Test func priority5WaitsForItsBurst() {
        let core = harness()
        let registration = core.ready()
        let first = push(core, registration, priority: 5)
        core.pass(600)
        let second = push(core, registration, priority: 5)
        #expect(delivered(core).isEmpty)
        #expect(core.core.wakeTimes.monotonic <= core.now.monotonicMilliseconds + 400)
        core.pass(400)
        #expect(delivered(core) == [first, second])
    }

    @Test func priority1WaitsForOthersHoweverLong() {
        let core = harness()
        let registration = core.ready()
        let quiet = push(core, registration, priority: 1)
        core.pass(600_000)
        #expect(delivered(core).isEmpty)
        let loud = push(core, registration, priority: 10)
        #expect(delivered(core) == [quiet, loud])
    }

    @Test func whatIsHeldIsReplayedWhenThePhoneComesBack() throws {
        let core = harness()
        let registration = core.ready()
        let token = registration.device.baseToken
        let first = push(core, registration, priority: 1)
        core.core.deviceDisconnected(1, now: core.now)
        core.connect(2, token: token)
        core.listen(2)
        #expect(delivered(core) == [first])
    }

    @Test func ofWhatIsHeldTheNewestIsKeptWhenThePhoneGoes() {
        let core = harness(rule: .apns)
        let registration = core.ready()
        let first = push(core, registration, priority: 1)
        let second = push(core, registration, priority: 1)
        core.core.outputs = []
        core.core.deviceDisconnected(1, now: core.now)
        #expect(core.lines().contains("replaced push \(first) device 1 detail \(second)"))
        core.pass(10_000)
        #expect(registration.waitingCount == 1)
    }

    @Test func whatIsHeldExpires() {
        let core = harness()
        let registration = core.ready()
        let push = push(core, registration, priority: 1, expiration: core.now.unixMilliseconds / 1000 + 5)
        core.core.outputs = []
        core.pass(5000)
        #expect(core.lines().contains { $0.hasPrefix("expired push \(push) ") })
    }

    @Test func aPushThatIsTriedOnceIsNeverHeld() {
        let core = harness()
        let registration = core.ready()
        let once = push(core, registration, priority: 5, expiration: 0)
        #expect(delivered(core) == [once])
    }

    @Test func theNewestBackgroundPushComesWithTheNextIntervalBehindNewerAlerts() {
        let core = harness(burst: 0, background: 1)
        let registration = core.ready()
        let first = push(core, registration, priority: 5, type: .background)
        let second = push(core, registration, priority: 5, type: .background)
        let third = push(core, registration, priority: 5, type: .background)
        let alert = push(core, registration, priority: 10, type: .alert)
        #expect(
            core.lines().filter { $0.hasPrefix("dropped") || $0.hasPrefix("held") } == [
                "held push \(second) device 1 detail 3",
                "dropped push \(second) device 1 detail \(DropCause.throttled.rawValue)",
                "held push \(third) device 1 detail 3",
            ])
        core.pass(60_000)
        // The alert was never acknowledged and stays in flight before it.
        #expect(delivered(core).contains(third) && registration.inFlightCount == 3)
        for message in 1...3 { core.acknowledge(1, UInt32(message)) }
        #expect(registration.inFlightCount == 0)
        #expect(first < alert)
    }

    @Test func aThrottledPushGoesWithItsApp() {
        let core = harness(burst: 0, background: 1)
        let registration = core.ready()
        push(core, registration, priority: 5, type: .background)
        let held = push(core, registration, priority: 5, type: .background)
        core.core.outputs = []
        core.core.setRegistered(registration, false, now: core.now)
        let line = "dropped push \(held) device 1 detail \(DropCause.unregistered.rawValue)"
        #expect(core.lines().contains(line))
        core.pass(60_000)
        #expect(delivered(core).isEmpty && core.core.wakeTimes.monotonic < .max)
    }
}
