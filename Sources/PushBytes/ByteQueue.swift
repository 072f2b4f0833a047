/// A first-in, first-out run of bytes: engines read from its front while others append at its back.
///
/// One contiguous buffer; it grows by doubling and never shrinks unless `shrink(to:)` is called. A plain value,
/// not tied to a thread. It has no limit of its own: the owner checks `count` against its limit before appending.
public struct ByteQueue: Sendable {
    /// Always fully initialised; the readable bytes are `head..<tail`.
    private var storage: [UInt8]
    private var head = 0
    private var tail = 0

    /// Makes an empty queue with room for `capacity` bytes (default none: an idle queue costs nothing).
    public init(capacity: Int = 0) {
        precondition(capacity >= 0, "a capacity is not negative")
        storage = capacity == 0 ? [] : [UInt8](repeating: 0, count: capacity)
    }

    /// Bytes that can be read.
    public var count: Int { tail - head }

    public var isEmpty: Bool { tail == head }

    /// Bytes of memory held, readable or free.
    public var capacity: Int { storage.count }

    /// The readable byte at `index`, counted from the front.
    public subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < tail - head, "the index lies within the readable bytes")
        return storage[head + index]
    }

    public mutating func append(_ byte: UInt8) {
        reserve(1)
        storage[tail] = byte
        tail += 1
    }

    public mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(UnsafeRawBufferPointer($0)) }
    }

    public mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    public mutating func append(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { append($0) }
    }

    public mutating func append(_ bytes: StaticString) {
        append(UnsafeRawBufferPointer(start: bytes.utf8Start, count: bytes.utf8CodeUnitCount))
    }

    public mutating func append(_ text: String) {
        var copy = text
        copy.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends what C owns; the bytes are copied before the call returns.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count)
        let at = tail
        storage.withUnsafeMutableBytes {
            $0.baseAddress!.advanced(by: at).copyMemory(from: source, byteCount: bytes.count)
        }
        tail += bytes.count
    }

    /// Appends an integer in network order (most significant byte first), as wide as its type: at most 8 bytes.
    // Inlinable, since the generic form costs as much as ten appended bytes when it is called from another module.
    @inlinable
    public mutating func appendBigEndian<Integer: FixedWidthInteger>(_ value: Integer) {
        appendBigEndian(UInt64(truncatingIfNeeded: value), byteCount: Integer.bitWidth / 8)
    }

    /// Appends the `byteCount` (at most 8) low bytes of `value` in network order.
    public mutating func appendBigEndian(_ value: UInt64, byteCount: Int) {
        precondition(byteCount > 0 && byteCount <= 8, "one to eight bytes are written")
        reserve(8)
        let leftmost = (value << UInt64(64 - 8 * byteCount)).bigEndian
        let at = tail
        storage.withUnsafeMutableBytes { $0.storeBytes(of: leftmost, toByteOffset: at, as: UInt64.self) }
        tail += byteCount
    }

    /// Overwrites four readable bytes at `index` with `value` in network order: how a length is filled in afterwards.
    public mutating func overwriteBigEndian(_ value: UInt32, at index: Int) {
        precondition(index >= 0 && index + 4 <= count, "the four bytes lie within the readable bytes")
        for offset in 0..<4 {
            storage[head + index + offset] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * offset))
        }
    }

    /// Lets `body` write into at least `minimum` free bytes and say how many it wrote; returns that number.
    @discardableResult
    public mutating func appendWritten(minimum: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        reserve(minimum)
        let at = tail
        let written = storage.withUnsafeMutableBytes { all in
            body(UnsafeMutableRawBufferPointer(rebasing: all[at...]))
        }
        precondition(written >= 0 && at + written <= storage.count, "no more was written than there was room for")
        tail += written
        return written
    }

    /// Drops `count` bytes from the front.
    public mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= tail - head, "only readable bytes can be consumed")
        head += count
        if head == tail {
            head = 0
            tail = 0
        }
    }

    public mutating func removeAll() {
        head = 0
        tail = 0
    }

    /// Gives memory back when the queue is empty and holds more than `capacity` bytes.
    public mutating func shrink(to capacity: Int) {
        if isEmpty && storage.count > capacity {
            self = ByteQueue(capacity: capacity)
        }
    }

    /// Calls `body` with the readable bytes. The pointer does not outlive the call.
    public func withReadable<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[head..<tail])) }
    }

    /// Calls `body` with the readable bytes as a span.
    public func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage.span.extracting(head..<tail))
    }

    /// A copy of the readable bytes.
    public var bytes: [UInt8] { Array(storage[head..<tail]) }

    /// Appends a copy of the readable bytes in `range` to `array`, whose room is reused.
    public func copy(_ range: Range<Int>, to array: inout [UInt8]) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "the range lies within the readable bytes")
        array.append(contentsOf: storage[(head + range.lowerBound)..<(head + range.upperBound)])
    }

    /// Moves everything readable to the end of `other` and leaves this queue empty.
    public mutating func move(into other: inout ByteQueue) {
        if other.isEmpty && other.storage.count <= storage.count {
            swap(&self, &other)
        } else {
            withReadable { other.append($0) }
        }
        removeAll()
    }

    private mutating func reserve(_ extra: Int) {
        if storage.count - tail >= extra { return }
        let readable = tail - head
        if head > 0 && storage.count - readable >= extra && head >= readable {
            let from = head
            storage.withUnsafeMutableBytes {
                $0.baseAddress!.copyMemory(from: $0.baseAddress!.advanced(by: from), byteCount: readable)
            }
        } else {
            var larger = [UInt8](repeating: 0, count: max(storage.count * 2, readable + extra, 256))
            larger.withUnsafeMutableBytes { target in
                withReadable { target.copyMemory(from: $0) }
            }
            storage = larger
        }
        head = 0
        tail = readable
    }
}
