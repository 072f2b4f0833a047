/// Base64 in both alphabets (RFC 4648 sections 4 and 5).
public enum Base64 {
    public enum Alphabet: Sendable {
        /// `+` and `/`, padded with `=`.
        case standard
        /// `-` and `_`, without padding, as in JSON Web Tokens.
        case url
    }

    public static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if left > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0...left {
                text.append(digit(UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * position)) & 0x3F, alphabet))
            }
            if alphabet == .standard {
                for _ in 0..<(3 - left) { text.append(0x3D) }
            }
            index += left
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes either alphabet, with or without padding; `nil` when a byte is foreign, padding stands inside, or the
    /// length cannot be.
    public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var end = text.endIndex
        var padding = 0
        while end > text.startIndex && padding < 2 && text[end - 1] == 0x3D {
            end -= 1
            padding += 1
        }
        let digits = text[text.startIndex..<end]
        guard digits.count % 4 != 1, padding == 0 || (digits.count + padding).isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var group: UInt32 = 0
        var bits = 0
        for byte in digits {
            guard let six = value(byte) else { return nil }
            group = group << 6 | UInt32(six)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
            }
        }
        return bytes
    }

    public static func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8)[...]) }

    private static func digit(_ value: UInt8, _ alphabet: Alphabet) -> UInt8 {
        switch value {
        case 0..<26: 0x41 + value
        case 26..<52: 0x61 + value - 26
        case 52..<62: 0x30 + value - 52
        case 62: alphabet == .standard ? 0x2B : 0x2D
        default: alphabet == .standard ? 0x2F : 0x5F
        }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x41...0x5A: digit - 0x41
        case 0x61...0x7A: digit - 0x61 + 26
        case 0x30...0x39: digit - 0x30 + 52
        case 0x2B, 0x2D: 62
        case 0x2F, 0x5F: 63
        default: nil
        }
    }
}
