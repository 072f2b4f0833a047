internal import PushJSON

extension PayloadLint {
    private static let interruptionLevels = ["passive", "active", "time-sensitive", "critical"]

    mutating func checkAps(_ aps: JSONValue) {
        checkKeys(of: aps, at: "aps", table: ApsKey.all) { "\($0): put custom data beside aps." }
        checkValues(aps)
        if let alert = aps["alert"] { checkAlert(alert) }
        if let sound = aps["sound"] { checkSound(sound, at: "aps.sound") }
        checkMutableContent(aps)
        checkBackground(aps)
        checkPurpose(aps)
        checkLiveActivity(aps)
    }

    /// Names and types of a dictionary's members. `advice` ends the sentence on an unknown one.
    mutating func checkKeys(
        of value: JSONValue, at path: String, table: [ApsKey], advice: (String) -> String = { "\($0)." }
    ) {
        for member in value.objectValue ?? [] {
            let place = Self.path(path, member.name)
            guard let key = ApsKey.find(member.name, in: table) else {
                if let meant = ApsKey.resembling(member.name, in: table) {
                    warn(place, "is not a key that devices know; \(meant.name) was probably meant.")
                } else {
                    warn(place, advice("is not a key that Apple documents here, and devices ignore it"))
                }
                continue
            }
            if let farewell = key.farewell { warn(place, "\(farewell).") }
            if !key.kind.accepts(member.value) { warnOfKind(member.value, key, place) }
        }
    }

    private mutating func warnOfKind(_ value: JSONValue, _ key: ApsKey, _ place: String) {
        let isRightKind =
            switch key.kind {
            case .one: value.doubleValue != nil
            case .yes: value.boolValue != nil
            default: false
            }
        let found = isRightKind ? "anything else" : Self.kind(value)
        let elements = key.kind.words.hasPrefix("an array") && value.arrayValue != nil
        warn(place, "must be \(key.kind.words), not \(elements ? "an array of other values" : found).")
    }

    private mutating func checkValues(_ aps: JSONValue) {
        if let badge = aps["badge"], let number = badge.doubleValue, badge.intValue == nil || number < 0 {
            warn("aps.badge", "must be a whole number of at least 0.")
        }
        if let level = aps["interruption-level"]?.stringValue, !Self.interruptionLevels.contains(level) {
            warn("aps.interruption-level", "must be one of \(Self.interruptionLevels.joined(separator: ", ")).")
        }
        if let score = aps["relevance-score"]?.doubleValue, subject.effectiveType != .liveactivity,
            !(0...1).contains(score)
        {
            warn("aps.relevance-score", "must lie between 0 and 1.")
        }
    }

    private mutating func checkMutableContent(_ aps: JSONValue) {
        guard aps["mutable-content"]?.intValue == 1 else { return }
        let texts = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]
        let isShown = aps["alert"].map { alert in
            alert.stringValue.map { !$0.isEmpty } ?? texts.contains { alert[$0] != nil }
        }
        if isShown != true {
            warn("aps.mutable-content", "has no effect without an alert that has a title, subtitle or body.")
        }
    }

    /// What wakes the app in the background shows nothing.
    private mutating func checkBackground(_ aps: JSONValue) {
        let shown = ["alert", "badge", "sound"].filter { aps[$0] != nil }
        let wakes = aps["content-available"]?.intValue == 1
        if subject.effectiveType == .background {
            for name in shown { warn("aps.\(name)", "contradicts push type background, which shows nothing.") }
            if !wakes { warn("aps.content-available", "must be 1 in a background push.") }
            return
        }
        guard wakes, subject.effectiveType == nil || subject.effectiveType == .alert else { return }
        if !shown.isEmpty {
            warn(
                "aps.content-available",
                "stands with \(shown.joined(separator: ", ")): Apple wants a background update to carry none of them.")
        } else if subject.pushType == .alert {
            warn("aps.content-available", "stands alone: a background update goes with push type background.")
        }
        if shown.isEmpty && subject.priority == 10 {
            warn("apns-priority", "is 10 (also when absent), and background updates must be sent with 5.")
        }
    }

    /// Whether the payload does what the push type promises.
    private mutating func checkPurpose(_ aps: JSONValue) {
        let type = subject.effectiveType
        let isForWidgets = type == .widgets || type == .controls
        if isForWidgets, let type, aps["content-changed"] == nil {
            warn("aps.content-changed", "is missing: \(type.text) pushes carry true here.")
        } else if !isForWidgets && aps["content-changed"] != nil {
            warn("aps.content-changed", "belongs to the push types widgets and controls.")
        }
        let speaking = ["alert", "badge", "sound", "content-available"]
        if subject.pushType == .alert && !speaking.contains(where: { aps[$0] != nil }) {
            warn("aps", "has no alert, badge or sound: push type alert has nothing to show.")
        }
    }
}
