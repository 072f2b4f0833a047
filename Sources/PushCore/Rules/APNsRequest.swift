/// One request to the provider API, taken apart but not judged: where each header stands in the bytes it came in.
///
/// Nothing is copied: `storage` is the engine's array of names and values, and everything else is a range of it.
package struct APNsRequest {
    package var storage: [UInt8]
    package private(set) var method: Range<Int>?
    package private(set) var path: Range<Int>?
    package private(set) var authority: Range<Int>?
    package private(set) var authorization: Range<Int>?
    package private(set) var topic: Range<Int>?
    package private(set) var id: Range<Int>?
    package private(set) var pushType: Range<Int>?
    package private(set) var expiration: Range<Int>?
    package private(set) var priority: Range<Int>?
    package private(set) var collapseID: Range<Int>?
    /// Of broadcasts and channel management only.
    package private(set) var requestID: Range<Int>?
    package private(set) var channelID: Range<Int>?
    /// An `apns-…` header or `authorization` came more than once.
    package private(set) var hasDuplicates = false
    /// Bytes of the body as sent, even when it was too large to keep.
    package var bodyBytes = 0

    package init(storage: [UInt8]) { self.storage = storage }

    /// Notes one header; unknown ones are passed over.
    package mutating func add(name: Range<Int>, value: Range<Int>) {
        guard let known = HeaderName(in: storage, name) else { return }
        switch known {
        case .method: method = value
        case .path: path = value
        case .authority: authority = value
        case .host: authority = authority ?? value
        case .authorization: hasDuplicates = Self.note(value, in: &authorization) || hasDuplicates
        case .topic: hasDuplicates = Self.note(value, in: &topic) || hasDuplicates
        case .id: hasDuplicates = Self.note(value, in: &id) || hasDuplicates
        case .pushType: hasDuplicates = Self.note(value, in: &pushType) || hasDuplicates
        case .expiration: hasDuplicates = Self.note(value, in: &expiration) || hasDuplicates
        case .priority: hasDuplicates = Self.note(value, in: &priority) || hasDuplicates
        case .collapseID: hasDuplicates = Self.note(value, in: &collapseID) || hasDuplicates
        case .requestID: hasDuplicates = Self.note(value, in: &requestID) || hasDuplicates
        case .channelID: hasDuplicates = Self.note(value, in: &channelID) || hasDuplicates
        }
    }

    package func text(_ range: Range<Int>?) -> String? {
        range.map { String(decoding: storage[$0], as: UTF8.self) }
    }

    private static func note(_ value: Range<Int>, in slot: inout Range<Int>?) -> Bool {
        defer { slot = slot ?? value }
        return slot != nil
    }
}

/// The header names the provider API knows, found by comparing two machine words: no string is made.
enum HeaderName: CaseIterable {
    case method, path, authority, host, authorization, topic, id, pushType, expiration, priority, collapseID
    case requestID, channelID

    init?(in storage: [UInt8], _ range: Range<Int>) {
        guard range.count <= 16 else { return nil }
        let packed = Packed(storage[range])
        for entry in Self.table where entry.packed == packed {
            self = entry.name
            return
        }
        return nil
    }

    private var text: String {
        switch self {
        case .method: ":method"
        case .path: ":path"
        case .authority: ":authority"
        case .host: "host"
        case .authorization: "authorization"
        case .topic: "apns-topic"
        case .id: "apns-id"
        case .pushType: "apns-push-type"
        case .expiration: "apns-expiration"
        case .priority: "apns-priority"
        case .collapseID: "apns-collapse-id"
        case .requestID: "apns-request-id"
        case .channelID: "apns-channel-id"
        }
    }

    private static let table = allCases.map { (packed: Packed(Array($0.text.utf8)[...]), name: $0) }

    /// Up to 16 bytes in two words. The count tells a name from the same one with zeros in front.
    private struct Packed: Equatable {
        let count: Int
        var low: UInt64 = 0
        var high: UInt64 = 0

        init(_ bytes: ArraySlice<UInt8>) {
            count = bytes.count
            for byte in bytes {
                high = high << 8 | low >> 56
                low = low << 8 | UInt64(byte)
            }
        }
    }
}
