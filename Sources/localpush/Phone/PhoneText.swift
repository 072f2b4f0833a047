internal import PushDevice
internal import PushJSON

/// What a phone prints, a line for each thing that happens. Pure.
struct PhoneText {
    let isJSON: Bool
    /// Unix milliseconds to text.
    let time: (Int64) -> String

    func line(_ event: DeviceEvent, at milliseconds: Int64) -> String {
        switch event {
        case .connecting: line("connecting", at: milliseconds)
        case .connected: line("connected", at: milliseconds)
        case .disconnected(let reason, let retry):
            line(
                "disconnected", at: milliseconds, text: "\(reason)\(Self.spoken(retry))",
                members: [
                    ("reason", .string(reason.kind.rawValue)), ("detail", .string(reason.detail)),
                    ("retryInMilliseconds", retry.map { .int($0.milliseconds) }),
                ])
        case .token(let topic, let token):
            line(
                "token", at: milliseconds, text: "\(topic)  \(token)",
                members: [("topic", .string(topic)), ("token", .string(token))])
        case .tokenRefused(let topic, let status):
            line(
                "tokenRefused", at: milliseconds, text: "\(topic)  status \(status)",
                members: [("topic", .string(topic)), ("status", .int(Int64(status)))])
        case .subscribed(let channel):
            line("subscribed", at: milliseconds, text: channel, members: [("channel", .string(channel))])
        case .subscriptionRefused(let channel, let status):
            line(
                "subscriptionRefused", at: milliseconds, text: "\(channel)  status \(status)",
                members: [("channel", .string(channel)), ("status", .int(Int64(status)))])
        case .inboxFull: line("inboxFull", at: milliseconds)
        }
    }

    func line(_ push: ReceivedPush) -> String {
        let payload = try? JSONText.parse(push.payload)
        let payloadText = String(decoding: push.payload, as: UTF8.self)
        var parts = [push.pushID ?? "without-id", push.topic, push.pushType ?? "-", payload?.text ?? payloadText]
        if let channel = push.broadcastChannel { parts.append("(channel \(channel))") }
        if push.isLastStored {
            parts.append("(from storage, last)")
        } else if push.isFromStorage {
            parts.append("(from storage)")
        }
        return line(
            "message", at: push.receivedAtMilliseconds, text: parts.joined(separator: "  "),
            members: [
                ("push", push.pushID.map { .string($0) }), ("topic", .string(push.topic)),
                ("pushType", push.pushType.map { .string($0) }), ("priority", push.priority.map { .int(Int64($0)) }),
                ("collapseID", push.collapseID.map { .string($0) }),
                ("channel", push.broadcastChannel.map { .string($0) }), ("fromStorage", .bool(push.isFromStorage)),
                ("lastStored", .bool(push.isLastStored)), ("payload", payload ?? .string(payloadText)),
            ])
    }

    private func line(
        _ name: String, at milliseconds: Int64, text: String = "", members: [(name: String, value: JSONValue?)] = []
    ) -> String {
        if isJSON {
            return JSONText.line(
                JSONText.object([("event", .string(name)), ("at", .int(milliseconds))] + members))
        }
        return TextQuote.plain([time(milliseconds), name, text].filter { !$0.isEmpty }.joined(separator: "  "))
    }

    private static func spoken(_ retry: Duration?) -> String {
        retry.map { "; next try in \(DurationText.spoken(milliseconds: $0.milliseconds))" } ?? ""
    }
}
