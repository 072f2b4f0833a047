internal import PushJSON

/// What a value must be.
enum LintKind {
    case text, number, one, yes, dictionary, texts
    /// Text, or a dictionary with rules of its own.
    case textOrDictionary

    func accepts(_ value: JSONValue) -> Bool {
        switch self {
        case .text: value.stringValue != nil
        case .number: value.doubleValue != nil
        case .one: value.intValue == 1
        case .yes: value.boolValue == true
        case .dictionary: value.objectValue != nil
        case .texts: value.arrayValue?.allSatisfy { $0.stringValue != nil } ?? false
        case .textOrDictionary: value.stringValue != nil || value.objectValue != nil
        }
    }

    /// Ends the sentence "must be …".
    var words: String {
        switch self {
        case .text: "text"
        case .number: "a number"
        case .one: "the number 1"
        case .yes: "true"
        case .dictionary: "a dictionary"
        case .texts: "an array of texts"
        case .textOrDictionary: "text or a dictionary"
        }
    }
}

/// One key that Apple documents, or once did, with the type of its value.
///
/// Source: Apple, "Generating a remote notification", and "Starting and updating Live Activities with ActivityKit push
/// notifications"; `content-changed`: WidgetKit.
struct ApsKey {
    let name: String
    let kind: LintKind
    /// What to say of a key whose time is over.
    var farewell: String?

    static func find(_ name: String, in table: [ApsKey]) -> ApsKey? { table.first { $0.name == name } }

    /// The key that was probably meant: the same letters in another style, as in `contentAvailable`.
    static func resembling(_ name: String, in table: [ApsKey]) -> ApsKey? {
        let letters = fold(name)
        return table.first { fold($0.name) == letters }
    }

    private static func fold(_ name: String) -> String { name.lowercased().filter { $0.isLetter } }

    /// Keys that show or sound something on any push.
    static let general: [ApsKey] = [
        ApsKey(name: "alert", kind: .textOrDictionary), ApsKey(name: "badge", kind: .number),
        ApsKey(name: "sound", kind: .textOrDictionary), ApsKey(name: "thread-id", kind: .text),
        ApsKey(name: "category", kind: .text), ApsKey(name: "content-available", kind: .one),
        ApsKey(name: "mutable-content", kind: .one), ApsKey(name: "target-content-id", kind: .text),
        ApsKey(name: "interruption-level", kind: .text), ApsKey(name: "relevance-score", kind: .number),
        ApsKey(name: "filter-criteria", kind: .text),
        ApsKey(name: "url-args", kind: .texts),
        ApsKey(name: "summary-arg", kind: .text, farewell: "is ignored since iOS 15"),
        ApsKey(name: "summary-arg-count", kind: .number, farewell: "is ignored since iOS 15"),
    ]

    /// Keys of Live Activities.
    static let liveActivity: [ApsKey] = [
        ApsKey(name: "event", kind: .text), ApsKey(name: "timestamp", kind: .number),
        ApsKey(name: "content-state", kind: .dictionary), ApsKey(name: "stale-date", kind: .number),
        ApsKey(name: "dismissal-date", kind: .number), ApsKey(name: "attributes-type", kind: .text),
        ApsKey(name: "attributes", kind: .dictionary), ApsKey(name: "input-push-token", kind: .one),
        ApsKey(name: "input-push-channel", kind: .text),
    ]

    /// The key of widgets and controls.
    static let contentChanged = ApsKey(name: "content-changed", kind: .yes)

    static let all = general + liveActivity + [contentChanged]

    static let alert: [ApsKey] = [
        ApsKey(name: "title", kind: .text), ApsKey(name: "subtitle", kind: .text), ApsKey(name: "body", kind: .text),
        ApsKey(name: "launch-image", kind: .text),
        ApsKey(name: "title-loc-key", kind: .text), ApsKey(name: "title-loc-args", kind: .texts),
        ApsKey(name: "subtitle-loc-key", kind: .text), ApsKey(name: "subtitle-loc-args", kind: .texts),
        ApsKey(name: "loc-key", kind: .text), ApsKey(name: "loc-args", kind: .texts),
        ApsKey(name: "action", kind: .text, farewell: "is a key of old systems; use a category instead"),
        ApsKey(name: "action-loc-key", kind: .text, farewell: "is a key of old systems; use a category instead"),
    ]

    /// In Live Activities the sound stands inside the alert.
    static let liveActivityAlert = alert + [ApsKey(name: "sound", kind: .textOrDictionary)]

    static let sound: [ApsKey] = [
        ApsKey(name: "critical", kind: .one), ApsKey(name: "name", kind: .text),
        ApsKey(name: "volume", kind: .number),
    ]

    /// A text of a Live Activity's alert that the device translates.
    static let localized: [ApsKey] = [
        ApsKey(name: "loc-key", kind: .text), ApsKey(name: "loc-args", kind: .texts),
    ]
}
