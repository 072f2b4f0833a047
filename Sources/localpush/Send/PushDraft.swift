internal import PushJSON

/// What `send` was told to send. Pure.
struct PushDraft {
    var app = ""
    /// In place of the one that follows from app and push type.
    var topic: String?
    var pushType: String?
    var title: String?
    var body: String?
    /// The bytes to send as they are, valid or not.
    var payload: [UInt8]?

    /// Topics as Apple's documentation gives them for each push type.
    var resolvedTopic: String {
        if let topic { return topic }
        return switch pushType {
        case "location": "\(app).location-query"
        case "voip": "\(app).voip"
        case "complication": "\(app).complication"
        case "fileprovider": "\(app).pushkit.fileprovider"
        case "liveactivity": "\(app).push-type.liveactivity"
        case "pushtotalk": "\(app).voip-ptt"
        case "widgets": "\(app).push-type.widgets"
        case "controls": "\(app).push-type.controls"
        default: app
        }
    }

    var resolvedPayload: [UInt8] {
        if let payload { return payload }
        return Array(JSONText.line(["aps": aps]).utf8)
    }

    private var aps: JSONValue {
        if title == nil && body == nil {
            switch pushType {
            case "background": return ["content-available": 1]
            case "liveactivity": return ["event": "update", "content-state": [:]]
            case "widgets", "controls": return ["content-changed": true]
            default: return ["alert": ["title": "Hello from LocalPush"]]
            }
        }
        return [
            "alert": JSONText.object([
                ("title", title.map { .string($0) }), ("body", body.map { .string($0) }),
            ])
        ]
    }
}

/// When a push ends to mean something, as the command line writes it.
enum ExpirationText: Sendable, Equatable {
    /// Unix seconds.
    case at(Int64)
    case after(Duration)

    /// Plain digits are unix seconds; with a unit it is a time from now.
    init?(_ text: String) {
        if let seconds = Int64(text) {
            self = .at(seconds)
        } else if let duration = DurationText.parse(text) {
            self = .after(duration)
        } else {
            return nil
        }
    }

    func seconds(nowMilliseconds: Int64) -> Int64 {
        switch self {
        case .at(let seconds): seconds
        case .after(let duration): (nowMilliseconds + duration.milliseconds) / 1000
        }
    }
}

extension ValueSyntax<ExpirationText> {
    static var expiration: ValueSyntax {
        ValueSyntax(
            placeholder: "TIME", expectation: "unix seconds, or a time from now such as 1h", completion: .nothing
        ) { ExpirationText($0) }
    }
}
