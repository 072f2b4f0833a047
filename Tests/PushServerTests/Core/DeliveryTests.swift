import PushCore
import PushCourier
import Testing

@testable import PushServer

@Suite struct DeliveryTests {
    private let harness = CoreHarness()
    private var core: ServerCore { harness.core }

    // MARK: A device that is there

    @Test func aPushGoesStraightToADeviceThatListens() {
        let registration = harness.ready()
        let push = harness.push(to: registration)
        #expect(harness.deliveries().first?.token == registration.token)
        #expect(harness.lines() == ["deliver \(push) as 1 to 1", "sent push \(push) device 1 detail 1"])
        harness.acknowledge(1, 1)
        #expect(harness.lines() == ["acknowledged push \(push) device 1 detail 0"])
        #expect(registration.waitingCount == 0 && registration.inFlightCount == 0)
    }

    @Test func nothingIsDeliveredBeforeTheFilter() {
        harness.connect(1)
        let registration = harness.register(1)
        core.outputs = []
        let push = harness.push(to: registration)
        #expect(harness.lines() == [])
        harness.listen(1, [.voip])
        #expect(harness.lines() == [])
        harness.listen(1, [.voip, .none])
        #expect(
            harness.lines() == ["deliver \(push) as 1 to 1 stored last", "sent push \(push) device 1 detail 1"])
    }

    @Test func eachTopicHasAMailboxAndAFilterOfItsOwn() {
        let registration = harness.ready()
        let call = harness.push(to: registration, .voip)
        #expect(harness.lines() == [])
        let plain = harness.push(to: registration)
        #expect(harness.lines().first == "deliver \(plain) as 1 to 1")
        harness.listen(1, [.voip])
        #expect(harness.lines().first == "deliver \(call) as 2 to 1 stored last")
        #expect(harness.push(to: registration) > 0)
        #expect(harness.lines() == [])
    }

    @Test func aTopicThatIsSwitchedOffWaitsAndIsReplayed() {
        let registration = harness.ready()
        harness.listen(1, [])
        let first = harness.push(to: registration)
        let second = harness.push(to: registration)
        #expect(harness.lines() == [])
        harness.listen(1)
        #expect(
            harness.lines().filter { $0.hasPrefix("deliver") } == [
                "deliver \(first) as 1 to 1 stored", "deliver \(second) as 2 to 1 stored last",
            ])
    }

    @Test func theSameFilterAgainChangesNothing() {
        let registration = harness.ready()
        harness.push(to: registration)
        core.outputs = []
        harness.listen(1)
        #expect(harness.lines() == [])
    }

    @Test func aRefusalByTheDeviceEndsThePush() {
        let registration = harness.ready()
        let push = harness.push(to: registration)
        core.outputs = []
        harness.acknowledge(1, 1, status: CourierAcknowledgement.failed)
        #expect(harness.lines() == ["dropped push \(push) device 1 detail \(DropCause.deviceRefused.rawValue)"])
    }

    @Test func acknowledgementsOfUnknownMessagesAreIgnored() {
        let registration = harness.ready()
        harness.push(to: registration)
        harness.acknowledge(1, 1)
        core.outputs = []
        for id in [UInt32(0), 1, 2, .max] { harness.acknowledge(1, id) }
        #expect(harness.lines() == [])
    }

    // MARK: A device that is away

    @Test func whatWaitedIsReplayedInOrderAndTheLastIsMarked() throws {
        let registration = harness.ready()
        let token = registration.device.baseToken
        core.deviceDisconnected(1, now: harness.now)
        #expect(harness.lines() == ["disconnected push 0 device 1 detail 0"])
        let pushes = (1...3).map { _ in harness.push(to: registration) }
        #expect(harness.lines() == [])
        #expect(registration.waitingCount == 3)
        harness.connect(2, token: token)
        #expect(harness.lines() == ["reply 2 accepted as before", "connected push 0 device 1 detail 0"])
        harness.listen(2)
        let flags = harness.deliveries().map { [$0.isFromStorage, $0.isLastStored] }
        #expect(harness.deliveries().map(\.sequence) == pushes)
        #expect(flags == [[true, false], [true, false], [true, true]])
    }

    @Test func underApplesRuleOnlyTheNewestWaits() {
        let harness = CoreHarness(rule: .apns)
        let registration = harness.ready()
        harness.core.deviceDisconnected(1, now: harness.now)
        harness.core.outputs = []
        let pushes = (1...3).map { _ in harness.push(to: registration) }
        #expect(
            harness.lines() == [
                "replaced push \(pushes[0]) device 1 detail \(pushes[1])",
                "replaced push \(pushes[1]) device 1 detail \(pushes[2])",
            ])
        harness.connect(2, token: registration.device.baseToken)
        harness.listen(2)
        #expect(harness.deliveries().map(\.sequence) == [pushes[2]])
    }

    @Test func theServersRuleHoldsForAppsWithoutOne() {
        var settings = RuleSettings()
        settings.storageRule = .ideal
        let harness = CoreHarness(settings: settings)
        harness.app.storageRule = nil
        let registration = harness.ready()
        harness.core.deviceDisconnected(1, now: harness.now)
        for _ in 1...3 { harness.push(to: registration) }
        #expect(registration.waitingCount == 3)
        harness.app.storageRule = .apns
        harness.push(to: registration)
        #expect(registration.waitingCount == 3)
    }

    @Test func aPushTriedOnceIsNotKept() {
        let registration = harness.ready()
        let first = harness.push(to: registration, seconds: 0)
        #expect(harness.lines().first == "deliver \(first) as 1 to 1")
        core.deviceDisconnected(1, now: harness.now)
        let cause = DropCause.notStorable.rawValue
        #expect(
            harness.lines() == [
                "dropped push \(first) device 1 detail \(cause)", "disconnected push 0 device 1 detail 0",
            ])
        for seconds in [Int64(0), -1] {
            let push = harness.push(to: registration, seconds: seconds)
            #expect(harness.lines() == ["dropped push \(push) device 1 detail \(cause)"])
        }
    }

    @Test func whatWasInFlightComesAgainOnTheNextConnectionAndSaysSo() {
        let registration = harness.ready()
        let push = harness.push(to: registration)
        core.deviceDisconnected(1, now: harness.now)
        harness.connect(2, token: registration.device.baseToken)
        harness.listen(2)
        #expect(harness.lines().contains("deliver \(push) as 1 to 2 stored last"))
        // A late acknowledgement of the old connection counts for nothing.
        harness.acknowledge(1, 1)
        #expect(harness.lines() == [])
        harness.acknowledge(2, 1)
        #expect(harness.lines() == ["acknowledged push \(push) device 1 detail 0"])
    }

    @Test func theNewestConnectionOfADeviceWins() {
        let registration = harness.ready()
        let push = harness.push(to: registration)
        core.outputs = []
        harness.connect(2, token: registration.device.baseToken)
        #expect(
            harness.lines() == [
                "close 1: the same device connected again", "disconnected push 0 device 1 detail 0",
                "reply 2 accepted as before", "connected push 0 device 1 detail 0",
            ])
        // The old connection's end and words come too late.
        core.deviceDisconnected(1, now: harness.now)
        core.receivedKeepAlive(from: 1, now: harness.now)
        #expect(harness.lines() == [])
        #expect(registration.device.isOnline)
        harness.listen(2)
        #expect(harness.deliveries().map(\.sequence) == [push])
    }

    // MARK: Virtual devices

    @Test func aVirtualDeviceTakesPushesAtOnceWhileItIsOn() {
        let registration = core.addVirtualDevice(
            app: harness.app, name: "Anna's phone", environment: .production, isOnline: true, now: harness.now)
        #expect(registration.device.name == "Anna's phone" && registration.device.environment == .production)
        core.outputs = []
        let push = harness.push(to: registration)
        #expect(
            harness.lines() == [
                "sent push \(push) device 1 detail 1", "acknowledged push \(push) device 1 detail 0",
            ])
    }

    @Test func aVirtualDeviceThatIsSwitchedOnTakesWhatWaitsInTheOrderItWasAccepted() {
        let registration = core.addVirtualDevice(
            app: harness.app, name: nil, environment: nil, isOnline: false, now: harness.now)
        core.outputs = []
        let pushes = [TopicSuffix.none, .voip, .none, .voip].map { harness.push(to: registration, $0) }
        let short = harness.push(to: registration, seconds: 1)
        #expect(harness.lines() == [])
        harness.elapsed += 1000
        core.setOnline(registration.device, true, now: harness.now)
        let lines = harness.lines()
        #expect(lines.prefix(1) == ["connected push 0 device 1 detail 0"])
        #expect(lines.contains { $0.hasPrefix("expired push \(short) ") })
        #expect(
            lines.filter { $0.hasPrefix("acknowledged") }
                == pushes.map { "acknowledged push \($0) device 1 detail 0" })
        core.setOnline(registration.device, true, now: harness.now)
        #expect(harness.lines() == [])
        core.setOnline(registration.device, false, now: harness.now)
        #expect(harness.lines() == ["disconnected push 0 device 1 detail 0"])
    }

    @Test func aDeviceWithNotificationsSwitchedOffTakesNothing() {
        let registration = harness.ready()
        core.setNotificationsEnabled(registration.device, false)
        #expect(harness.allLines() == ["save device 1"])
        let push = harness.push(to: registration)
        #expect(
            harness.lines() == ["dropped push \(push) device 1 detail \(DropCause.notificationsDisabled.rawValue)"])
        core.setNotificationsEnabled(registration.device, true)
        harness.push(to: registration)
        #expect(harness.deliveries().count == 1)
    }

    // MARK: The window

    @Test func theWindowHolds256AndEachAcknowledgementLetsOneMoreOut() {
        let registration = harness.ready()
        let pushes = (1...300).map { _ in harness.push(to: registration) }
        #expect(harness.deliveries().map(\.sequence) == Array(pushes.prefix(CoreLimits.inFlightMax)))
        core.outputs = []
        for id in UInt32(1)...300 {
            harness.acknowledge(1, id)
            #expect(registration.inFlightCount <= CoreLimits.inFlightMax)
        }
        #expect(harness.deliveries().map(\.sequence) == Array(pushes.dropFirst(CoreLimits.inFlightMax)))
        #expect(harness.deliveries().allSatisfy { !$0.isFromStorage && !$0.isLastStored })
        #expect(registration.waitingCount == 0 && registration.inFlightCount == 0)
    }

    @Test func aReplayLongerThanTheWindowMarksItsVeryLast() {
        let registration = harness.ready()
        core.deviceDisconnected(1, now: harness.now)
        let pushes = (1...300).map { _ in harness.push(to: registration) }
        harness.connect(2, token: registration.device.baseToken)
        harness.listen(2)
        let fresh = harness.push(to: registration)
        for id in UInt32(1)...301 { harness.acknowledge(2, id) }
        let deliveries = harness.deliveries()
        #expect(deliveries.map(\.sequence) == pushes + [fresh])
        #expect(deliveries.filter(\.isLastStored).map(\.sequence) == [pushes[299]])
        #expect(deliveries.last?.isFromStorage == false)
    }

    @Test func aWindowFilledByOneTopicIsHandedOnToAnother() {
        let registration = harness.ready()
        harness.listen(1, [.none, .voip])
        for _ in 1...CoreLimits.inFlightMax { harness.push(to: registration) }
        let call = harness.push(to: registration, .voip)
        #expect(!harness.deliveries().contains { $0.sequence == call })
        harness.acknowledge(1, 200)
        #expect(harness.deliveries().last?.sequence == call)
    }

    @Test func aWindowThatIsEmptiedByAnUnregistrationIsFilledAgain() {
        let registration = harness.ready()
        let other = harness.register(1, .voip)
        harness.listen(1, [.none, .voip])
        for _ in 1...CoreLimits.inFlightMax { harness.push(to: registration) }
        let waiting = harness.push(to: other, .voip)
        core.outputs = []
        core.setRegistered(registration, false, now: harness.now)
        #expect(harness.deliveries().map(\.sequence) == [waiting])
    }

    @Test func aWindowThatIsEmptiedByTheRemovalOfAnAppIsFilledAgain() throws {
        let registration = harness.ready()
        core.addApp(bundle: "com.example.other", team: nil, storageRule: .ideal)
        let topic = try #require(core.registry.topic(named: Array("com.example.other".utf8)))
        let device = registration.device
        core.received(
            CourierTokenRequest(baseToken: device.baseToken, topicHash: topic.hash.bytes), from: 1, now: harness.now)
        let other = try #require(device.registrations.last)
        core.received(
            CourierFilter(baseToken: device.baseToken, enabled: [harness.topic().hash.bytes, topic.hash.bytes]),
            from: 1, now: harness.now)
        for _ in 1...CoreLimits.inFlightMax { harness.push(to: registration) }
        let acceptance = Acceptance(registration: other, topic: topic, notification: APNsNotification())
        let waiting = core.accept(acceptance, now: harness.now).sequence
        core.outputs = []
        core.removeApp(harness.app, now: harness.now)
        #expect(harness.deliveries().map(\.sequence) == [waiting])
    }

    // MARK: Ends

    @Test func unregisteringDropsWhatWaitsAndWhatIsOnItsWay() {
        let registration = harness.ready()
        let sent = harness.push(to: registration)
        let waiting = harness.push(to: registration, .voip)
        core.outputs = []
        core.setRegistered(registration, false, now: harness.now)
        let cause = DropCause.unregistered.rawValue
        #expect(
            harness.lines() == [
                "dropped push \(sent) device 1 detail \(cause)", "dropped push \(waiting) device 1 detail \(cause)",
                "unregistered push 0 device 1 detail 0",
            ])
        harness.acknowledge(1, 1)
        core.setRegistered(registration, false, now: harness.now)
        #expect(harness.allLines() == [])
        #expect(registration.unregisteredAt == CoreHarness.start)
    }

    @Test func aRemovedDeviceIsDisconnectedAndItsPushesAreDropped() {
        let registration = harness.ready()
        let device = registration.device
        let push = harness.push(to: registration)
        core.outputs = []
        core.removeDevice(device, now: harness.now)
        #expect(
            harness.allLines() == [
                "close 1: the device was removed", "disconnected push 0 device 1 detail 0",
                "dropped push \(push) device 1 detail \(DropCause.deviceRemoved.rawValue)", "save device 1 removed",
            ])
        #expect(core.registry.registration(registration.token) == nil)
        harness.connect(2, token: device.baseToken)
        #expect(harness.lines().first == "reply 2 refused")
    }

    @Test func removingAnAppDropsItsPushes() {
        let registration = harness.ready()
        let push = harness.push(to: registration)
        core.outputs = []
        core.removeApp(harness.app, now: harness.now)
        #expect(
            harness.allLines() == [
                "dropped push \(push) device 1 detail \(DropCause.unregistered.rawValue)",
                "save app \(CoreHarness.bundle) removed",
            ])
        harness.acknowledge(1, 1)
        #expect(harness.lines() == [])
    }

    @Test func everyPushAndEventHasANumberOfItsOwn() {
        let registration = harness.ready()
        var numbers = [harness.push(to: registration), core.refuse(), harness.push(to: registration)]
        harness.acknowledge(1, 1)
        for case .event(let event) in core.outputs { numbers.append(event.sequence) }
        #expect(Set(numbers).count == numbers.count)
        #expect(numbers.max() == core.lastSequence)
    }

    // MARK: After a restart

    @Test func whatTheStoreRemembersWaitsAgain() throws {
        let registration = harness.ready()
        for sequence in Int64(100)...103 {
            // The first may not be stored: its device will not come back for it.
            core.restore(
                MailboxEntry(
                    sequence: sequence, expiresAt: CoreHarness.start + 1000 * sequence, isStorable: sequence > 100,
                    priority: 10), registration: registration, topic: harness.topic(.voip), now: harness.now)
        }
        #expect(
            harness.allLines() == ["dropped push 100 device 1 detail \(DropCause.notStorable.rawValue)"])
        #expect(registration.waitingCount == 3)
        #expect(core.wakeTimes.unix == CoreHarness.start + 101_000)
        harness.listen(1, [.voip])
        #expect(harness.deliveries().map(\.sequence) == [101, 102, 103])
        #expect(harness.deliveries().map(\.isLastStored) == [false, false, true])
    }
}
