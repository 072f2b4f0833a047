import Foundation
import Testing

@testable import PushDevice

@Suite struct SimulationTests {
    /// `SEED=… swift test --filter SimulationTests` plays one world again.
    private static let replayed = ProcessInfo.processInfo.environment["SEED"].flatMap(UInt64.init)

    private func play(_ seeds: Range<UInt64>, onDisk: Bool) throws -> (kills: Int, refusals: Int) {
        var kills = 0
        var refusals = 0
        for seed in Self.replayed.map({ $0..<($0 + 1) }) ?? seeds {
            var world = try SeededWorld(seed: seed, onDisk: onDisk)
            let problems = try world.run()
            #expect(problems.isEmpty, "SEED=\(seed) on disk: \(onDisk)")
            kills += world.kills
            refusals += world.refusals
        }
        return (kills, refusals)
    }

    @Test func nothingIsLostNothingComesTwiceAndOrderIsKept() throws {
        let (kills, refusals) = try play(1..<1501, onDisk: false)
        // The worlds do reach what they are made for.
        if Self.replayed == nil { #expect(kills > 1000 && refusals > 500) }
    }

    @Test func theSameHoldsWithTheInboxOnDisk() throws {
        let (kills, _) = try play(10_001..<10_101, onDisk: true)
        if Self.replayed == nil { #expect(kills > 50) }
    }
}
