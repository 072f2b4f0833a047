import PushBytes

/// What a push is for: the value of `apns-push-type`. Apple lists these eleven.
package enum PushType: UInt8, Sendable, CaseIterable {
    case alert = 1
    case background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

    /// The word on the wire.
    package var text: String { "\(self)" }

    /// What must follow the bundle id in `apns-topic`.
    package var topicSuffix: TopicSuffix {
        switch self {
        case .alert, .background, .mdm: .none
        case .location: .location
        case .voip: .voip
        case .complication: .complication
        case .fileprovider: .fileprovider
        case .liveactivity: .liveactivity
        case .pushtotalk: .pushtotalk
        case .widgets: .widgets
        case .controls: .controls
        }
    }

    package init?(textIn storage: [UInt8], _ range: Range<Int>) {
        guard let match = Self.table.first(where: { storage.matches(range, $0.bytes) }) else { return nil }
        self = match.type
    }

    private static let table: [(bytes: [UInt8], type: PushType)] = allCases.map { (Array($0.text.utf8), $0) }
}

/// The ending of a topic that belongs to a push type; the rest is the bundle id.
package enum TopicSuffix: UInt8, Sendable, CaseIterable {
    case none = 0
    case location, voip, complication, fileprovider, liveactivity, pushtotalk, widgets, controls

    package var text: String {
        switch self {
        case .none: ""
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// Splits a topic into bundle id and suffix.
    package static func split(_ topic: String) -> (bundle: String, suffix: TopicSuffix) {
        for suffix in allCases where suffix != .none && topic.hasSuffix(suffix.text) && topic != suffix.text {
            return (String(topic.dropLast(suffix.text.count)), suffix)
        }
        return (topic, .none)
    }
}
