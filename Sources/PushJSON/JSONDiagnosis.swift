internal import PushBytes

/// Finds where a refused text goes wrong, for people: simdjson says no without saying where.
///
/// A plain walk over the grammar of RFC 8259; runs only after a refusal. Throws the first fault, in reading order.
struct JSONDiagnosis {
    private static let digitRange = UInt8(ascii: "0")...UInt8(ascii: "9")

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func run() throws(JSONError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw JSONError(.invalidUTF8, "not UTF-8", error.byteOffsets.lowerBound)
        }
        skipSpace()
        if index == bytes.count { throw fault(.empty, "there is no value") }
        try value(depth: 1)
        if index < bytes.count { throw fault(.structure, "nothing may follow the value") }
    }

    /// Leaves `index` behind the value and the space that follows it.
    private mutating func value(depth: Int) throws(JSONError) {
        switch peek {
        case UInt8(ascii: "{"): try list(UInt8(ascii: "}"), depth, isObject: true)
        case UInt8(ascii: "["): try list(UInt8(ascii: "]"), depth, isObject: false)
        case UInt8(ascii: "\""): try string()
        case let byte? where byte == UInt8(ascii: "-") || Self.digitRange.contains(byte): try number()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: throw fault(.structure, "a value should stand here")
        }
        skipSpace()
    }

    private mutating func list(_ close: UInt8, _ depth: Int, isObject: Bool) throws(JSONError) {
        let start = index
        index += 1
        skipSpace()
        if take(close) { return }
        guard depth <= JSONParser.depthMax else {
            throw JSONError(.tooDeep, "nested deeper than \(JSONParser.depthMax)", start)
        }
        repeat {
            skipSpace()
            if isObject { try name() }
            try value(depth: depth + 1)
        } while take(UInt8(ascii: ","))
        let closing = isObject ? "}" : "]"
        guard take(close) else { throw fault(.structure, "',' or '\(closing)' should stand here") }
    }

    private mutating func name() throws(JSONError) {
        guard peek == UInt8(ascii: "\"") else { throw fault(.structure, "a name in quotes should stand here") }
        try string()
        skipSpace()
        guard take(UInt8(ascii: ":")) else { throw fault(.structure, "':' should stand here") }
        skipSpace()
    }

    private mutating func string() throws(JSONError) {
        let start = index
        index += 1
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw fault(.string, "a control character in a string must be escaped")
            default: index += 1
            }
        }
        throw JSONError(.string, "the string has no end", start)
    }

    private mutating func escape() throws(JSONError) {
        let start = index
        index += 1
        switch peek {
        case UInt8(ascii: "u"):
            guard let unit = codeUnit() else { throw JSONError(.string, "'\\u' takes four hex digits", start) }
            guard unit & 0xF800 == 0xD800 else { return }
            // A high surrogate must be followed by a low one, and a low one never stands alone.
            let isPaired =
                unit & 0xFC00 == 0xD800 && take(UInt8(ascii: "\\")) && codeUnit().map { $0 & 0xFC00 } == 0xDC00
            guard isPaired else { throw JSONError(.string, "half of a surrogate pair", start) }
        case let byte? where "\"\\/bfnrt".utf8.contains(byte): index += 1
        default: throw JSONError(.string, "there is no such escape", start)
        }
    }

    /// Reads `u` and four hex digits.
    private mutating func codeUnit() -> UInt16? {
        guard take(UInt8(ascii: "u")) else { return nil }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap(Hex.value) else { return nil }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    private mutating func number() throws(JSONError) {
        let start = index
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        if let byte = peek, !" \t\r\n,]}".utf8.contains(byte) {
            throw fault(.number, "a number cannot go on like this")
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard Double(text)?.isFinite == true else { throw JSONError(.number, "the number is out of range", start) }
    }

    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte = peek, Self.digitRange.contains(byte) { index += 1 }
        if index == start { throw fault(.number, "a digit should stand here") }
    }

    private mutating func literal(_ text: String) throws(JSONError) {
        let start = index
        for byte in text.utf8 where !take(byte) { throw JSONError(.structure, "no such literal", start) }
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private func fault(_ kind: JSONError.Kind, _ message: String) -> JSONError { JSONError(kind, message, index) }
}
