package import PushBytes

/// Writes frames straight into a queue: `begin`, items in any order, `end`.
///
/// The queue must not be consumed between `begin` and `end`: keep the calls in one function. An item of more than
/// 65,535 bytes is our own mistake and traps; check what a peer supplied before writing it.
package struct CourierWriter {
    /// Where the frame's length stands, counted from the front of the queue.
    private let lengthIndex: Int

    /// Longest value of one item: its length field has two bytes.
    package static let itemBytesMax = Int(UInt16.max)

    package static func begin(_ command: UInt8, in queue: inout ByteQueue) -> CourierWriter {
        queue.append(command)
        let writer = CourierWriter(lengthIndex: queue.count)
        queue.appendBigEndian(UInt32(0))
        return writer
    }

    package func item(_ id: UInt8, _ value: Span<UInt8>, in queue: inout ByteQueue) {
        head(id, value.count, in: &queue)
        queue.append(value)
    }

    package func item(_ id: UInt8, _ value: [UInt8], in queue: inout ByteQueue) {
        head(id, value.count, in: &queue)
        queue.append(value)
    }

    package func item(_ id: UInt8, _ value: String, in queue: inout ByteQueue) {
        head(id, value.utf8.count, in: &queue)
        queue.append(value)
    }

    /// Writes a number in network order, as wide as its type.
    package func item(_ id: UInt8, integer value: some FixedWidthInteger & UnsignedInteger, in queue: inout ByteQueue) {
        head(id, value.bitWidth / 8, in: &queue)
        queue.appendBigEndian(value)
    }

    /// Fills in the length; the frame is whole.
    package func end(in queue: inout ByteQueue) {
        let bytes = queue.count - lengthIndex - 4
        precondition(bytes >= 0, "the queue was not consumed while a frame was written")
        queue.overwriteBigEndian(UInt32(bytes), at: lengthIndex)
    }

    private func head(_ id: UInt8, _ bytes: Int, in queue: inout ByteQueue) {
        precondition(bytes <= Self.itemBytesMax, "an item holds at most 65,535 bytes")
        queue.appendBigEndian(UInt64(id) << 16 | UInt64(bytes), byteCount: 3)
    }
}

extension CourierWriter {
    // Optional forms: an absent value writes no item.

    func item(_ id: UInt8, _ value: [UInt8]?, in queue: inout ByteQueue) {
        if let value { item(id, value, in: &queue) }
    }

    func item(_ id: UInt8, _ value: String?, in queue: inout ByteQueue) {
        if let value { item(id, value, in: &queue) }
    }

    func item<Integer: FixedWidthInteger & UnsignedInteger>(
        _ id: UInt8, integer value: Integer?, in queue: inout ByteQueue
    ) {
        if let value { item(id, integer: value, in: &queue) }
    }
}
