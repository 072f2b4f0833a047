/// What a peer did wrong in a protobuf message.
enum ProtobufError: Error {
    case malformed
}

/// Walks the fields of one protobuf message: as much of that encoding as subscriptions need.
///
/// Numbers and byte strings are handed out, fixed-width numbers are skipped, and everything that does not fit exactly
/// is malformed. It copies nothing and does not recurse: a message inside is read by another reader over its slice.
struct ProtobufReader {
    enum Value: Equatable {
        case number(UInt64)
        case bytes(ArraySlice<UInt8>)
    }

    private let bytes: ArraySlice<UInt8>
    private var index: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    /// The next field, or `nil` at the end.
    mutating func next() throws(ProtobufError) -> (field: UInt64, value: Value)? {
        while index < bytes.endIndex {
            let key = try number()
            let field = key >> 3
            guard field > 0 else { throw .malformed }
            switch key & 7 {
            case 0: return (field, .number(try number()))
            case 1: try skip(8)
            case 2:
                let count = try number()
                guard count <= UInt64(bytes.endIndex - index) else { throw .malformed }
                let start = index
                index += Int(count)
                return (field, .bytes(bytes[start..<index]))
            case 5: try skip(4)
            // Groups are history, and the rest was never anything.
            default: throw .malformed
            }
        }
        return nil
    }

    /// Base 128, least significant group first, at most 64 bits.
    private mutating func number() throws(ProtobufError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            guard shift < 63 || byte <= 1 else { throw .malformed }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
        throw .malformed
    }

    private mutating func skip(_ count: Int) throws(ProtobufError) {
        guard count <= bytes.endIndex - index else { throw .malformed }
        index += count
    }
}

/// Writes the fields of one protobuf message. Zero numbers are left out, as the encoding has it.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    mutating func field(_ field: UInt64, number: UInt64) {
        guard number != 0 else { return }
        append(field << 3)
        append(number)
    }

    mutating func field(_ field: UInt64, bytes value: some Collection<UInt8>) {
        append(field << 3 | 2)
        append(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    private mutating func append(_ number: UInt64) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
