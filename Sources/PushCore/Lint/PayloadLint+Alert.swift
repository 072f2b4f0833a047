internal import PushJSON

extension PayloadLint {
    mutating func checkAlert(_ alert: JSONValue) {
        if let text = alert.stringValue {
            if text.isEmpty { warn("aps.alert", "is empty: nothing is shown.") }
            return
        }
        guard let members = alert.objectValue else { return }
        if members.isEmpty { warn("aps.alert", "is empty: nothing is shown.") }
        let isLiveActivity = subject.effectiveType == .liveactivity
        // The texts of a Live Activity may be dictionaries; those are looked at on their own.
        let plain = members.filter { member in
            !(isLiveActivity && ["title", "body"].contains(member.name) && member.value.objectValue != nil)
        }
        checkKeys(
            of: .object(plain), at: "aps.alert", table: isLiveActivity ? ApsKey.liveActivityAlert : ApsKey.alert
        ) { "\($0): put custom data beside aps." }
        for name in ["title", "body"] where isLiveActivity {
            if let text = alert[name], text.objectValue != nil {
                checkKeys(of: text, at: "aps.alert.\(name)", table: ApsKey.localized)
                if text["loc-key"] == nil { warn("aps.alert.\(name)", "is a dictionary without loc-key.") }
            }
        }
        if isLiveActivity, let sound = alert["sound"] { checkSound(sound, at: "aps.alert.sound") }
        checkArguments(of: alert)
    }

    /// Arguments go into a text that the app holds under a key.
    private mutating func checkArguments(of alert: JSONValue) {
        for prefix in ["", "title-", "subtitle-"] where alert["\(prefix)loc-args"] != nil {
            if alert["\(prefix)loc-key"] == nil {
                warn("aps.alert.\(prefix)loc-args", "has no effect without \(prefix)loc-key.")
            }
        }
    }

    mutating func checkSound(_ sound: JSONValue, at path: String) {
        guard sound.objectValue != nil else { return }
        checkKeys(of: sound, at: path, table: ApsKey.sound)
        if sound["name"] == nil { warn(path, "is a dictionary without the name of a sound.") }
        if let volume = sound["volume"]?.doubleValue, !(0...1).contains(volume) {
            warn("\(path).volume", "must lie between 0 and 1.")
        }
    }
}
