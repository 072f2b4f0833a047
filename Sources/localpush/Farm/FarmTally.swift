import PushDevice
internal import PushJSON

/// What a farm of devices has counted.
struct FarmTally: Equatable {
    var devices = 0
    var connected = 0
    /// Devices that have the app's token: a provider can reach them.
    var registered = 0
    var received = 0
    /// Messages that reached an app a second time; always 0 unless something is wrong.
    var duplicates = 0
    var reconnects = 0
    /// Why a connection was last lost.
    var lastReason: String?

    var text: String {
        var parts = ["connected \(connected)/\(devices)", "registered \(registered)", "received \(received)"]
        parts += ["duplicates \(duplicates)", "reconnects \(reconnects)"]
        if let lastReason { parts.append("(\(TextQuote.plain(lastReason)))") }
        return parts.joined(separator: "  ")
    }

    func json(at milliseconds: Int64) -> JSONValue {
        JSONText.object([
            ("at", .int(milliseconds)), ("devices", .int(Int64(devices))), ("connected", .int(Int64(connected))),
            ("registered", .int(Int64(registered))), ("received", .int(Int64(received))),
            ("duplicates", .int(Int64(duplicates))), ("reconnects", .int(Int64(reconnects))),
            ("lastReason", lastReason.map { .string($0) }),
        ])
    }
}

/// Recognises what comes twice among the last few.
struct RecentKeys {
    /// Redelivery comes within what was in flight when a connection broke, which is below this.
    static let keysMax = 256

    private var ring: [MessageKey] = []
    private var next = 0

    /// Whether `key` is among the last `keysMax`.
    mutating func isRepeated(_ key: MessageKey) -> Bool {
        if ring.contains(key) { return true }
        if ring.count < Self.keysMax {
            ring.append(key)
        } else {
            ring[next] = key
            next = (next + 1) % Self.keysMax
        }
        return false
    }
}
