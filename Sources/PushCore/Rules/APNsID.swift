import PushBytes

/// The text of an `apns-id`: 36 bytes, kept exactly as the provider wrote them, since clients look an answer up by
/// that very text.
package struct APNsID: Sendable, Equatable {
    package static let byteCount = 36

    package private(set) var text: [36 of UInt8]

    /// `nil` unless the range is a UUID of the form 8-4-4-4-12, in either case.
    package init?(textIn storage: [UInt8], _ range: Range<Int>) {
        guard range.count == Self.byteCount else { return nil }
        var text = [36 of UInt8](repeating: 0)
        for offset in 0..<Self.byteCount {
            let byte = storage[range.lowerBound + offset]
            switch offset {
            case 8, 13, 18, 23: guard byte == 0x2D else { return nil }
            default: guard Hex.value(byte) != nil else { return nil }
            }
            text[offset] = byte
        }
        self.text = text
    }

    package init?(_ string: String) {
        let bytes = Array(string.utf8)
        self.init(textIn: bytes, 0..<bytes.count)
    }

    /// The upper-case form APNs gives to ids of its own making.
    package init(high: UInt64, low: UInt64) {
        var text = [36 of UInt8](repeating: 0x2D)
        var at = 0
        for half in [high, low] {
            for shift in stride(from: 60, through: 0, by: -4) {
                if at == 8 || at == 13 || at == 18 || at == 23 { at += 1 }
                text[at] = Hex.digit(UInt8(truncatingIfNeeded: half >> UInt64(shift)) & 0x0F, uppercase: true)
                at += 1
            }
        }
        self.text = text
    }

    /// The 128 bits, whatever case they were written in.
    package var halves: (high: UInt64, low: UInt64) {
        var halves = [2 of UInt64](repeating: 0)
        var digits = 0
        for offset in 0..<Self.byteCount where text[offset] != 0x2D {
            let half = digits / 16
            halves[half] = halves[half] << 4 | UInt64(Hex.value(text[offset]) ?? 0)
            digits += 1
        }
        return (halves[0], halves[1])
    }

    package var bytes: [UInt8] { (0..<Self.byteCount).map { text[$0] } }

    package var string: String { String(decoding: bytes, as: UTF8.self) }

    package static func == (left: APNsID, right: APNsID) -> Bool { left.bytes == right.bytes }
}

/// Makes ids out of sequence numbers and finds the number again, so that an id the server made needs no index.
///
/// Both halves are bijections of the number under a secret: ids look random, never repeat, and `sequence(of:)`
/// accepts only ids it made itself.
package struct APNsIDMaker: Sendable {
    private let secret: UInt64

    package init(secret: UInt64) { self.secret = secret }

    package func id(for sequence: Int64) -> APNsID {
        let (high, low) = halves(for: sequence)
        return APNsID(high: high, low: low)
    }

    /// The same 128 bits as 16 bytes: the push id that travels to devices.
    package func bytes(for sequence: Int64) -> [UInt8] {
        let (high, low) = halves(for: sequence)
        var queue = ByteQueue(capacity: 16)
        queue.appendBigEndian(high)
        queue.appendBigEndian(low)
        return queue.bytes
    }

    /// The number an id was made for, or `nil` when it is not one of ours.
    package func sequence(of id: APNsID) -> Int64? {
        let given = id.halves
        let sequence = Int64(bitPattern: Self.unmix(given.high) ^ secret)
        guard sequence > 0, halves(for: sequence).low == given.low else { return nil }
        return sequence
    }

    private func halves(for sequence: Int64) -> (high: UInt64, low: UInt64) {
        let high = SeededRandom.mix(UInt64(bitPattern: sequence) ^ secret)
        return (high, SeededRandom.mix(high ^ (secret << 32 | secret >> 32)))
    }

    /// The inverse of `SeededRandom.mix`.
    private static func unmix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = mixed ^ (mixed >> 31) ^ (mixed >> 62)
        mixed = mixed &* 0x3196_42B2_D24D_8EC3
        mixed = mixed ^ (mixed >> 27) ^ (mixed >> 54)
        mixed = mixed &* 0x96DE_1B17_3F11_9089
        return mixed ^ (mixed >> 30) ^ (mixed >> 60)
    }
}
