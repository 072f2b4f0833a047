import PushBytes
import PushCourier
import PushCrypto
import Testing

@testable import PushDevice

@Suite struct CoreMessageTests {
    // MARK: Acknowledgement

    @Test func acknowledgementWaitsForTheCommit() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let outputs = try harness.notify(7, payload: [1, 2])
        #expect(outputs.writes.isEmpty)
        let arrival = try #require(outputs.arrivals.first)
        #expect(arrival.message.topic == exampleTopic && arrival.message.payload == [1, 2])
        let acknowledged = harness.step(.stored(arrival.receipt, isNew: true))
        #expect(
            acknowledged.acknowledgements == [CourierAcknowledgement(messageID: 7, token: exampleAppToken)])
        #expect(harness.core.unconsumed == 1)
    }

    @Test func repeatedMessageIsAcknowledgedAndNotCounted() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let arrival = try #require(try harness.notify(7).arrivals.first)
        #expect(harness.step(.stored(arrival.receipt, isNew: false)).acknowledgements.count == 1)
        #expect(harness.core.unconsumed == 0)
    }

    @Test func acknowledgementNeverLeavesOnAnotherConnection() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let arrival = try #require(try harness.notify(7).arrivals.first)
        _ = harness.step(.disconnected(DisconnectReason(.closedByServer, "test")))
        try harness.goOnline()
        #expect(harness.step(.stored(arrival.receipt, isNew: true)).isEmpty)
        #expect(harness.core.unconsumed == 1)
    }

    @Test func failedCommitEndsTheConnectionAndAcknowledgesNothing() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        _ = try harness.notify(7)
        let outputs = harness.step(.storingFailed("disk full"))
        #expect(outputs.acknowledgements.isEmpty)
        #expect(outputs.lost == .storageFailed)
        #expect(outputs.contains(.disconnect))
        // Everything is as before it came.
        try harness.goOnline()
        let arrival = try #require(try harness.notify(1).arrivals.first)
        #expect(harness.step(.stored(arrival.receipt, isNew: true)).acknowledgements.count == 1)
    }

    @Test func messageOfAForeignTopicIsAnsweredWithFailure() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let foreign = CourierNotification(
            token: exampleAppToken, topicHash: SHA1.digest([1]), payload: [], messageID: 3)
        let outputs = try harness.receive(foreign)
        #expect(outputs.arrivals.isEmpty)
        #expect(outputs.acknowledgements.map(\.status) == [CourierAcknowledgement.failed])
    }

    @Test func malformedMessageIsRefusedAloneIfItHasAnID() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let withID = try CourierFrame(command: CourierCommand.notification, payload: [4, 0, 4, 0, 0, 0, 9])
        let outputs = harness.step(.frame(withID))
        #expect(outputs.acknowledgements == [CourierAcknowledgement(messageID: 9, status: 3)])
        #expect(harness.core.isOnline)
        let without = try CourierFrame(command: CourierCommand.notification)
        #expect(harness.step(.frame(without)).lost == .protocolViolation)
    }

    // MARK: What makes a message the same

    private func key(_ change: (inout CourierNotification) -> Void) -> MessageKey {
        var message = CourierNotification(
            token: exampleAppToken, topicHash: exampleHash, payload: [1, 2, 3], messageID: 1)
        message.timestampNanoseconds = 5
        message.pushID = [UInt8](repeating: 7, count: 16)
        change(&message)
        return InboxMessage(message, topic: "t", receivedAtMilliseconds: 0).key
    }

    @Test func pushIDAndTopicDecideWhetherAMessageIsTheSame() {
        let original = key { _ in }
        #expect(key { $0.messageID = 2 } == original)
        #expect(key { $0.payload = [9] } == original)
        #expect(key { $0.timestampNanoseconds = 6 } == original)
        #expect(key { $0.pushID = [UInt8](repeating: 8, count: 16) } != original)
        #expect(key { $0.topicHash = SHA1.digest([]) } != original)
        #expect(key { $0.pushID = nil } != original)
    }

    @Test func withoutPushIDTimestampAndPayloadDecide() {
        let original = key { $0.pushID = nil }
        func other(_ change: (inout CourierNotification) -> Void) -> MessageKey {
            key {
                $0.pushID = nil
                change(&$0)
            }
        }
        #expect(other { $0.messageID = 2 } == original)
        #expect(other { $0.pushID = [1, 2] } == original)
        #expect(other { $0.payload = [9] } != original)
        #expect(other { $0.timestampNanoseconds = 6 } != original)
        #expect(other { $0.topicHash = SHA1.digest([]) } != original)
        let bare = other { $0.timestampNanoseconds = nil }
        #expect(bare != original)
        #expect(other { ($0.timestampNanoseconds, $0.messageID) = (nil, 2) } != bare)
    }

    // MARK: A full inbox

    @Test func fullInboxTakesNoMoreUntilHalfOfItIsConsumed() throws {
        var limits = DeviceLimits()
        limits.unconsumedMax = 4
        var harness = CoreHarness(limits: limits)
        try harness.goOnline()
        for id in 1...4 {
            let arrival = try #require(try harness.notify(UInt32(id)).arrivals.first)
            if id < 4 { _ = harness.step(.stored(arrival.receipt, isNew: true)) }
        }
        // The fourth is still being stored, and counts.
        #expect(try harness.notify(5) == [.event(.inboxFull)])
        #expect(try harness.notify(6).isEmpty)
        _ = harness.step(.stored(.init(messageID: 4, token: exampleAppToken, session: 1), isNew: true))
        // There is room, but the sixth must not overtake the fifth.
        #expect(harness.step(.consumed(1)).isEmpty)
        #expect(try harness.notify(7).isEmpty)
        let outputs = harness.step(.consumed(1))
        #expect(outputs.contains(.disconnect) && outputs.lost == .catchingUp && outputs.retryDelay == .zero)
        try harness.goOnline()
        #expect(try harness.notify(5).arrivals.count == 1)
    }

    /// Found by the simulation: nobody would ever have consumed anything.
    @Test func roomTakenByARepeatedMessageIsGivenBack() throws {
        var limits = DeviceLimits()
        limits.unconsumedMax = 1
        var harness = CoreHarness(limits: limits)
        try harness.goOnline()
        let arrival = try #require(try harness.notify(1).arrivals.first)
        #expect(try harness.notify(2) == [.event(.inboxFull)])
        let outputs = harness.step(.stored(arrival.receipt, isNew: false))
        #expect(outputs.acknowledgements.count == 1 && outputs.lost == .catchingUp)
    }

    @Test func messagesOfAnEarlierRunCountTowardsTheLimit() throws {
        var limits = DeviceLimits()
        limits.unconsumedMax = 1
        var harness = CoreHarness(limits: limits, unconsumed: 1)
        try harness.goOnline()
        #expect(try harness.notify(1) == [.event(.inboxFull)])
        #expect(harness.step(.consumed(1)).lost == .catchingUp)
    }

    @Test func keepAliveGoesOnWhileTheInboxIsFull() throws {
        var limits = DeviceLimits()
        limits.unconsumedMax = 1
        var harness = CoreHarness(limits: limits, topics: [DeviceTopic(exampleTopic, wantsToken: false)], unconsumed: 1)
        try harness.goOnline()
        _ = try harness.notify(1)
        #expect(try harness.timer().writes == [.keepAlive])
        _ = try harness.receive(CourierKeepAliveResponse())
        #expect(harness.core.isOnline)
    }

    // MARK: Topics and tokens

    @Test func tokenIsReportedAndAskedForOnEveryConnection() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let response = CourierTokenResponse(token: exampleAppToken, topicHash: exampleHash)
        let text = String(repeating: "a0", count: 32)
        #expect(try harness.receive(response) == [.event(.token(topic: exampleTopic, token: text))])
        #expect(harness.core.token(for: exampleTopic) == exampleAppToken)
        #expect(try harness.receive(response).isEmpty)
        _ = harness.step(.disconnected(DisconnectReason(.closedByServer, "test")))
        #expect(harness.core.token(for: exampleTopic) == exampleAppToken)
        #expect(try harness.goOnline().tokenRequests == [exampleTopic])
    }

    @Test func newBaseTokenMakesTheAppTokensUnknown() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        _ = try harness.receive(CourierTokenResponse(token: exampleAppToken, topicHash: exampleHash))
        _ = harness.step(.disconnected(DisconnectReason(.closedByServer, "test")))
        try harness.goOnline(token: [UInt8](repeating: 1, count: 32))
        #expect(harness.core.token(for: exampleTopic) == nil)
    }

    @Test func silenceOverATokenIsAskedAgainOnTheSameConnection() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        for _ in 0..<3 {
            #expect(try harness.timer().tokenRequests == [exampleTopic])
        }
        #expect(harness.core.isOnline)
    }

    @Test func refusedTokenIsAskedAgainOnlyOnRequestOrReconnect() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let refusal = CourierTokenResponse(status: 1, token: [], topicHash: exampleHash)
        #expect(try harness.receive(refusal) == [.event(.tokenRefused(topic: exampleTopic, status: 1))])
        #expect(try harness.timer().writes == [.keepAlive])
        #expect(harness.step(.mintToken(topic: exampleTopic)).tokenRequests == [exampleTopic])
        _ = harness.step(.disconnected(DisconnectReason(.closedByServer, "test")))
        #expect(try harness.goOnline().tokenRequests == [exampleTopic])
    }

    @Test func newTopicsAreFilteredAndOnlyNewOnesAskedFor() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let other = DeviceTopic("com.example.other")
        let paused = DeviceTopic("com.example.app.getui", isPaused: true, wantsToken: false)
        let outputs = harness.step(.setTopics([DeviceTopic(exampleTopic), other, paused]))
        let filter = CourierFilter(
            baseToken: exampleBaseToken, enabled: [exampleHash, other.hash], paused: [paused.hash])
        #expect(outputs.writes.first == .filter(filter))
        #expect(outputs.tokenRequests == ["com.example.other"])
    }

    @Test func topicsMayChangeWhileOffline() throws {
        var harness = CoreHarness()
        #expect(harness.step(.setTopics([DeviceTopic("com.example.other")])).isEmpty)
        #expect(try harness.goOnline().tokenRequests == ["com.example.other"])
    }

    // MARK: Anything at all

    /// Whatever a server sends in whatever order: no trap, and always a deadline ahead.
    @Test func arbitraryFramesNeverWedgeTheCore() throws {
        let values: [[UInt8]] = [
            [], [0], [2], exampleHash, exampleAppToken, [0, 0, 0, 1], [UInt8](repeating: 0xFF, count: 8), [0x10, 0x00],
        ]
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var harness = CoreHarness()
            _ = harness.step(.start)
            for _ in 0..<200 {
                var payload: [UInt8] = []
                for _ in 0..<Int.random(in: 0...5, using: &random) {
                    let value = values.randomElement(using: &random)!
                    payload += [UInt8.random(in: 0...13, using: &random), 0, UInt8(value.count)] + value
                }
                let command = UInt8.random(in: 0x06...0x15, using: &random)
                var outputs = harness.step(.frame(try CourierFrame(command: command, payload: payload)))
                for arrival in outputs.arrivals { outputs += harness.step(.stored(arrival.receipt, isNew: true)) }
                if outputs.lost != nil { outputs += try harness.timer() }
                if outputs.contains(.connect) { _ = harness.step(.connected) }
                if harness.core.nextDeadline == nil { Issue.record("seed \(seed): nothing is awaited any more") }
            }
        }
    }
}
