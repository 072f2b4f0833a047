package import PushBytes

/// A frame whose items have names: read from a frame, written to a queue, the same type on both ends.
///
/// Reading skips items that it does not know, takes the first of an item that must be single, and throws
/// `CourierError` where an item is missing, has the wrong width or is not UTF-8.
package protocol CourierMessage: Equatable, Sendable {
    static var command: UInt8 { get }
    init(_ frame: CourierFrame) throws(CourierError)
    func write(into queue: inout ByteQueue)
}

/// Bytes of a topic hash: SHA-1 of the topic's UTF-8.
package let courierTopicHashBytes = 20

extension CourierFrame {
    func expect(_ expected: UInt8) throws(CourierError) {
        guard command == expected else { throw .wrongCommand(command: command, expected: expected) }
    }

    func required(_ id: UInt8) throws(CourierError) -> [UInt8] {
        guard let value = item(id) else { throw .missingItem(command: command, item: id) }
        return Array(value)
    }

    func optional(_ id: UInt8) -> [UInt8]? { item(id).map { Array($0) } }

    func requiredInteger<Integer: FixedWidthInteger & UnsignedInteger>(
        _ id: UInt8, as type: Integer.Type = Integer.self
    ) throws(CourierError) -> Integer {
        guard let value = try optionalInteger(id, as: type) else { throw .missingItem(command: command, item: id) }
        return value
    }

    func optionalInteger<Integer: FixedWidthInteger & UnsignedInteger>(
        _ id: UInt8, as type: Integer.Type = Integer.self
    ) throws(CourierError) -> Integer? {
        if let value = integer(id, as: type) { return value }
        guard let value = item(id) else { return nil }
        throw .wrongWidth(command: command, item: id, bytes: value.count)
    }

    func optionalText(_ id: UInt8) throws(CourierError) -> String? {
        guard let value = item(id) else { return nil }
        guard let text = String(validating: value, as: UTF8.self) else {
            throw .invalidText(command: command, item: id)
        }
        return text
    }

    func requiredHash(_ id: UInt8) throws(CourierError) -> [UInt8] {
        try checkedHash(id, try required(id))
    }

    func hashes(_ id: UInt8) throws(CourierError) -> [[UInt8]] {
        var hashes: [[UInt8]] = []
        for item in items where item.id == id { hashes.append(try checkedHash(id, Array(item.value))) }
        return hashes
    }

    private func checkedHash(_ id: UInt8, _ value: [UInt8]) throws(CourierError) -> [UInt8] {
        guard value.count == courierTopicHashBytes else {
            throw .wrongWidth(command: command, item: id, bytes: value.count)
        }
        return value
    }
}
