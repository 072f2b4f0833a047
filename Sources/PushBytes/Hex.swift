/// Hexadecimal text, as tokens and ids are written.
public enum Hex {
    /// Lower-case by default; two digits for each byte.
    public static func encode(_ bytes: [UInt8], uppercase: Bool = false) -> String {
        String(decoding: encodeBytes(bytes, uppercase: uppercase), as: UTF8.self)
    }

    public static func encodeBytes(_ bytes: [UInt8], uppercase: Bool = false) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digit(byte >> 4, uppercase: uppercase))
            text.append(digit(byte & 0x0F, uppercase: uppercase))
        }
        return text
    }

    /// `nil` unless `text` is an even number of hex digits of either case.
    public static func decode(_ text: String) -> [UInt8]? {
        decode(Array(text.utf8)[...])
    }

    public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var index = text.startIndex
        while index < text.endIndex {
            guard let high = value(text[index]), let low = value(text[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }

    /// The digit for a value below 16.
    @inlinable
    public static func digit(_ value: UInt8, uppercase: Bool) -> UInt8 {
        value < 10 ? 0x30 + value : (uppercase ? 0x41 : 0x61) + value - 10
    }

    /// The value of one digit, or `nil` when it is none.
    @inlinable
    public static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
