import Foundation
import PushBytes
import PushCore
import PushCourier
import Testing

@testable import PushServer

/// A world of devices and pushes around a core, driven by one seed.
private struct CoreSimulation {
    let seed: UInt64
    let harness: CoreHarness
    var random: SeededRandom
    var registrations: [Registration] = []
    /// Connection of each device that is there, and what it has got and not acknowledged.
    var online: [Int64: Int] = [:]
    var unanswered: [Int: [UInt32]] = [:]
    var lastConnection = 0
    var accepted: Set<Int64> = []
    var storable: Set<Int64> = []
    var ends: [Int64: Int] = [:]
    var sent: Set<Int64> = []
    var log: [String] = []
    var problems: [String] = []

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        harness = CoreHarness(rule: seed.isMultiple(of: 2) ? .apns : .ideal)
    }

    mutating func run(steps: Int) {
        for _ in 0..<4 { connectNew() }
        for _ in 0..<steps {
            step()
            drain()
        }
        finish()
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func connectNew() {
        lastConnection += 1
        let device = harness.connect(lastConnection)!
        online[device.id] = lastConnection
        for suffix in [TopicSuffix.none, .voip] { registrations.append(harness.register(lastConnection, suffix)) }
        drain()
    }

    private mutating func step() {
        let registration = registrations.randomElement(using: &random)!
        let device = registration.device
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40:
            guard registration.unregisteredAt == nil else { return }
            let seconds = ([nil, 0, 5, 60, 3600] as [Int64?]).randomElement(using: &random)!
            let push = harness.push(to: registration, chance(50) ? .none : .voip, seconds: seconds)
            accepted.insert(push)
        case 40..<65:
            guard let connection = online[device.id], let id = unanswered[connection]?.randomElement(using: &random)
            else { return }
            unanswered[connection]?.removeAll { $0 == id }
            harness.acknowledge(connection, id, status: chance(95) ? 0 : 2)
        case 65..<75:
            lastConnection += 1
            harness.connect(lastConnection, token: device.baseToken)
            online[device.id] = lastConnection
        case 75..<80:
            guard let connection = online.removeValue(forKey: device.id) else { return }
            harness.core.deviceDisconnected(connection, now: harness.now)
        case 80..<90:
            guard let connection = online[device.id] else { return }
            harness.listen(connection, [[], [.none], [.voip], [.none, .voip]].randomElement(using: &random)!)
        case 90..<92: harness.core.setRegistered(registration, chance(60), now: harness.now)
        default: harness.pass(Int64.random(in: 1...25_000, using: &random))
        }
    }

    /// Looks at what the core wants, as the service would.
    private mutating func drain() {
        for output in harness.core.outputs {
            switch output {
            case .deliver(let delivery):
                let connection = delivery.connection
                if !unanswered[connection, default: []].contains(delivery.messageID) {
                    unanswered[connection, default: []].append(delivery.messageID)
                }
                check(accepted.contains(delivery.sequence), "push \(delivery.sequence) was never accepted")
                check(ends[delivery.sequence] == nil, "push \(delivery.sequence) is sent after its end")
                check(online.values.contains(connection), "connection \(connection) is not there")
                let session = harness.core.sessions[connection]
                check(session?.listens(to: delivery.topic) ?? true, "nobody listens to \(delivery.topic.name)")
                sent.insert(delivery.sequence)
            case .close(let connection, _):
                for (device, known) in online where known == connection { online[device] = nil }
            case .event(let event):
                if event.milestone.endsDelivery {
                    ends[event.push, default: 0] += 1
                    check(ends[event.push] == 1, "push \(event.push) ends twice")
                }
                if event.milestone == .acknowledged { check(sent.contains(event.push), "acknowledged but never sent") }
                if event.milestone == .replaced { check(!sent.contains(event.push), "replaced although it was sent") }
            case .reply, .save: break
            }
        }
        log += harness.allLines()
    }

    /// Everybody comes back and takes everything: nothing may be left over.
    private mutating func finish() {
        for registration in registrations {
            harness.core.setRegistered(registration, true, now: harness.now)
            drain()
        }
        for device in Set(registrations.map(\.device.id)).sorted() {
            lastConnection += 1
            harness.connect(lastConnection, token: harness.core.registry.device(device)!.baseToken)
            online[device] = lastConnection
            drain()
            harness.listen(lastConnection, [.none, .voip])
            drain()
            while let id = unanswered[lastConnection]?.first {
                unanswered[lastConnection]?.removeFirst()
                harness.acknowledge(lastConnection, id)
                drain()
            }
        }
        for push in accepted.sorted() { check(ends[push] == 1, "push \(push) has no end") }
        for registration in registrations {
            check(registration.waitingCount == 0 && registration.inFlightCount == 0, "a mailbox is not empty")
        }
    }

    private mutating func check(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds { problems.append(text()) }
    }
}

@Suite struct CoreSimulationTests {
    private static let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 0x5EED

    @Test func everyPushEndsOnceAndNothingIsLost() {
        for round in 0..<60 {
            var simulation = CoreSimulation(seed: Self.seed &+ UInt64(round))
            simulation.run(steps: 300)
            #expect(simulation.problems.isEmpty, "SEED=\(simulation.seed)")
            if !simulation.problems.isEmpty { return }
        }
    }

    @Test func theSameInputsGiveTheSameOutputs() {
        for round in 0..<5 {
            var first = CoreSimulation(seed: Self.seed &+ UInt64(round))
            var second = CoreSimulation(seed: Self.seed &+ UInt64(round))
            first.run(steps: 300)
            second.run(steps: 300)
            #expect(first.log == second.log, "SEED=\(first.seed)")
            #expect(first.log.count > 300)
        }
    }
}
