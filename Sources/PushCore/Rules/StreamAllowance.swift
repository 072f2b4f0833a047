/// How many streams one provider connection may have open, by what became of its pushes.
///
/// Source: Apple allows one stream before a request with a valid token; seen: the limit falls to one after a rejected
/// push and rises after the next accepted one. A value; the connection announces what is `wanted`.
package struct StreamAllowance: Sendable {
    private let before: Int32
    private let after: Int32
    private let dropsAfterRejection: Bool
    /// The connection has shown who it is.
    private var isTrusted = false
    private var announced: Int32
    private var wanted: Int32

    /// `isKnown`: the client has shown a certificate in the handshake and needs no token.
    package init(_ settings: ConnectionSettings, isKnown: Bool) {
        before = Int32(clamping: isKnown ? settings.streams : settings.streamsBeforeToken)
        after = Int32(clamping: settings.streams)
        dropsAfterRejection = settings.dropsAfterRejection
        announced = before
        wanted = before
    }

    /// For the first SETTINGS.
    package var first: UInt32 { UInt32(before) }
    package var peak: UInt32 { UInt32(max(before, after)) }

    package mutating func accepted() {
        isTrusted = true
        wanted = after
    }

    /// A 410 tells about a device, a 5xx about us: neither is held against the provider.
    package mutating func rejected(_ reason: APNsReason) {
        if Self.showsToken(reason) { isTrusted = true }
        if dropsAfterRejection && reason.status < 500 && reason.status != 410 {
            wanted = 1
        } else if wanted == before && isTrusted && !dropsAfterRejection {
            wanted = after
        }
    }

    /// The limit to announce now; `nil` when the peer knows it.
    package mutating func takeAnnouncement() -> UInt32? {
        guard wanted != announced else { return nil }
        announced = wanted
        return UInt32(wanted)
    }

    /// Whether a request refused for this reason had come past authentication.
    private static func showsToken(_ reason: APNsReason) -> Bool {
        switch reason {
        case .missingDeviceToken, .duplicateHeaders, .serviceUnavailable, .shutdown: false
        default: ![403, 404, 405].contains(reason.status)
        }
    }
}
