import PushCore
import PushHTTP1
import PushJSON
import PushReactor
import PushStore

/// The calls that are answered later: waits for a milestone, waits for an inbox, event streams. Bound to the loop.
final class ControlWaits {
    private let service: PushService
    private let loop: EventLoop
    private let countMax: Int
    private let parser = JSONParser()
    private var waits: [ObjectIdentifier: Wait] = [:]
    private var isStopping = false

    /// `countMax`: open waits and streams together; beyond, calls are refused with 429.
    init(service: PushService, loop: EventLoop, countMax: Int) {
        self.service = service
        self.loop = loop
        self.countMax = countMax
    }

    /// Something that waits for the journal to move.
    private final class Wait {
        let exchange: HTTP1Exchange
        /// Called after every stored turn with what happened, and with nothing when devices or pushes may have gone;
        /// `true` when it is done.
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

    /// Apps, devices or all of the journal were changed by a call: who waits for what is gone hears it.
    func registryChanged() { moved([]) }

    /// The server stops: every wait times out now, every stream ends.
    func endAll() {
        isStopping = true
        for (key, wait) in waits {
            end(key)
            wait.timedOut()
        }
    }

    func view(_ push: StoredPush) -> PushView {
        PushView(push, core: service.core) { [service] sequence in
            let kept = try? service.store.withPush(sequence) { record, _ in record.id?.string }
            return (kept ?? nil) ?? service.core.ids.id(for: sequence).string
        }
    }

    func view(_ sequence: Int64) -> PushView? {
        guard let push = try? service.store.push(sequence) else { return nil }
        return view(push)
    }

    // MARK: The three kinds

    func wait(_ exchange: HTTP1Exchange, search: MilestoneSearch, milliseconds: Int64) throws(ControlError) {
        try search.look()
        if let answer = search.answer {
            exchange.respond(answer)
            return
        }
        try checkRoom()
        let wait = Wait(
            exchange,
            moved: { events in
                search.take(events)
                guard let answer = search.answer else { return false }
                exchange.respond(answer)
                return true
            }, timedOut: { exchange.respond(search.lateAnswer) })
        add(wait, milliseconds: milliseconds)
    }

    func inbox(_ exchange: HTTP1Exchange, device: Device, after: Int64, milliseconds: Int64) throws(ControlError) {
        let inbox = InboxView(service: service, parser: parser, device: device.id, after: after)
        let hasMessages = try !inbox.isEmpty
        if hasMessages || milliseconds == 0 {
            exchange.respond(inbox.response)
            return
        }
        try checkRoom()
        let wait = Wait(
            exchange,
            moved: { events in
                guard !inbox.isThere || events.contains(where: inbox.isMessage) else { return false }
                exchange.respond(inbox.response)
                return true
            }, timedOut: { exchange.respond(inbox.response) })
        add(wait, milliseconds: milliseconds)
    }

    func stream(_ exchange: HTTP1Exchange, after: Int64) throws(ControlError) {
        try checkRoom()
        let stream = EventStream(exchange, service: service, loop: loop, after: after) { [unowned self] in
            view($0)?.id
        }
        let wait = Wait(
            exchange,
            moved: { _ in
                stream.advance()
                return false
            }, timedOut: { exchange.endStream() })
        add(wait, milliseconds: nil)
        stream.begin()
    }

    // MARK: Helpers

    private func checkRoom() throws(ControlError) {
        guard waits.count < countMax else {
            throw ControlError(
                429, "too_many_waits", "\(countMax) waits and streams are open already.",
                hint: "Give waits a shorter timeout, or end streams that nobody reads.")
        }
    }

    private func add(_ wait: Wait, milliseconds: Int64?) {
        precondition(waits.count < countMax, "there is room")
        let key = ObjectIdentifier(wait)
        waits[key] = wait
        service.observer = { [unowned self] events in moved(events) }
        wait.exchange.onClose = { [unowned self] in end(key) }
        // A stop has ended the others; one that comes still is next.
        guard let milliseconds = isStopping ? 0 : milliseconds else { return }
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
}
