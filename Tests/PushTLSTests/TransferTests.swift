import PushBytes
import Testing

@testable import PushTLS

@Suite struct TransferTests {
    private func established() throws -> TLSPair {
        let pair = try TLSPair()
        pair.run()
        #expect(pair.client.isEstablished && pair.server.isEstablished)
        return pair
    }

    private func pattern(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    @Test func bigDataPassesBothWays() throws {
        let pair = try established()
        let up = pattern(1_000_000, seed: 1)
        let down = pattern(700_001, seed: 2)
        try pair.client.send(up)
        try pair.server.send(down)
        pair.run(step: 1447)
        #expect(pair.serverPlain.bytes == up)
        #expect(pair.clientPlain.bytes == down)
        #expect(pair.clientError == nil && pair.serverError == nil)
    }

    @Test func recordsMayBeSplitAtEachByte() throws {
        let pair = try established()
        for length in [0, 1, 5, 300, 16384, 16385] {
            let sent = pattern(length, seed: UInt64(length))
            try pair.client.send(sent)
            pair.run(step: 1)
            #expect(pair.serverPlain.bytes == sent)
            pair.serverPlain.removeAll()
        }
    }

    @Test func manyRecordsInOneReceiveAllComeOut() throws {
        let pair = try established()
        for number in 0..<500 { try pair.client.send([UInt8(number & 0xFF), 7, 7]) }
        pair.run()
        #expect(pair.serverPlain.count == 1500)
        #expect((0..<500).allSatisfy { pair.serverPlain[$0 * 3] == UInt8($0 & 0xFF) })
    }

    @Test func bytesSentEarlyArriveInOrder() throws {
        let pair = try TLSPair()
        try pair.client.send([1, 2])
        try pair.client.send([3])
        try pair.server.send([9])
        #expect(pair.server.waitingBytes == 0)
        pair.run()
        try pair.client.send([4])
        pair.run()
        #expect(pair.serverPlain.bytes == [1, 2, 3, 4])
        #expect(pair.clientPlain.bytes == [9])
    }

    @Test func earlyBytesHaveALimit() throws {
        let pair = try TLSPair()
        let half = [UInt8](repeating: 0, count: TLSEngine.earlyBytesMax / 2)
        try pair.client.send(half)
        try pair.client.send(half)
        #expect(throws: TLSError.self) { try pair.client.send([0]) }
        pair.run()
        #expect(pair.serverPlain.count == TLSEngine.earlyBytesMax)
    }

    @Test func closeNotifyIsSeenAfterTheData() throws {
        let pair = try established()
        try pair.client.send([1, 2, 3])
        pair.client.close()
        pair.client.close()
        #expect(throws: TLSError.self) { try pair.client.send([4]) }
        pair.run()
        #expect(pair.serverPlain.bytes == [1, 2, 3])
        #expect(pair.server.peerClosed && pair.serverError == nil)
        #expect(!pair.client.peerClosed)
        // The other direction still works.
        try pair.server.send([5])
        pair.server.close()
        pair.run()
        #expect(pair.clientPlain.bytes == [5])
        #expect(pair.client.peerClosed && pair.clientError == nil)
        try pair.server.receive([1, 2, 3], into: &pair.serverPlain)
        #expect(pair.serverPlain.count == 3)
    }

    @Test func cutConnectionIsNotTakenForAClosedOne() throws {
        let pair = try established()
        try pair.client.send([1, 2, 3])
        pair.client.close()
        var cipher = ByteQueue()
        pair.client.drain(into: &cipher)
        try pair.server.receive(Array(cipher.bytes.dropLast()), into: &pair.serverPlain)
        #expect(pair.serverPlain.bytes == [1, 2, 3])
        #expect(!pair.server.peerClosed)
    }

    @Test func closeBeforeTheHandshakeWaitsForItAndForWhatWasSent() throws {
        let pair = try TLSPair()
        try pair.client.send([1, 2])
        pair.client.close()
        #expect(throws: TLSError.self) { try pair.client.send([3]) }
        pair.run()
        #expect(pair.serverPlain.bytes == [1, 2])
        #expect(pair.server.peerClosed && pair.serverError == nil)
    }

    @Test func closeBeforeTheFirstByteSaysNothing() throws {
        let server = try TLSEngine(server: TestIdentity.good.server())
        server.close()
        #expect(server.waitingBytes == 0)
        #expect(throws: TLSError.self) { try server.send([1]) }
    }

    @Test func changedByteInARecordFailsAndYieldsAnAlert() throws {
        let pair = try established()
        try pair.client.send(pattern(100, seed: 3))
        var cipher = ByteQueue()
        pair.client.drain(into: &cipher)
        var bytes = cipher.bytes
        bytes[50] ^= 1
        #expect {
            try pair.server.receive(bytes, into: &pair.serverPlain)
        } throws: {
            ($0 as? TLSError)?.kind == .protocolViolation
        }
        #expect(pair.serverPlain.isEmpty)
        #expect(pair.server.waitingBytes > 0)
        #expect {
            try pair.server.receive([1], into: &pair.serverPlain)
        } throws: {
            ($0 as? TLSError)?.kind == .closed
        }
        #expect(throws: TLSError.self) { try pair.server.send([1]) }
        pair.run()
        #expect(pair.clientError?.kind.isRefusal == true)
    }

    @Test func idleEngineHoldsNoQueueMemory() throws {
        let pair = try established()
        #expect(pair.server.heldBytes == 0 && pair.client.heldBytes == 0)
        try pair.server.send(pattern(5000, seed: 4))
        pair.run()
        pair.server.releaseMemory()
        #expect(pair.server.heldBytes == 0)
    }
}
