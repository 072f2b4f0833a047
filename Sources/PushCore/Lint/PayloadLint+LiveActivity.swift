internal import PushJSON

/// Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
extension PayloadLint {
    private static let events = ["start", "update", "end"]
    private static let startKeys = ["attributes-type", "attributes", "input-push-token", "input-push-channel"]
    /// How long an ended Live Activity stays on the lock screen at most.
    private static let dismissalSecondsMax: Int64 = 4 * 3600

    mutating func checkLiveActivity(_ aps: JSONValue) {
        guard subject.effectiveType == .liveactivity else {
            for key in ApsKey.liveActivity where aps[key.name] != nil {
                warn("aps.\(key.name)", "belongs to the push type liveactivity.")
            }
            return
        }
        checkDates(aps)
        if aps["timestamp"] == nil {
            warn("aps.timestamp", "is missing: by it the device tells which update is the newest.")
        }
        guard let event = aps["event"]?.stringValue, Self.events.contains(event) else {
            if aps["event"] == nil || aps["event"]?.stringValue != nil {
                warn("aps.event", "must be one of \(Self.events.joined(separator: ", ")).")
            }
            return
        }
        if event == "start" {
            checkStart(aps)
            if subject.isBroadcast { warn("aps.event", "is start, and a broadcast can only update or end.") }
        }
        if event != "end" && aps["content-state"] == nil {
            warn("aps.content-state", "is missing: \(event) has no content to show.")
        }
        for name in Self.startKeys where event != "start" && aps[name] != nil {
            warn("aps.\(name)", "has its place in the event start only.")
        }
        if event != "end" && aps["dismissal-date"] != nil {
            warn("aps.dismissal-date", "has its place in the event end only.")
        }
    }

    private mutating func checkStart(_ aps: JSONValue) {
        for name in ["alert", "attributes-type", "attributes"] where aps[name] == nil {
            warn("aps.\(name)", "is missing: a Live Activity does not start without it.")
        }
        if let channel = aps["input-push-channel"]?.stringValue, !Self.isBase64(channel) {
            warn("aps.input-push-channel", "must be the id of a channel in base64.")
        }
    }

    private mutating func checkDates(_ aps: JSONValue) {
        for name in ["timestamp", "stale-date", "dismissal-date"] {
            guard let seconds = aps[name]?.doubleValue else { continue }
            if seconds >= Double(Self.latestTime) {
                warn("aps.\(name)", "looks like milliseconds; it is counted in UNIX seconds.")
            } else if seconds < Double(Self.earliestTime) && !(name == "dismissal-date" && seconds >= 0) {
                warn("aps.\(name)", "must be a time in UNIX seconds, and this one lies before 2002.")
            } else if name == "dismissal-date",
                seconds > Double(subject.receivedAt / 1000 + Self.dismissalSecondsMax)
            {
                warn("aps.dismissal-date", "lies more than four hours ahead, and the system removes it after four.")
            }
        }
    }

    private static func isBase64(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let end = bytes.lastIndex { $0 != UInt8(ascii: "=") }.map { $0 + 1 } ?? 0
        let isAlphabet = bytes[..<end].allSatisfy {
            switch $0 {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
        return end > 0 && bytes.count.isMultiple(of: 4) && bytes.count - end <= 2 && isAlphabet
    }
}
