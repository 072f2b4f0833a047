/// Turns simdjson's tape into values.
///
/// A word holds its kind in the top byte and 56 bits of content: for an array or object the index past its end
/// (32 bits) and the number of elements (24 bits, saturated), for a string its place among the strings. Numbers
/// take a second word. Borrows the parser's buffers: must not outlive the call that made it.
struct JSONTape {
    private let words: UnsafePointer<UInt64>
    private let strings: UnsafeRawPointer
    /// Word 0 is the root's; the value follows.
    private var index = 1

    init(words: UnsafePointer<UInt64>, strings: UnsafePointer<UInt8>) {
        self.words = words
        self.strings = UnsafeRawPointer(strings)
    }

    mutating func root() -> JSONValue { value() }

    /// Recursion is bounded by the parser's depth limit.
    private mutating func value() -> JSONValue {
        let word = next()
        switch UInt8(word >> 56) {
        case UInt8(ascii: "["): return .array(elements(word))
        case UInt8(ascii: "{"): return .object(members(word))
        case UInt8(ascii: "\""): return .string(string(word))
        case UInt8(ascii: "l"): return .int(Int64(bitPattern: next()))
        case UInt8(ascii: "u"): return .double(Double(next()))
        case UInt8(ascii: "d"): return .double(Double(bitPattern: next()))
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "n"): return .null
        default: preconditionFailure("a tape holds values only")
        }
    }

    private mutating func next() -> UInt64 {
        defer { index += 1 }
        return words[index]
    }

    private mutating func elements(_ open: UInt64) -> [JSONValue] {
        var values: [JSONValue] = []
        values.reserveCapacity(Self.count(open))
        let end = Self.end(open)
        while index < end - 1 { values.append(value()) }
        index = end
        return values
    }

    private mutating func members(_ open: UInt64) -> [JSONMember] {
        var members: [JSONMember] = []
        members.reserveCapacity(Self.count(open))
        let end = Self.end(open)
        while index < end - 1 {
            let name = string(next())
            members.append(JSONMember(name, value()))
        }
        index = end
        return members
    }

    private func string(_ word: UInt64) -> String {
        let start = strings.advanced(by: Int(word & 0x00FF_FFFF_FFFF_FFFF))
        let count = Int(start.loadUnaligned(as: UInt32.self))
        return String(decoding: UnsafeRawBufferPointer(start: start.advanced(by: 4), count: count), as: UTF8.self)
    }

    private static func end(_ open: UInt64) -> Int { Int(open & 0xFFFF_FFFF) }

    private static func count(_ open: UInt64) -> Int { Int(open >> 32 & 0xFF_FFFF) }
}
