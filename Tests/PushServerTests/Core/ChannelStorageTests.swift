import PushBytes
import PushCore
import Testing

@testable import PushServer

/// What a channel keeps for devices that come later, without a wire.
@Suite struct ChannelStorageTests {
    private let harness = CoreHarness()
    private let hour: Int64 = 3_600_000

    private func channel(_ policy: ChannelPolicy) -> Channel {
        harness.core.createChannel(harness.app, policy, .sandbox, now: harness.now)
    }

    /// `hours` from now is its expiration.
    private func broadcast(_ channel: Channel, hours: Int64) -> Int64 {
        let seconds = hours == 0 ? 0 : (CoreHarness.start + harness.elapsed + hours * hour) / 1000
        return harness.core.broadcast(
            BroadcastNotification(expiration: seconds, priority: 10), on: channel, now: harness.now
        ).sequence
    }

    private func pass(hours: Int64, and milliseconds: Int64 = 0) {
        harness.elapsed += hours * hour + milliseconds
        harness.core.timePassed(now: harness.now)
    }

    /// The broadcasts that a virtual device gets which subscribes now.
    private func receivedByNewcomer(_ channel: Channel) throws -> [Int64] {
        let made = harness.core.addVirtualDevice(
            app: harness.app, name: nil, environment: .sandbox, isOnline: true, now: harness.now)
        harness.core.outputs = []
        let subscription = try #require(harness.core.join(made, channel))
        harness.core.replay(subscription, now: harness.now)
        return harness.core.outputs.compactMap { output in
            guard case .event(let event) = output, event.milestone == .acknowledged else { return nil }
            return event.push
        }
    }

    @Test func theNewestIsKeptUntilItsExpiration() throws {
        let channel = channel(.newest)
        _ = broadcast(channel, hours: 2)
        let newest = broadcast(channel, hours: 1)
        #expect(try receivedByNewcomer(channel) == [newest])
        pass(hours: 1, and: -1)
        #expect(try receivedByNewcomer(channel) == [newest])
        pass(hours: 0, and: 2)
        #expect(try receivedByNewcomer(channel) == [])
    }

    @Test func eightHoursAreTheMost() throws {
        let channel = channel(.newest)
        let kept = broadcast(channel, hours: 24 * 365)
        pass(hours: 8, and: -1)
        #expect(try receivedByNewcomer(channel) == [kept])
        pass(hours: 0, and: 2)
        #expect(try receivedByNewcomer(channel) == [])
    }

    @Test func whatIsNotToBeKeptLeavesTheKeptOneAlone() throws {
        let channel = channel(.newest)
        let kept = broadcast(channel, hours: 1)
        _ = broadcast(channel, hours: 0)
        #expect(try receivedByNewcomer(channel) == [kept])
    }

    @Test func aChannelThatKeepsNothingHasNothingForNewcomers() throws {
        let channel = channel(.none)
        _ = broadcast(channel, hours: 0)
        #expect(try receivedByNewcomer(channel) == [])
    }
}
