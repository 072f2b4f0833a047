internal import PushCourier
internal import PushCrypto

/// Tells messages apart: 128 bits of a digest, so that ten thousand of them are remembered in little room.
///
/// Made from the push id within its topic, if the server sends one: two apps of one phone may get the same push.
/// Otherwise from timestamp and payload, and only without a timestamp from the message id, as a message that comes
/// again on another connection may carry another one.
package struct MessageKey: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(_ message: CourierNotification) {
        var distinct = message.topicHash
        if let pushID = message.pushID, pushID.count == 16 {
            distinct += pushID
        } else {
            distinct.append(message.timestampNanoseconds == nil ? 1 : 2)
            Self.append(message.timestampNanoseconds ?? UInt64(message.messageID), to: &distinct)
            distinct += message.payload
        }
        let digest = SHA256.digest(distinct)
        high = Self.number(digest[0..<8])
        low = Self.number(digest[8..<16])
    }

    /// `nil` unless there are 16 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = Self.number(bytes[0..<8])
        low = Self.number(bytes[8..<16])
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        Self.append(high, to: &bytes)
        Self.append(low, to: &bytes)
        return bytes
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The keys seen last, up to a limit; the oldest is forgotten first.
struct SeenKeys {
    private let max: Int
    private var known: Set<MessageKey> = []
    /// In order of arrival; a ring once there are `max`.
    private var order: [MessageKey] = []
    private var oldest = 0

    init(max: Int) {
        precondition(max > 0, "something is remembered")
        self.max = max
    }

    func contains(_ key: MessageKey) -> Bool { known.contains(key) }

    /// False when it was known.
    @discardableResult
    mutating func insert(_ key: MessageKey) -> Bool {
        guard known.insert(key).inserted else { return false }
        if order.count < max {
            order.append(key)
        } else {
            known.remove(order[oldest])
            order[oldest] = key
            oldest = (oldest + 1) % max
        }
        return true
    }
}
