import PushCore
import PushJSON
import PushStore

/// A push as people and tests see it: where it stands, its life line, and one sentence that says why.
struct PushView {
    let push: StoredPush
    let id: String
    let registration: Registration?
    private let broadcast: BroadcastView?
    private let isListening: Bool
    private let replacements: [Int64: String]

    init(_ push: StoredPush, core: ServerCore, replacementID: (Int64) -> String) {
        self.push = push
        id = push.record.id?.string ?? core.ids.id(for: push.record.sequence).string
        registration = core.registry.registration(push.record.registration)
        broadcast = BroadcastView(push, core: core)
        if let registration, let topic = push.record.topic.flatMap({ core.registry.topic(named: Array($0.utf8)) }) {
            isListening = registration.device.listens(to: topic)
        } else {
            isListening = false
        }
        var names: [Int64: String] = [:]
        for event in push.events where event.milestone == .replaced {
            names[event.detail] = replacementID(event.detail)
        }
        replacements = names
    }

    /// Whether the payload holds a text, which is in lower case, in any case.
    func contains(_ text: String) -> Bool {
        String(decoding: push.payload, as: UTF8.self).lowercased().contains(text)
    }

    /// The furthest milestone, or the end.
    var state: Milestone {
        if push.record.reason != nil { return .rejected }
        if let broadcast { return broadcast.state }
        let passed = push.events.map(\.milestone)
        if passed.contains(.acknowledged) { return .acknowledged }
        return passed.last(where: \.isFailure) ?? passed.last ?? .stored
    }

    /// Whether it came as far as `milestone`, or ended in just that way.
    func hasReached(_ milestone: Milestone) -> Bool {
        if milestone.isFailure { return state == milestone }
        guard push.record.reason == nil else { return false }
        if milestone == .accepted || milestone == .stored { return true }
        return push.events.contains { $0.milestone == milestone }
            || (milestone == .sent && state == .acknowledged)
    }

    /// It has ended and can never come as far.
    func canNeverReach(_ milestone: Milestone) -> Bool {
        !hasReached(milestone) && (state.isFailure || (milestone.isFailure && state == .acknowledged))
    }

    /// The answer to "what happened to it, and why?".
    var sentence: String {
        if let broadcast, push.record.reason == nil { return broadcast.sentence }
        let device = registration.map { "\($0.device.name) (\($0.device.label))" } ?? "its device"
        switch state {
        case .rejected:
            guard let reason = push.record.reason else { return "Rejected." }
            let offence = push.record.detail.map { " Sent: \($0)." } ?? ""
            return "Rejected with \(reason.status) \(reason.text): \(reason.explanation).\(offence)"
        case .acknowledged:
            return "Acknowledged by \(device) \(elapsed(.acknowledged)) ms after it was accepted."
        case .replaced:
            let by = replacements.values.first ?? "a newer push"
            return "Replaced by \(by): for a device that is away only the newest push of a topic is kept "
                + "(profile ideal keeps all)."
        case .expired:
            return "Expired before \(device) was there to take it (apns-expiration, or 30 days)."
        case .dropped:
            let cause = push.events.last { $0.milestone == .dropped }.flatMap { DropCause(rawValue: $0.detail) }
            return "Dropped: \(cause?.explanation ?? "no cause was kept")."
        case .sent:
            let attempts = push.events.count { $0.milestone == .sent }
            return "Sent to \(device) \(attempts == 1 ? "once" : "\(attempts) times") and not acknowledged yet."
        case .held where registration?.device.isOnline == true:
            let cause = push.events.last { $0.milestone == .held }.flatMap { HoldCause(rawValue: $0.detail) }
            return "Held back from \(device): \(cause?.explanation ?? "no cause was kept")."
        default:
            return waitingSentence(device)
        }
    }

    private func waitingSentence(_ device: String) -> String {
        guard let registration else { return "Stored; the device it was for is gone." }
        if !registration.device.isOnline { return "Stored: \(device) is not connected." }
        if isListening { return "Stored: \(device) is connected and has other pushes to acknowledge first." }
        return "Stored: \(device) is connected but does not listen to \(push.record.topic ?? "the topic")."
    }

    private func elapsed(_ milestone: Milestone) -> Int64 {
        (push.events.last { $0.milestone == milestone }?.at ?? push.record.at) - push.record.at
    }

    func json(parser: JSONParser) -> JSONValue {
        let record = push.record
        var members: [JSONMember] = [
            JSONMember("id", .string(id)), JSONMember("seq", .int(record.sequence)),
            JSONMember("channel", broadcast == nil ? "apns" : "broadcast"),
        ]
        func add(_ name: String, _ text: String?) {
            if let text { members.append(JSONMember(name, .string(text))) }
        }
        add("app", registration?.app.bundle ?? record.topic.map { TopicSuffix.split($0).bundle })
        add("topic", record.topic)
        add("token", registration?.token.hex)
        add("device", registration?.device.label)
        add("channelID", broadcast?.channel)
        add("environment", record.environment.text)
        add("state", state.text)
        add("reason", record.reason?.text)
        members.append(JSONMember("status", .int(Int64(record.reason?.status ?? 200))))
        members.append(JSONMember("receivedAt", .int(record.at)))
        add("pushType", record.pushType?.text)
        if record.reason == nil { members.append(JSONMember("priority", .int(Int64(record.priority)))) }
        if let expiration = record.expiration { members.append(JSONMember("expiration", .int(expiration))) }
        add("collapseID", record.collapseID)
        add("detail", record.detail)
        let payload = (try? parser.parse(push.payload.span)) ?? .string(String(decoding: push.payload, as: UTF8.self))
        members.append(JSONMember("payload", payload))
        if record.reason == nil, let broadcast { members.append(JSONMember("deliveries", broadcast.json)) }
        members.append(JSONMember("lifeLine", .array(lifeLine)))
        members.append(JSONMember("sentence", .string(sentence)))
        return .object(members)
    }

    private var lifeLine: [JSONValue] {
        let record = push.record
        func line(
            _ sequence: Int64, _ state: Milestone, _ at: Int64, _ detail: String?, device: Int64 = 0
        ) -> JSONValue {
            var members = [
                JSONMember("seq", .int(sequence)), JSONMember("state", .string(state.text)), JSONMember("at", .int(at)),
            ]
            if device != 0 && broadcast != nil { members.append(JSONMember("device", .string("d\(device)"))) }
            if let detail { members.append(JSONMember("detail", .string(detail))) }
            return .object(members)
        }
        if let reason = record.reason { return [line(record.sequence, .rejected, record.at, reason.text)] }
        var start = [line(record.sequence, .accepted, record.at, nil)]
        // What a channel keeps it keeps for some devices: their lines say so.
        if broadcast == nil { start.append(line(record.sequence, .stored, record.at, nil)) }
        return start
            + push.events.map { line($0.sequence, $0.milestone, $0.at, detail(of: $0), device: $0.device) }
    }

    private func detail(of event: JournalEvent) -> String? {
        switch event.milestone {
        case .sent: event.detail > 1 ? "attempt \(event.detail)" : nil
        case .replaced: "by \(replacements[event.detail] ?? "")"
        case .dropped: DropCause(rawValue: event.detail)?.explanation
        case .held: HoldCause(rawValue: event.detail)?.explanation
        default: nil
        }
    }
}
