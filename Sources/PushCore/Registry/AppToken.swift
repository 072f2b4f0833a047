import PushBytes

/// The token that names one app on one device, as bytes. Providers write it as hex in the path of a push.
///
/// The 32 bytes of a usual token are held inline, so that looking one up allocates nothing; longer tokens
/// (Live Activity tokens have 80 bytes) keep the rest in `tail`. Never print one in a log: use `redacted`.
package struct AppToken: Hashable, Sendable, CustomStringConvertible {
    /// Fewest and most bytes of a token: 64 to 200 hex digits (fact: Apple says not to assume a size; these were seen).
    package static let bytesMin = 32
    package static let bytesMax = 100

    /// By byte: the value of a hex digit, or 0xFF.
    private static let digitValues = (0...UInt8.max).map { Hex.value($0) ?? 0xFF }

    private var words: [4 of UInt64]
    private var tail: [UInt8]

    /// `nil` unless the range holds an even number of hex digits for 32 to 100 bytes.
    package init?(hexIn storage: [UInt8], _ range: Range<Int>) {
        let byteCount = range.count / 2
        guard range.count.isMultiple(of: 2), byteCount >= Self.bytesMin, byteCount <= Self.bytesMax else { return nil }
        let values = Self.digitValues
        var words = [4 of UInt64](repeating: 0)
        for word in 0..<4 {
            var value: UInt64 = 0
            // One check for sixteen digits: 0xFF stands for those that are none.
            var seen: UInt8 = 0
            for digit in 0..<16 {
                let four = values[Int(storage[range.lowerBound + word * 16 + digit])]
                seen |= four
                value = value << 4 | UInt64(four & 0x0F)
            }
            guard seen < 16 else { return nil }
            words[word] = value
        }
        var tail: [UInt8] = []
        if byteCount > Self.bytesMin {
            guard let rest = Hex.decode(storage[range.lowerBound + 64..<range.upperBound]) else { return nil }
            tail = rest
        }
        self.words = words
        self.tail = tail
    }

    package init?(hex: String) {
        let bytes = Array(hex.utf8)
        self.init(hexIn: bytes, 0..<bytes.count)
    }

    /// `nil` unless there are 32 to 100 bytes.
    package init?(bytes: some Collection<UInt8>) {
        self.init(hex: Hex.encode(Array(bytes)))
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for word in 0..<4 {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: words[word] >> UInt64(shift)))
            }
        }
        return bytes + tail
    }

    /// Lower-case hex, as devices hand it to their back end.
    package var hex: String { Hex.encode(bytes) }

    /// Enough of the token to recognise it, too little to use it.
    package var redacted: String { String(hex.prefix(8)) + "…" }

    package var description: String { redacted }

    package static func == (left: AppToken, right: AppToken) -> Bool {
        left.words[0] == right.words[0] && left.words[1] == right.words[1] && left.words[2] == right.words[2]
            && left.words[3] == right.words[3] && left.tail == right.tail
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words[0])
        hasher.combine(words[1] ^ words[2] ^ words[3])
    }
}
