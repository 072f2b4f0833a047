import Foundation
import PushDevice
import PushServer
import Testing

/// Broadcasts to a phone of the device SDK, over the device protocol.
@Suite(.serialized) struct BroadcastPhoneTests {
    private func phone(_ bench: CaseBench, stateDirectory: String? = nil) throws -> PushDevice {
        var configuration = DeviceConfiguration(
            trust: .authorities(pem: bench.authority), topics: [CaseBench.topic])
        configuration.port = try #require(bench.server.ready.courier.split(separator: ":").last.flatMap { UInt16($0) })
        configuration.stateDirectory = stateDirectory
        return PushDevice(configuration)
    }

    /// Waits for the first event that `body` makes something of.
    private func event<Found>(_ phone: PushDevice, _ body: (DeviceEvent) -> Found?) async throws -> Found {
        for await event in phone.events {
            if let found = body(event) { return found }
        }
        throw CaseFailure("the phone's events ended")
    }

    private func subscribed(_ phone: PushDevice, to channel: String) async throws {
        let name = try await event(phone) { event -> String? in
            if case .subscribed(let channel) = event { channel } else { nil }
        }
        #expect(name == channel)
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["0x1D", "0x20"])
    func aPhoneReceivesWhatItSubscribedTo(_ command: String) async throws {
        try await CaseBench.run(settings: ["broadcast.replyCommand": command]) { bench in
            let id = try bench.channel(policy: 0)
            let phone = try phone(bench)
            try await phone.start()
            try phone.subscribe(channel: id, topic: CaseBench.topic)
            try await subscribed(phone, to: id)
            let push = try bench.broadcast(id)
            var messages = phone.messages.makeAsyncIterator()
            let message = try #require(await messages.next())
            #expect(message.pushID == push)
            #expect(message.broadcastChannel == id)
            #expect(message.pushType == "liveactivity")
            #expect(!message.isFromStorage)
            message.acknowledge()
            try bench.expect(push, reaches: "acknowledged")

            // Left and joined again; what came between is gone.
            try phone.unsubscribe(channel: id)
            let other = try bench.channel(policy: 0)
            try phone.subscribe(channel: other, topic: CaseBench.topic)
            try await subscribed(phone, to: other)
            let missed = try bench.broadcast(id)
            #expect(try bench.sentence(missed).contains("no device had subscribed"))
            await phone.stop()
        }
    }

    @Test(.timeLimit(.minutes(1))) func anUnknownChannelIsRefused() async throws {
        try await CaseBench.run { bench in
            let phone = try phone(bench)
            try await phone.start()
            try phone.subscribe(channel: "AAAA", topic: CaseBench.topic)
            let status = try await event(phone) { event -> Int? in
                if case .subscriptionRefused("AAAA", let status) = event { status } else { nil }
            }
            #expect(status == 2)
            #expect(throws: DeviceError.self) { try phone.subscribe(channel: "%", topic: CaseBench.topic) }
            await phone.stop()
        }
    }

    @Test(.timeLimit(.minutes(1))) func aPhoneThatComesBackFindsTheNewestOnceWithoutAskingAgain() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("phone-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await CaseBench.run { bench in
            let id = try bench.channel(policy: 1)
            let first = try phone(bench, stateDirectory: directory)
            try await first.start()
            try first.subscribe(channel: id, topic: CaseBench.topic)
            try await subscribed(first, to: id)
            await first.stop()
            _ = try bench.broadcast(id, seconds: 3600, score: 1)
            let newest = try bench.broadcast(id, seconds: 3600, score: 2)

            // The subscription is the server's to keep: this run never subscribes.
            let second = try phone(bench, stateDirectory: directory)
            try await second.start()
            var messages = second.messages.makeAsyncIterator()
            let message = try #require(await messages.next())
            #expect(message.pushID == newest)
            #expect(message.isFromStorage && message.isLastStored)
            #expect(message.broadcastChannel == id)
            message.acknowledge()
            try bench.expect(newest, reaches: "acknowledged")
            await second.stop()

            let third = try phone(bench, stateDirectory: directory)
            try await third.start()
            try third.subscribe(channel: id, topic: CaseBench.topic)
            try await subscribed(third, to: id)
            let next = try bench.broadcast(id, seconds: 3600, score: 3)
            var rest = third.messages.makeAsyncIterator()
            #expect(await rest.next()?.pushID == next, "the one before does not come twice")
            await third.stop()
        }
    }
}
