/// Reads the small corner of DER (ITU-T X.690) that Apple's certificate extensions use: values with one-byte tags and
/// definite lengths, one after the other. What does not fit is `nil`, never a trap.
struct DERReader {
    /// The tags that are met here.
    enum Tag: UInt8 {
        case octetString = 0x04
        case null = 0x05
        case utf8String = 0x0C
        case printableString = 0x13
        case ia5String = 0x16
        case sequence = 0x30
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// The next value's tag and content; `nil` when it is cut off or its length is written in more bytes than needed.
    mutating func next() -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
        var count = Int(first)
        if first >= 0x80 {
            let bytes = Int(first & 0x7F)
            // Three bytes name 16 MB: no certificate is as long.
            guard (1...3).contains(bytes), rest.count >= bytes, rest.first != 0 else { return nil }
            count = rest.prefix(bytes).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(bytes)
            guard count >= 0x80 else { return nil }
        }
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return (tag, rest.prefix(count))
    }

    /// The content of the next value, which must have this tag.
    mutating func next(_ tag: Tag) -> ArraySlice<UInt8>? {
        guard let value = next(), value.tag == tag.rawValue else { return nil }
        return value.content
    }

    /// The next value as text; `nil` when it is none, or holds bytes that are no UTF-8.
    mutating func nextText() -> String? {
        guard let value = next() else { return nil }
        switch Tag(rawValue: value.tag) {
        case .utf8String, .printableString, .ia5String: return String(validating: value.content, as: UTF8.self)
        default: return nil
        }
    }
}

/// Writes values of DER.
enum DERWriter {
    static func value(_ tag: DERReader.Tag, _ content: [UInt8]) -> [UInt8] {
        [tag.rawValue] + length(content.count) + content
    }

    static func text(_ text: String) -> [UInt8] { value(.utf8String, Array(text.utf8)) }

    private static func length(_ count: Int) -> [UInt8] {
        precondition((0..<1 << 24).contains(count), "a certificate is shorter than 16 MB")
        if count < 0x80 { return [UInt8(count)] }
        let bytes = [count >> 16, count >> 8, count].map { UInt8($0 & 0xFF) }.drop { $0 == 0 }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}
