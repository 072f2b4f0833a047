import PushBytes

/// One frame as it came: its command, and its payload in which the items are found by scanning.
///
/// Frames are short, so a scan costs less than an index. The payload is checked once, by the initialiser: every
/// item lies inside it.
package struct CourierFrame: Equatable, Sendable {
    package private(set) var command: UInt8
    /// Items one after the other: id (1 byte), length (2, network order), value.
    package private(set) var payload: [UInt8]

    /// Throws `itemOutsideFrame` when the items do not fill the payload exactly.
    package init(command: UInt8, payload: [UInt8] = []) throws(CourierError) {
        self.command = command
        self.payload = payload
        try checkItems()
    }

    /// The items in the order in which they came; an id may occur more than once.
    package var items: Items { Items(payload: payload) }

    /// The first item with this id. A slice keeps the indices of the payload: do not expect it to start at 0.
    package func item(_ id: UInt8) -> ArraySlice<UInt8>? {
        range(id).map { payload[$0] }
    }

    /// All items with this id, in order: how the protocol writes a list.
    package func items(_ id: UInt8) -> [ArraySlice<UInt8>] {
        items.filter { $0.id == id }.map(\.value)
    }

    /// The first item with this id as a number; `nil` when it is absent or not exactly as wide as `Integer`.
    package func integer<Integer: FixedWidthInteger & UnsignedInteger>(_ id: UInt8, as: Integer.Type) -> Integer? {
        guard let range = range(id), range.count == Integer.bitWidth / 8 else { return nil }
        var value: Integer = 0
        for index in range { value = value << 8 | Integer(payload[index]) }
        return value
    }

    /// Takes over the frame in `queue[range]`, reusing the room of this frame's payload.
    mutating func refill(command: UInt8, from queue: ByteQueue, _ range: Range<Int>) throws(CourierError) {
        self.command = command
        payload.removeAll(keepingCapacity: true)
        queue.copy(range, to: &payload)
        try checkItems()
    }

    /// Where the value of the first item with this id lies.
    private func range(_ id: UInt8) -> Range<Int>? {
        var index = 0
        while index < payload.count {
            let start = index + 3
            let end = start + (Int(payload[index + 1]) << 8 | Int(payload[index + 2]))
            if payload[index] == id { return start..<end }
            index = end
        }
        return nil
    }

    private func checkItems() throws(CourierError) {
        var index = 0
        while index < payload.count {
            guard payload.count - index >= 3 else { throw .itemOutsideFrame(command: command) }
            index += 3 + (Int(payload[index + 1]) << 8 | Int(payload[index + 2]))
        }
        guard index == payload.count else { throw .itemOutsideFrame(command: command) }
    }

    package struct Item: Equatable, Sendable {
        package let id: UInt8
        package let value: ArraySlice<UInt8>
    }

    /// Walks the items of a payload that was checked before.
    package struct Items: Sequence, IteratorProtocol, Sendable {
        private let payload: [UInt8]
        private var index = 0

        fileprivate init(payload: [UInt8]) { self.payload = payload }

        package mutating func next() -> Item? {
            guard index < payload.count else { return nil }
            let start = index + 3
            let end = start + (Int(payload[index + 1]) << 8 | Int(payload[index + 2]))
            defer { index = end }
            return Item(id: payload[index], value: payload[start..<end])
        }
    }
}
