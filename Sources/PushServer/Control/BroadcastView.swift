import PushBytes
import PushCore
import PushJSON
import PushStore

/// What became of a broadcast on each device it was for: it has as many ends as there were subscribers.
///
/// As a whole it has come as far as the device that came furthest, and it has failed when it failed on all of them and
/// the channel does not keep it for others.
struct BroadcastView {
    private struct Delivery {
        let device: Int64
        let name: String
        var last: JournalEvent
        var isAcknowledged = false

        var state: Milestone { isAcknowledged ? .acknowledged : last.milestone }
    }

    /// The channel's id in base64.
    let channel: String
    /// The channel keeps it for devices that come.
    private let isKept: Bool
    private let deliveries: [Delivery]

    init?(_ push: StoredPush, core: ServerCore) {
        guard let mark = push.record.broadcast else { return nil }
        channel = Base64.encode(mark.channel)
        isKept = core.registry.channels[id: mark.channel]?.stored?.sequence == push.record.sequence
        var found: [Delivery] = []
        for event in push.events where event.device != 0 {
            let index = found.firstIndex { $0.device == event.device } ?? found.count
            if index == found.count {
                let name = core.registry.device(event.device).map { "\($0.name) (\($0.label))" }
                found.append(Delivery(device: event.device, name: name ?? "a device that is gone", last: event))
            }
            found[index].last = event
            if event.milestone == .acknowledged { found[index].isAcknowledged = true }
        }
        deliveries = found
    }

    var state: Milestone {
        let states = deliveries.map(\.state)
        for milestone in [Milestone.acknowledged, .sent, .stored] where states.contains(milestone) { return milestone }
        return isKept ? .stored : states.last ?? .accepted
    }

    var sentence: String {
        let kept = isKept ? " The channel keeps it for devices that come." : ""
        guard !deliveries.isEmpty else { return "Broadcast on channel \(channel): no device had subscribed.\(kept)" }
        var parts: [String] = []
        for milestone in Milestone.allCases {
            let count = deliveries.count { $0.state == milestone }
            if count > 0 { parts.append("\(count) \(milestone.text)") }
        }
        var text = "Broadcast on channel \(channel) to \(deliveries.count) "
        text += "\(deliveries.count == 1 ? "device" : "devices"): \(parts.joined(separator: ", "))."
        let lost = deliveries.last { $0.state == .dropped }
        if let lost, let cause = DropCause(rawValue: lost.last.detail) {
            text += " \(lost.name): \(cause.explanation)."
        }
        return text + kept
    }

    var json: JSONValue {
        .array(
            deliveries.map { ["device": .string("d\($0.device)"), "state": .string($0.state.text)] })
    }
}
