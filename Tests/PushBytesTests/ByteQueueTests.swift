import PushBytes
import Testing

struct ByteQueueTests {
    @Test func anyRunOfOperationsAgreesWithAPlainArray() {
        let seed = testSeed()
        for round in 0..<300 {
            var random = SeededRandom(seed: SeededRandom.mix(seed) &+ UInt64(round))
            var pair = QueueAndModel(capacity: Bool.random(using: &random) ? 0 : Int.random(in: 0...64, using: &random))
            for step in 0..<60 {
                pair.perform(&random)
                let agrees = pair.agrees
                #expect(agrees, "SEED=\(seed), round \(round), step \(step)")
                if !agrees { return }
            }
        }
    }

    @Test func steadyUseDoesNotGrowTheBuffer() {
        var queue = ByteQueue()
        for _ in 0..<10_000 {
            queue.append([UInt8](repeating: 7, count: 100))
            queue.append([UInt8](repeating: 8, count: 100))
            queue.consume(queue.count > 600 ? 300 : 100)
        }
        while queue.count > 300 { queue.consume(100) }
        let before = queue.capacity
        for _ in 0..<10_000 {
            queue.append([UInt8](repeating: 9, count: 100))
            queue.consume(100)
        }
        #expect(queue.capacity <= max(before, 4 * 400))
    }

    @Test func anEmptyQueueHoldsNoMemory() {
        #expect(ByteQueue().capacity == 0)
    }

    @Test func shrinkGivesMemoryBackOnlyWhenNothingIsReadable() {
        var queue = ByteQueue(capacity: 4096)
        queue.append(1)
        queue.shrink(to: 0)
        #expect(queue.capacity == 4096)
        queue.consume(1)
        queue.shrink(to: 8192)
        #expect(queue.capacity == 4096)
        queue.shrink(to: 0)
        #expect(queue.capacity == 0)
        queue.append("again" as StaticString)
        #expect(queue.bytes == Array("again".utf8))
    }

    @Test func numbersAreWrittenMostSignificantByteFirst() {
        var queue = ByteQueue()
        queue.appendBigEndian(UInt8(0x01))
        queue.appendBigEndian(UInt16(0x0203))
        queue.appendBigEndian(UInt32(0x0405_0607))
        queue.appendBigEndian(UInt64(0x0809_0A0B_0C0D_0E0F))
        #expect(queue.bytes == Array(1...15))
        queue.appendBigEndian(0x1122_3344, byteCount: 3)
        queue.appendBigEndian(Int16(-2))
        #expect(queue.bytes == Array(1...15) + [0x22, 0x33, 0x44, 0xFF, 0xFE])
        queue = ByteQueue(capacity: 15)
        queue.append(Array(1...15))
        queue.consume(2)
        queue.overwriteBigEndian(0xAABB_CCDD, at: 1)
        #expect(queue.bytes == [3, 0xAA, 0xBB, 0xCC, 0xDD] + Array(8...15))
    }

    @Test func aCopyIsIndependent() {
        var queue = ByteQueue()
        queue.append([1, 2, 3])
        var copy = queue
        copy.consume(1)
        copy.append(4)
        #expect(queue.bytes == [1, 2, 3])
        #expect(copy.bytes == [2, 3, 4])
    }

    @Test func movingIntoAnEmptyQueueHandsTheBufferOver() {
        var source = ByteQueue(capacity: 1024)
        var target = ByteQueue()
        source.append([1, 2, 3])
        source.consume(1)
        source.move(into: &target)
        #expect(target.bytes == [2, 3])
        #expect(target.capacity == 1024)
        #expect(source.isEmpty && source.capacity == 0)
    }

    @Test func anErrorInsideWithSpanComesOut() {
        struct Refused: Error {}
        let queue = ByteQueue()
        #expect(throws: Refused.self) {
            try queue.withSpan { (_: Span<UInt8>) throws(Refused) -> Void in throw Refused() }
        }
    }
}

/// A queue and what it should hold.
private struct QueueAndModel {
    var queue: ByteQueue
    var model: [UInt8] = []

    init(capacity: Int) { queue = ByteQueue(capacity: capacity) }

    var agrees: Bool {
        guard queue.count == model.count, queue.isEmpty == model.isEmpty, queue.bytes == model,
            queue.capacity >= queue.count, queue.withReadable({ Array($0) }) == model
        else { return false }
        let spanned = queue.withSpan { span in span.indices.map { span[$0] } }
        return spanned == model && model.indices.allSatisfy { queue[$0] == model[$0] }
    }

    mutating func perform(_ random: inout SeededRandom) {
        let bytes = random.bytes(
            Int.random(in: 0...(Int.random(in: 0..<8, using: &random) == 0 ? 900 : 40), using: &random))
        switch Int.random(in: 0..<13, using: &random) {
        case 0:
            queue.append(0x5A)
            model.append(0x5A)
        case 1:
            queue.append(bytes)
            model += bytes
        case 2:
            queue.append(bytes.span)
            model += bytes
        case 3:
            queue.append(bytes[(bytes.count / 2)...])
            model += bytes[(bytes.count / 2)...]
        case 4:
            queue.append("grüß" + String(bytes.count))
            model += Array(("grüß" + String(bytes.count)).utf8)
        case 5: write(bytes)
        case 12:
            let value = random.next()
            let count = Int.random(in: 1...8, using: &random)
            queue.appendBigEndian(value, byteCount: count)
            model += (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
        case 6...8:
            let count = Int.random(in: 0...model.count, using: &random)
            queue.consume(count)
            model.removeFirst(count)
        case 9: moveThrough(bytes)
        case 10:
            let lower = Int.random(in: 0...model.count, using: &random)
            var copy: [UInt8] = [1]
            queue.copy(lower..<model.count, to: &copy)
            queue.append(copy)
            model += [1] + model[lower...]
        default:
            if Bool.random(using: &random) {
                queue.removeAll()
                model = []
            }
            queue.shrink(to: 16)
        }
    }

    private mutating func write(_ bytes: [UInt8]) {
        let written = queue.appendWritten(minimum: bytes.count) { room in
            room.copyBytes(from: bytes)
            return bytes.count
        }
        precondition(written == bytes.count)
        model += bytes
    }

    /// Moves everything behind `bytes` in another queue, and takes that queue.
    private mutating func moveThrough(_ bytes: [UInt8]) {
        var other = ByteQueue(capacity: bytes.count % 3 * 100)
        other.append(bytes)
        queue.move(into: &other)
        precondition(queue.isEmpty)
        queue = other
        model = bytes + model
    }
}
