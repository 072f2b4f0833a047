import PushBytes
import PushCourier
import Testing

struct FrameTests {
    @Test func itemsKeepTheirOrderAndMayRepeat() throws {
        let frame = try CourierFrame(
            command: 9, payload: itemBytes(2, [1]) + itemBytes(1, [2]) + itemBytes(2, []) + itemBytes(2, [3, 4]))
        #expect(frame.items.map(\.id) == [2, 1, 2, 2])
        #expect(frame.items(2) == [[1], [], [3, 4]])
        #expect(frame.item(2) == [1])
        #expect(frame.item(7) == nil)
        #expect(frame.items(7).isEmpty)
    }

    @Test func aNumberHasExactlyTheWidthOfItsType() throws {
        let frame = try CourierFrame(command: 8, payload: itemBytes(1, [0x80, 0x01]) + itemBytes(2, []))
        #expect(frame.integer(1, as: UInt16.self) == 0x8001)
        #expect(frame.integer(1, as: UInt8.self) == nil)
        #expect(frame.integer(1, as: UInt32.self) == nil)
        #expect(frame.integer(2, as: UInt8.self) == nil)
        #expect(frame.integer(3, as: UInt16.self) == nil)
        let wide = try CourierFrame(command: 8, payload: itemBytes(1, Array(repeating: 0xFF, count: 8)))
        #expect(wide.integer(1, as: UInt64.self) == .max)
    }

    @Test func theWriterWritesWhatTheDecoderReads() throws {
        var queue = ByteQueue()
        queue.append([9, 9, 9])
        let longest = [UInt8](repeating: 5, count: CourierWriter.itemBytesMax)
        let writer = CourierWriter.begin(0x0A, in: &queue)
        writer.item(1, [1, 2], in: &queue)
        writer.item(2, [3].span, in: &queue)
        writer.item(3, "ü", in: &queue)
        writer.item(4, integer: UInt16(0x0506), in: &queue)
        writer.item(5, longest, in: &queue)
        writer.end(in: &queue)
        queue.consume(3)
        let frame = try #require(try decode(queue.bytes, limit: 70_000).first)
        #expect(frame.items.map(\.id) == [1, 2, 3, 4, 5])
        #expect(frame.items.map { Array($0.value) } == [[1, 2], [3], [0xC3, 0xBC], [5, 6], longest])
    }

    @Test func itemsWithoutAFrameAreRefused() {
        #expect(throws: CourierError.itemOutsideFrame(command: 3)) {
            try CourierFrame(command: 3, payload: [1, 0])
        }
    }
}
