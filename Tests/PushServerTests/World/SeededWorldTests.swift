import Foundation
import PushCore
import PushDevice
import PushStore
import Testing

@testable import PushServer

/// Promises 1 and 2 under every kind of fault, by the hundred. `SEED=… swift test --filter SeededWorldTests` replays one.
struct SeededWorldTests {
    private static let count: UInt64 = 100

    private static var seeds: [UInt64] {
        if let text = ProcessInfo.processInfo.environment["SEED"], let seed = UInt64(text) { return [seed] }
        return (1...count).map { $0 }
    }

    @Test func nothingIsLostNothingComesTwiceAndOrderIsKept() throws {
        var faults: [String: Int] = [:]
        for seed in Self.seeds {
            let world = try SeededWorld(seed: seed, rule: .ideal)
            try world.run(steps: 1500)
            world.heal()
            let received = try numbers(world, seed)
            #expect(received == received.sorted(), "order is kept; replay with SEED=\(seed)")
            #expect(Set(received).count == received.count, "nothing comes twice; replay with SEED=\(seed)")
            let lost = Set(world.provider.accepted).subtracting(received)
            #expect(lost.isEmpty, "answered 200 and lost: \(lost.sorted()); replay with SEED=\(seed)")
            #expect(!world.provider.accepted.isEmpty, "the world did something; replay with SEED=\(seed)")
            for (fault, times) in world.faults { faults[fault, default: 0] += times }
        }
        if Self.seeds.count > 1 {
            for fault in ["phone cut", "half open", "provider cut", "phone killed", "server killed", "disk failing"] {
                #expect(faults[fault, default: 0] > 10, "the worlds knew the fault \(fault)")
            }
        }
    }

    @Test func underAppleRuleEachPushArrivesOrIsReplaced() throws {
        for seed in Self.seeds {
            let world = try SeededWorld(seed: seed, rule: .apns)
            try world.run(steps: 1500)
            world.heal()
            let received = try numbers(world, seed)
            #expect(received == received.sorted(), "order is kept; replay with SEED=\(seed)")
            #expect(Set(received).count == received.count, "nothing comes twice; replay with SEED=\(seed)")
            let states = try states(world)
            for number in world.provider.accepted {
                let state = states[number]
                let expected: Milestone = received.contains(number) ? .acknowledged : .replaced
                #expect(state == expected, "push \(number) is \(state?.text ?? "unknown"); replay with SEED=\(seed)")
            }
        }
    }

    private func numbers(_ world: SeededWorld, _ seed: UInt64) throws -> [Int] {
        #expect(world.provider.problems.isEmpty && world.phone.problems.isEmpty, "replay with SEED=\(seed)")
        for status in world.provider.refused.values { #expect(status == 503, "replay with SEED=\(seed)") }
        return try world.phone.received.map { message in
            let text = String(decoding: message.payload, as: UTF8.self)
            return try #require(Int(text.dropFirst(5).dropLast()), "replay with SEED=\(seed)")
        }
    }

    /// Where the journal says each accepted push stands, by its number.
    private func states(_ world: SeededWorld) throws -> [Int: Milestone] {
        var query = PushQuery()
        query.limit = PushStore.queryLimitMax
        var states: [Int: Milestone] = [:]
        for push in try world.store.pushes(query) {
            let text = String(decoding: push.payload, as: UTF8.self)
            guard let number = Int(text.dropFirst(5).dropLast()) else { continue }
            states[number] = PushView(push, core: world.service.core) { "\($0)" }.state
        }
        return states
    }
}
