import PushBytes
import PushCourier
import Testing

@testable import PushDevice

@Suite struct CoreConnectionTests {
    @Test func firstConnectPresentsNoTokenAndKeepsTheOneItGets() throws {
        var harness = CoreHarness()
        #expect(harness.step(.start) == [.event(.connecting), .connect])
        let hello = harness.step(.connected)
        #expect(hello == [.write(.connect(baseToken: nil, clockMilliseconds: harness.wallMilliseconds))])
        let outputs = try harness.receive(
            CourierConnectResponse(baseToken: exampleBaseToken, serverTimeMilliseconds: 0))
        let request = CourierTokenRequest(
            baseToken: exampleBaseToken, topicHash: exampleHash, topicName: exampleTopic)
        #expect(
            outputs == [
                .saveBaseToken(exampleBaseToken),
                .write(.filter(CourierFilter(baseToken: exampleBaseToken, enabled: [exampleHash]))),
                .write(.tokenRequest(request)),
                .write(.activeState(CourierActiveState(state: 1))),
                .event(.connected),
            ])
        #expect(harness.core.isOnline)
    }

    @Test func knownTokenIsPresentedAndNotSavedAgain() throws {
        var harness = CoreHarness(baseToken: exampleBaseToken)
        _ = harness.step(.start)
        let hello = harness.step(.connected)
        #expect(
            hello == [
                .write(.connect(baseToken: exampleBaseToken, clockMilliseconds: harness.wallMilliseconds))
            ])
        let outputs = try harness.receive(CourierConnectResponse(baseToken: nil, serverTimeMilliseconds: 0))
        #expect(outputs.events == [.connected])
        #expect(!outputs.contains { if case .saveBaseToken = $0 { true } else { false } })
    }

    @Test func refusedTokenIsDroppedAndTheClockCorrected() throws {
        var harness = CoreHarness(baseToken: exampleBaseToken)
        _ = harness.step(.start)
        _ = harness.step(.connected)
        var refusal = CourierConnectResponse(
            status: CourierConnectResponse.refused, baseToken: nil, serverTimeMilliseconds: 0)
        refusal.badNonceTimeMilliseconds = UInt64(harness.wallMilliseconds + 500_000)
        let outputs = try harness.receive(refusal)
        #expect(outputs.contains(.saveBaseToken(nil)))
        #expect(outputs.contains(.disconnect))
        #expect(outputs.lost == .refused)
        #expect(try harness.timer().contains(.connect))
        let hello = harness.step(.connected)
        #expect(
            hello == [.write(.connect(baseToken: nil, clockMilliseconds: harness.wallMilliseconds + 500_000))])
    }

    @Test func refusalWithoutATokenKeepsTryingWithBackOff() throws {
        var harness = CoreHarness()
        _ = harness.step(.start)
        for _ in 0..<10 {
            _ = harness.step(.connected)
            let refusal = CourierConnectResponse(status: 2, baseToken: nil, serverTimeMilliseconds: 0)
            #expect(try harness.receive(refusal).lost == .refused)
            #expect(try harness.timer().contains(.connect))
        }
    }

    @Test func acceptanceWithoutAnyTokenIsAViolation() throws {
        var harness = CoreHarness()
        let outputs = try harness.goOnline(token: nil)
        #expect(outputs.lost == .protocolViolation)
        #expect(outputs.contains(.disconnect))
    }

    @Test func silenceEndsEveryPhaseAtItsDeadline() throws {
        var harness = CoreHarness()
        _ = harness.step(.start)
        var start = harness.nanoseconds
        #expect(try harness.timer().lost == .connectionFailed)
        #expect(harness.nanoseconds - start == 10_000_000_000)

        _ = try harness.timer()
        _ = harness.step(.connected)
        start = harness.nanoseconds
        #expect(try harness.timer().lost == .noResponse)
        #expect(harness.nanoseconds - start == 10_000_000_000)
    }

    @Test func unansweredKeepAliveEndsTheConnection() throws {
        var harness = CoreHarness(topics: [])
        try harness.goOnline()
        let start = harness.nanoseconds
        #expect(try harness.timer().writes == [.keepAlive])
        #expect(harness.nanoseconds - start == 60_000_000_000)
        let outputs = try harness.timer()
        #expect(harness.nanoseconds - start == 75_000_000_000)
        #expect(outputs.lost == .keepAliveUnanswered)
        #expect(outputs.contains(.disconnect))
    }

    @Test func answeredKeepAlivesGoOnForEver() throws {
        var harness = CoreHarness(topics: [])
        try harness.goOnline()
        for _ in 0..<100 {
            #expect(try harness.timer().writes == [.keepAlive])
            harness.advance(.seconds(14))
            #expect(try harness.receive(CourierKeepAliveResponse()).isEmpty)
        }
        #expect(harness.core.isOnline)
    }

    @Test func aTimerThatFiresEarlyDoesNothing() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let deadline = harness.core.nextDeadline
        #expect(harness.step(.timer).isEmpty)
        #expect(harness.core.nextDeadline == deadline)
    }

    @Test func keepAliveOfTheServerIsAnswered() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        #expect(try harness.receive(CourierKeepAlive()).writes == [.keepAliveResponse])
    }

    @Test func waitsDoubleUpToTheirBoundAndJitterFully() throws {
        let bounds: [Int] = [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]
        var longest = [Duration](repeating: .zero, count: bounds.count)
        for seed in 0..<200 {
            var harness = CoreHarness()
            harness.core.random = .init(seed: UInt64(seed))
            _ = harness.step(.start)
            for (round, bound) in bounds.enumerated() {
                let outputs = harness.step(.disconnected(DisconnectReason(.connectionFailed, "test")))
                let delay = try #require(outputs.retryDelay)
                #expect(delay >= .zero && delay <= .milliseconds(bound))
                longest[round] = max(longest[round], delay)
                _ = try harness.timer()
            }
        }
        // Of 200 draws the longest lies above nine tenths of the bound but for one case in a billion.
        for (round, bound) in bounds.enumerated() { #expect(longest[round] > .milliseconds(bound * 9 / 10)) }
    }

    @Test(arguments: [29, 30]) func waitsAreShortAgainAfterAStableConnection(seconds: Int) throws {
        var harness = CoreHarness(topics: [])
        _ = harness.step(.start)
        for _ in 0..<20 {
            _ = harness.step(.disconnected(DisconnectReason(.connectionFailed, "test")))
            _ = try harness.timer()
        }
        _ = harness.step(.connected)
        _ = try harness.receive(CourierConnectResponse(baseToken: exampleBaseToken, serverTimeMilliseconds: 0))
        harness.advance(.seconds(seconds))
        _ = harness.step(.disconnected(DisconnectReason(.closedByServer, "test")))
        #expect(harness.core.failures == (seconds == 30 ? 1 : 21))
    }

    @Test func stopClosesAndNothingFollows() throws {
        var harness = CoreHarness()
        try harness.goOnline()
        let outputs = harness.step(.stop)
        #expect(outputs.contains(.disconnect))
        #expect(outputs.lost == .stopped && outputs.retryDelay == nil)
        #expect(harness.core.nextDeadline == nil)
        #expect(harness.step(.timer).isEmpty && harness.step(.stop).isEmpty)
        #expect(try harness.notify(1).isEmpty)
        #expect(harness.step(.start) == [.event(.connecting), .connect])
    }

    @Test func framesOutOfPlaceAndUnknownFramesAreSkipped() throws {
        var harness = CoreHarness()
        _ = harness.step(.start)
        #expect(try harness.notify(1).isEmpty)
        #expect(try harness.receive(CourierKeepAliveResponse()).isEmpty)
        try harness.goOnline()
        #expect(harness.step(.frame(try CourierFrame(command: 0x77))).isEmpty)
        #expect(try harness.receive(CourierNoStorage(token: exampleAppToken)).isEmpty)
        #expect(try harness.receive(CourierKeepAliveResponse()).isEmpty)
        let again = CourierConnectResponse(baseToken: [9], serverTimeMilliseconds: 0)
        #expect(try harness.receive(again).isEmpty)
        #expect(harness.core.baseToken == exampleBaseToken)
    }

    @Test func malformedAnswerToTheFirstFrameEndsTheConnection() throws {
        var harness = CoreHarness()
        _ = harness.step(.start)
        _ = harness.step(.connected)
        let outputs = harness.step(.frame(try CourierFrame(command: CourierCommand.connectResponse)))
        #expect(outputs.lost == .protocolViolation)
        #expect(outputs.contains(.disconnect))
    }
}
