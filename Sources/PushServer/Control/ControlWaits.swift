import PushCore
import PushHTTP1
import PushJSON
import PushReactor
import PushStore

/// The calls that are answered later: waits for a milestone, waits for an inbox, event streams. Bound to the loop.
final class ControlWaits {
    /// Open waits and streams together; beyond, calls are refused with 429.
    static let countMax = 1000
    /// Journal lines sent to a stream per turn, so that a long backlog does not hold the loop.
    static let eventsPerTurnMax = 500

    private let service: PushService
    private let loop: EventLoop
    private let parser = JSONParser()
    private var waits: [ObjectIdentifier: Wait] = [:]

    init(service: PushService, loop: EventLoop) {
        self.service = service
        self.loop = loop
    }

    /// Something that waits for the journal to move.
    private final class Wait {
        let exchange: HTTP1Exchange
        /// Called after every stored turn with what happened; `true` when it is done.
        let moved: ([JournalEvent]) -> Bool
        /// Called when the time is up.
        let timedOut: () -> Void
        var timer: Timer?

        init(_ exchange: HTTP1Exchange, moved: @escaping ([JournalEvent]) -> Bool, timedOut: @escaping () -> Void) {
            self.exchange = exchange
            self.moved = moved
            self.timedOut = timedOut
        }
    }

    private func add(_ wait: Wait, milliseconds: Int64?) {
        guard waits.count < Self.countMax else {
            wait.exchange.respond(
                ControlError(
                    429, "too_many_waits", "\(Self.countMax) waits and streams are open already.",
                    hint: "Give waits a shorter timeout, or end streams that nobody reads."
                ).response)
            return
        }
        let key = ObjectIdentifier(wait)
        waits[key] = wait
        service.observer = { [unowned self] events in moved(events) }
        wait.exchange.onClose = { [unowned self] in end(key) }
        guard let milliseconds else { return }
        let timer = Timer(loop: loop) { [unowned self] in
            guard let wait = waits[key] else { return }
            end(key)
            wait.timedOut()
        }
        timer.schedule(after: .milliseconds(milliseconds))
        wait.timer = timer
    }

    private func end(_ key: ObjectIdentifier) {
        guard let wait = waits.removeValue(forKey: key) else { return }
        wait.timer?.cancel()
        wait.exchange.onClose = nil
        if waits.isEmpty { service.observer = nil }
    }

    private func moved(_ events: [JournalEvent]) {
        for (key, wait) in waits where wait.moved(events) { end(key) }
    }

    /// The server stops: every wait times out now, every stream ends.
    func endAll() {
        for (key, wait) in waits {
            end(key)
            wait.timedOut()
        }
    }

    // MARK: Waiting for a milestone

    func wait(_ exchange: HTTP1Exchange, filter: PushFilter, milestone: Milestone, count: Int, milliseconds: Int64)
        throws(ControlError)
    {
        var reached: [Int64: PushView] = [:]
        for view in try candidates(filter)
        where filter.difference(view, parser: parser) == nil && view.hasReached(milestone) {
            reached[view.push.record.sequence] = view
        }
        if reached.count >= count {
            exchange.respond(answer(reached).response)
            return
        }
        if let hopeless = hopeless(filter, milestone) {
            exchange.respond(miss("will_not_happen", filter, milestone, count, reached.count, hopeless).response)
            return
        }
        let wait = Wait(
            exchange,
            moved: { [unowned self] events in
                for sequence in Set(events.map(\.push)) where sequence != 0 && reached[sequence] == nil {
                    guard let view = view(sequence), filter.concerns(view),
                        filter.difference(view, parser: parser) == nil, view.hasReached(milestone)
                    else { continue }
                    reached[sequence] = view
                }
                if reached.count >= count {
                    exchange.respond(answer(reached).response)
                    return true
                }
                guard let hopeless = hopeless(filter, milestone) else { return false }
                exchange.respond(miss("will_not_happen", filter, milestone, count, reached.count, hopeless).response)
                return true
            },
            timedOut: { [unowned self] in
                let nearest = try? candidates(filter).last
                exchange.respond(miss("timed_out", filter, milestone, count, reached.count, nearest).response)
            })
        add(wait, milliseconds: milliseconds)
    }

    /// The single push waited for, when it has ended otherwise.
    private func hopeless(_ filter: PushFilter, _ milestone: Milestone) -> PushView? {
        guard let sequence = filter.sequence, let view = view(sequence) else { return nil }
        return view.canNeverReach(milestone) ? view : nil
    }

    private func candidates(_ filter: PushFilter) throws(ControlError) -> [PushView] {
        if let sequence = filter.sequence { return view(sequence).map { [$0] } ?? [] }
        do throws(StoreError) {
            return try service.store.pushes(filter.query).map(view).filter(filter.concerns)
        } catch {
            throw ControlError(500, "store_failed", "\(error)")
        }
    }

    func view(_ push: StoredPush) -> PushView {
        PushView(push, core: service.core) { [service] sequence in
            let kept = try? service.store.withPush(sequence) { record, _ in record.id?.string }
            return (kept ?? nil) ?? service.core.ids.id(for: sequence).string
        }
    }

    private func view(_ sequence: Int64) -> PushView? {
        guard let push = try? service.store.push(sequence) else { return nil }
        return view(push)
    }

    private func answer(_ reached: [Int64: PushView]) -> ControlAnswer {
        let ordered = reached.sorted { $0.key < $1.key }
        return ControlAnswer(200, ["deliveries": .array(ordered.map { $0.value.json(parser: parser) })])
    }

    private func miss(
        _ code: String, _ filter: PushFilter, _ milestone: Milestone, _ count: Int, _ reached: Int,
        _ nearest: PushView?
    ) -> ControlError {
        let why: String
        if let nearest {
            let difference = filter.difference(nearest, parser: parser).map { "Its payload differs: \($0). " } ?? ""
            why = "Nearest is push \(nearest.id). \(difference)\(nearest.sentence)"
        } else {
            why = "No push came that this wait is about."
        }
        var error = ControlError(
            408, code, "\(reached) of \(count) reached \(milestone.text). \(why)",
            hint: code == "timed_out" ? "GET /localpush/v1/pushes shows everything that came." : nil)
        error.extra = [JSONMember("nearest", nearest?.json(parser: parser) ?? .null)]
        return error
    }

    // MARK: Waiting for an inbox

    func inbox(_ exchange: HTTP1Exchange, device: Device, after: Int64, milliseconds: Int64) throws(ControlError) {
        let answer = try inboxAnswer(device, after: after)
        if answer.hasMessages || milliseconds == 0 {
            exchange.respond(answer.answer.response)
            return
        }
        let id = device.id
        let respond: () -> Void = { [unowned self] in
            if let answer = try? inboxAnswer(device, after: after) {
                exchange.respond(answer.answer.response)
            } else {
                exchange.respond(ControlError(500, "store_failed", "The inbox could not be read.").response)
            }
        }
        let wait = Wait(
            exchange,
            moved: { events in
                guard events.contains(where: { $0.milestone == .acknowledged && $0.device == id }) else { return false }
                respond()
                return true
            }, timedOut: respond)
        add(wait, milliseconds: milliseconds)
    }

    private func inboxAnswer(
        _ device: Device, after: Int64
    ) throws(ControlError) -> (answer: ControlAnswer, hasMessages: Bool) {
        do throws(StoreError) {
            let found = try service.store.inbox(of: device.id, after: after, limit: PushStore.queryLimitMax)
            var messages: [JSONValue] = []
            for (sequence, push) in found {
                guard let stored = try service.store.push(push) else { continue }
                messages.append(message(stored, sequence: sequence))
            }
            return (
                ControlAnswer(
                    200, ["messages": .array(messages), "next": .int(found.last?.sequence ?? after)]),
                !messages.isEmpty
            )
        } catch {
            throw ControlError(500, "store_failed", "\(error)")
        }
    }

    private func message(_ push: StoredPush, sequence: Int64) -> JSONValue {
        let payload = (try? parser.parse(push.payload.span)) ?? .string(String(decoding: push.payload, as: UTF8.self))
        let received = push.events.last { $0.milestone == .acknowledged }?.at ?? push.record.at
        return [
            "seq": .int(sequence), "push": .string(view(push).id), "topic": .string(push.record.topic ?? ""),
            "payload": payload, "receivedAt": .int(received),
        ]
    }

    // MARK: The journal as a stream

    func stream(_ exchange: HTTP1Exchange, after: Int64) {
        exchange.beginStream(
            status: 200, headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")])
        var cursor = after
        let send: () -> Void = { [unowned self] in
            guard let events = try? service.store.events(after: cursor, limit: Self.eventsPerTurnMax), !events.isEmpty
            else { return }
            cursor = events[events.count - 1].sequence
            exchange.send(Array(events.map(line).joined().utf8))
        }
        // A comment opens the stream at once, so that a reader knows it is there.
        exchange.send(Array(": localpush\n\n".utf8))
        let wait = Wait(
            exchange,
            moved: { _ in
                send()
                return false
            }, timedOut: { exchange.endStream() })
        add(wait, milliseconds: nil)
        catchUp(wait, send: send, cursor: { cursor })
    }

    /// Sends an old backlog bit by bit, a piece a turn, until it has met the present.
    private func catchUp(_ wait: Wait, send: @escaping () -> Void, cursor: @escaping () -> Int64) {
        let before = cursor()
        send()
        guard cursor() > before, waits[ObjectIdentifier(wait)] != nil else { return }
        let timer = Timer(loop: loop) { [unowned self, weak wait] in
            if let wait { catchUp(wait, send: send, cursor: cursor) }
        }
        timer.schedule(after: .zero)
        wait.timer = timer
    }

    private func line(_ event: JournalEvent) -> String {
        var members = [JSONMember("seq", .int(event.sequence)), JSONMember("state", .string(event.milestone.text))]
        members.append(JSONMember("at", .int(event.at)))
        if event.push != 0, let view = view(event.push) { members.append(JSONMember("push", .string(view.id))) }
        if event.device != 0 { members.append(JSONMember("device", .string("d\(event.device)"))) }
        if event.milestone == .rejected, let reason = APNsReason(rawValue: UInt8(clamping: event.detail)) {
            members.append(JSONMember("detail", .string(reason.text)))
        } else if event.milestone == .dropped, let cause = DropCause(rawValue: event.detail) {
            members.append(JSONMember("detail", .string(cause.explanation)))
        } else if event.milestone == .sent {
            members.append(JSONMember("detail", .string("attempt \(event.detail)")))
        }
        return "id: \(event.sequence)\nevent: \(event.milestone.text)\ndata: \(JSONValue.object(members).text)\n\n"
    }
}
