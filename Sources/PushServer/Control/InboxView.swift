import PushBytes
import PushCore
import PushHTTP1
import PushJSON
import PushStore

/// What one device received after a place in the journal, as JSON. Bound to the loop.
struct InboxView {
    let service: PushService
    let parser: JSONParser
    let device: Int64
    let after: Int64

    /// Whether the device still is.
    var isThere: Bool { service.core.registry.device(device) != nil }

    func isMessage(_ event: JournalEvent) -> Bool { event.milestone == .acknowledged && event.device == device }

    var isEmpty: Bool {
        get throws(ControlError) { try reading { () throws(StoreError) in try places(limit: 1).isEmpty } }
    }

    var response: HTTP1Response {
        guard isThere else { return ControlError.unknownDevice("d\(device)").response }
        do throws(ControlError) {
            return try reading { () throws(StoreError) in try answer.response }
        } catch {
            return error.response
        }
    }

    private var answer: ControlAnswer {
        get throws(StoreError) {
            let found = try places(limit: PushStore.queryLimitMax)
            var messages: [JSONValue] = []
            for (sequence, push) in found {
                guard let stored = try service.store.push(push) else { continue }
                messages.append(message(stored, sequence: sequence))
            }
            return ControlAnswer(
                200, ["messages": .array(messages), "next": .int(found.last?.sequence ?? after)])
        }
    }

    private func places(limit: Int) throws(StoreError) -> [(sequence: Int64, push: Int64)] {
        try service.store.inbox(of: device, after: after, limit: limit)
    }

    private func message(_ push: StoredPush, sequence: Int64) -> JSONValue {
        let payload = (try? parser.parse(push.payload.span)) ?? .string(String(decoding: push.payload, as: UTF8.self))
        let received =
            push.events.last { $0.milestone == .acknowledged && $0.device == device }?.at ?? push.record.at
        let id = push.record.id ?? service.core.ids.id(for: push.record.sequence)
        var members = [
            JSONMember("seq", .int(sequence)), JSONMember("push", .string(id.string)),
            JSONMember("topic", .string(push.record.topic ?? "")), JSONMember("payload", payload),
            JSONMember("receivedAt", .int(received)),
        ]
        // The identifier of the notification on the device: a later one with the same id takes its place.
        if let collapseID = push.record.collapseID { members.append(JSONMember("collapseID", .string(collapseID))) }
        if let broadcast = push.record.broadcast {
            members.append(JSONMember("channelID", .string(Base64.encode(broadcast.channel))))
        }
        return .object(members)
    }

    private func reading<Result>(_ body: () throws(StoreError) -> Result) throws(ControlError) -> Result {
        do throws(StoreError) { return try body() } catch { throw ControlError(500, "store_failed", "\(error)") }
    }
}
