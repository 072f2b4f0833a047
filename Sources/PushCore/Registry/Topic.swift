import PushBytes
import PushCrypto

/// SHA-1 of a topic's name: how the device protocol names topics.
package struct TopicHash: Hashable, Sendable {
    package static let byteCount = 20

    private let high: UInt64
    private let middle: UInt64
    private let low: UInt32

    package init(of name: String) {
        self.init(bytes: SHA1.digest(Array(name.utf8)))!
    }

    /// `nil` unless there are 20 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var words = [3 of UInt64](repeating: 0)
        for (offset, byte) in bytes.enumerated() {
            words[offset / 8] = words[offset / 8] << 8 | UInt64(byte)
        }
        high = words[0]
        middle = words[1]
        low = UInt32(truncatingIfNeeded: words[2])
    }

    package var bytes: [UInt8] {
        var queue = ByteQueue(capacity: Self.byteCount)
        queue.appendBigEndian(high)
        queue.appendBigEndian(middle)
        queue.appendBigEndian(low)
        return queue.bytes
    }

    package static func == (left: TopicHash, right: TopicHash) -> Bool {
        left.high == right.high && left.middle == right.middle && left.low == right.low
    }

    /// A digest is uniform already: one word of it is hash enough.
    package func hash(into hasher: inout Hasher) { hasher.combine(high) }
}

/// A topic that belongs to a known app: its bundle id, with or without the suffix of a push type. Bound to the loop.
package final class Topic {
    package let name: String
    package let bytes: [UInt8]
    package let hash: TopicHash
    package let app: App
    package let suffix: TopicSuffix

    init(name: String, app: App, suffix: TopicSuffix) {
        self.name = name
        bytes = Array(name.utf8)
        hash = TopicHash(of: name)
        self.app = app
        self.suffix = suffix
    }
}

/// An app: a bundle id and the team it belongs to. Bound to the loop.
package final class App {
    package let bundle: String
    package internal(set) var team: String
    /// When it came to its team, as a number of the registry; later is larger.
    package internal(set) var joined = 0
    /// `nil`: the server's.
    package var storageRule: StorageRule?
    /// Whether it may broadcast; `nil`: as the server says.
    package var isBroadcastEnabled: Bool?

    package init(bundle: String, team: String, storageRule: StorageRule?) {
        self.bundle = bundle
        self.team = team
        self.storageRule = storageRule
    }

    /// A bundle id has letters, digits, hyphens and periods (Apple, CFBundleIdentifier), and none of the suffixes.
    package static func isValid(bundle: String) -> Bool {
        !bundle.isEmpty && bundle.utf8.count <= 155 && TopicSuffix.split(bundle).suffix == .none
            && bundle.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F
            }
    }
}
