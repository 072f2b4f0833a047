import PushBytes
import PushCourier
import Testing

struct DecoderTests {
    @Test func framesComeOutTheSameHoweverTheBytesAreCut() throws {
        let stream =
            frameBytes(0x0C) + frameBytes(0x0B, itemBytes(4, [1, 2, 3, 4]) + itemBytes(8, [0]))
            + frameBytes(0xEE, itemBytes(9, [])) + frameBytes(0x09, itemBytes(1, Array(repeating: 7, count: 300)))
        let whole = try decode(stream)
        #expect(whole.map(\.command) == [0x0C, 0x0B, 0xEE, 0x09])
        for cut in 0...stream.count {
            var decoder = CourierDecoder()
            var frames: [CourierFrame] = []
            for part in [stream[..<cut], stream[cut...]] {
                decoder.receive(Array(part).span)
                while let frame = try decoder.next() { frames.append(frame) }
            }
            #expect(frames == whole, "cut at \(cut)")
            #expect(decoder.bufferedBytes == 0)
        }
        var decoder = CourierDecoder()
        var frames: [CourierFrame] = []
        for byte in stream {
            decoder.receive([byte].span)
            while let frame = try decoder.next() { frames.append(frame) }
        }
        #expect(frames == whole)
    }

    @Test func fourGibibytesAnnouncedAreRefusedByTheHeader() {
        var decoder = CourierDecoder()
        decoder.receive(frameBytes(0x0A, announcing: .max).span)
        let expected = CourierError.frameTooLarge(command: 0x0A, payloadBytes: .max, payloadBytesMax: 16 * 1024)
        #expect(throws: expected) { try decoder.next() }
        #expect(decoder.bufferedBytes == 0)
    }

    @Test func afterAnErrorNothingIsKeptAndTheErrorStays() {
        var decoder = CourierDecoder(frameBytesMax: 10)
        decoder.receive((frameBytes(0x0A, announcing: 11) + frameBytes(0x0C)).span)
        let expected = CourierError.frameTooLarge(command: 0x0A, payloadBytes: 11, payloadBytesMax: 10)
        for _ in 0..<3 {
            #expect(throws: expected) { try decoder.next() }
            decoder.receive(frameBytes(0x0C).span)
            #expect(decoder.bufferedBytes == 0)
        }
    }

    @Test func framesBeforeABrokenOneStillComeOut() throws {
        var decoder = CourierDecoder()
        decoder.receive((frameBytes(0x0C) + frameBytes(0x0B, [4])).span)
        #expect(try decoder.next()?.command == 0x0C)
        #expect(throws: CourierError.itemOutsideFrame(command: 0x0B)) { try decoder.next() }
    }

    @Test(arguments: [0, 1, 100, 16 * 1024])
    func aPayloadAtTheLimitIsTakenAndOneByteMoreIsNot(limit: Int) throws {
        let fitting = limit < 3 ? [] : itemBytes(1, Array(repeating: 0, count: limit - 3))
        #expect(try decode(frameBytes(0x0A, fitting), limit: limit).first?.payload == fitting)
        #expect(throws: CourierError.self) {
            try decode(frameBytes(0x0A, announcing: UInt32(limit + 1)), limit: limit)
        }
    }

    @Test(
        arguments: [
            [4], [4, 0], [4, 0, 1], [4, 0xFF, 0xFF, 0], [4, 0, 0, 4], [4, 0, 2, 1], [4, 0, 1, 9, 4, 0],
            [4, 0, 1, 9, 4, 0, 1],
        ] as [[UInt8]])
    func anItemThatRunsPastItsFrameIsRefused(payload: [UInt8]) {
        #expect(throws: CourierError.itemOutsideFrame(command: 0x0B)) { try decode(frameBytes(0x0B, payload)) }
        #expect(throws: CourierError.itemOutsideFrame(command: 0x0B)) {
            try decode(frameBytes(0x0B, payload) + frameBytes(0x0C))
        }
    }

    @Test func anyBytesEndInFramesOrOneError() {
        let seed = testSeed()
        var errors = 0
        var frames = 0
        for round in 0..<5000 {
            var random = SeededRandom(seed: SeededRandom.mix(seed) &+ UInt64(round))
            var decoder = CourierDecoder(frameBytesMax: 64)
            var stream = round.isMultiple(of: 2) ? random.bytes(100) : almostFrames(&random)
            do {
                while !stream.isEmpty {
                    let part = stream.prefix(Int.random(in: 1...stream.count, using: &random))
                    stream.removeFirst(part.count)
                    decoder.receive(Array(part).span)
                    while let frame = try decoder.next() {
                        frames += 1
                        #expect(frame.payload.count <= 64, "SEED=\(seed), round \(round)")
                        let bytes = frame.items.flatMap { itemBytes($0.id, Array($0.value)) }
                        #expect(bytes == frame.payload, "SEED=\(seed), round \(round)")
                        readAsEverything(frame)
                    }
                    #expect(decoder.bufferedBytes < 5 + 64, "SEED=\(seed), round \(round)")
                }
            } catch {
                errors += 1
            }
        }
        #expect(errors > 1000 && frames > 1000)
    }

    @Test func refillingAFrameReplacesAllOfIt() throws {
        var decoder = CourierDecoder()
        decoder.receive((frameBytes(0x0B, itemBytes(4, [1, 2, 3, 4])) + frameBytes(0x0C)).span)
        var frame = try CourierFrame(command: 0)
        #expect(try decoder.next(into: &frame))
        #expect(frame.command == 0x0B && frame.integer(4, as: UInt32.self) == 0x0102_0304)
        #expect(try decoder.next(into: &frame))
        #expect(try frame == CourierFrame(command: 0x0C))
        #expect(try !decoder.next(into: &frame))
        #expect(try frame == CourierFrame(command: 0x0C))
    }

    /// A few frames with random items, every second time with one byte changed.
    private func almostFrames(_ random: inout SeededRandom) -> [UInt8] {
        var stream: [UInt8] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            var payload: [UInt8] = []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let width = [0, 1, 2, 4, 8, 9].randomElement(using: &random)!
                payload += itemBytes(UInt8.random(in: 1...14, using: &random), random.bytes(width))
            }
            stream += frameBytes(UInt8.random(in: 0x07...0x15, using: &random), payload)
        }
        if Bool.random(using: &random) {
            stream[Int.random(in: stream.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        return stream
    }

    private func readAsEverything(_ frame: CourierFrame) {
        _ = try? CourierConnect(frame)
        _ = try? CourierConnectResponse(frame)
        _ = try? CourierFilter(frame)
        _ = try? CourierNotification(frame)
        _ = try? CourierUpstream(frame)
        _ = try? CourierAcknowledgement(frame)
        _ = try? CourierTokenRequest(frame)
        _ = try? CourierTokenResponse(frame)
        _ = try? CourierNoStorage(frame)
        _ = try? CourierActiveInterval(frame)
        _ = try? CourierActiveState(frame)
    }
}
