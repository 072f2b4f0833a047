import PushCore
import PushHTTP1
import PushJSON
import PushStore

/// Counts the pushes that have come as far as a wait asks for, and knows which came nearest. Bound to the loop.
final class MilestoneSearch {
    private let service: PushService
    private let waits: ControlWaits
    private let parser: JSONParser
    private let filter: PushFilter
    private let milestone: Milestone
    private let count: Int
    private var reached: [Int64: PushView] = [:]
    /// The single push waited for, when it has ended otherwise or is no more.
    private var end: ControlError?

    init(
        _ service: PushService, _ waits: ControlWaits, parser: JSONParser, filter: PushFilter, milestone: Milestone,
        count: Int
    ) {
        self.service = service
        self.waits = waits
        self.parser = parser
        self.filter = filter
        self.milestone = milestone
        self.count = count
    }

    /// Looks into the journal, newest first: what happened before counts, too.
    func look() throws(ControlError) {
        if let push = filter.push { return consider(push) }
        do throws(StoreError) {
            _ = try scan { view in
                consider(view)
                return reached.count < count
            }
        } catch {
            throw ControlError(500, "store_failed", "\(error)")
        }
    }

    /// Looks at what just happened; nothing means that pushes may be gone.
    func take(_ events: [JournalEvent]) {
        if let push = filter.push {
            if events.isEmpty || events.contains(where: { $0.push == push.sequence }) { consider(push) }
            return
        }
        for sequence in Set(events.map(\.push)) where sequence != 0 && reached[sequence] == nil {
            if let view = waits.view(sequence) { consider(view) }
        }
    }

    /// What is certain by now; `nil` while there is hope.
    var answer: HTTP1Response? {
        if reached.count >= count {
            let ordered = reached.sorted { $0.key < $1.key }
            return ControlAnswer(200, ["deliveries": .array(ordered.map { $0.value.json(parser: parser) })]).response
        }
        return end?.response
    }

    /// What to say when the time is up.
    var lateAnswer: HTTP1Response { miss("timed_out", nearest).response }

    private func consider(_ push: PushFilter.Push) {
        guard let view = waits.view(push.sequence) else {
            end = .unknownPush(push.id)
            return
        }
        consider(view)
        if reached.isEmpty && view.canNeverReach(milestone) { end = miss("will_not_happen", view) }
    }

    private func consider(_ view: PushView) {
        guard view.hasReached(milestone), filter.concerns(view), filter.difference(view, parser: parser) == nil
        else { return }
        reached[view.push.record.sequence] = view
    }

    /// The newest push that agrees and has only not come far enough; else the newest one that differs.
    private var nearest: PushView? {
        if let push = filter.push { return waits.view(push.sequence) }
        var nearest: PushView?
        _ = try? scan { view in
            guard reached[view.push.record.sequence] == nil else { return true }
            let agrees = filter.difference(view, parser: parser) == nil
            if agrees || nearest == nil { nearest = view }
            return !agrees
        }
        return nearest
    }

    private func scan(_ body: (PushView) -> Bool) throws(StoreError) -> Bool {
        try PushScan(store: service.store, query: filter.query(service.core.registry)).run { push in
            let view = waits.view(push)
            return filter.concerns(view) ? body(view) : true
        }
    }

    private func miss(_ code: String, _ nearest: PushView?) -> ControlError {
        var parts = ["\(reached.count) of \(count) reached \(milestone.text)."]
        if let nearest {
            parts.append("Nearest is push \(nearest.id).")
            if let difference = filter.difference(nearest, parser: parser) {
                parts.append("Its payload differs: \(difference).")
            }
            parts.append(nearest.sentence)
        } else {
            parts.append(reached.isEmpty ? "No push came that this wait is about." : "No other push came.")
        }
        if nearest?.push.record.reason == nil, let obstacle { parts.append(obstacle) }
        var error = ControlError(
            408, code, parts.joined(separator: " "),
            hint: code == "timed_out" ? "GET /localpush/v1/pushes shows everything that came." : nil)
        error.extra = [JSONMember("nearest", nearest?.json(parser: parser) ?? .null)]
        return error
    }

    /// What keeps every push from the token waited for.
    private var obstacle: String? {
        guard let token = filter.token else { return nil }
        guard let registration = service.core.registry.registration(token) else {
            return "No device has this token."
        }
        if registration.unregisteredAt != nil {
            return "The token is unregistered: pushes to it are rejected with 410 Unregistered."
        }
        if registration.expiredAt != nil {
            return "The token has expired: pushes to it are rejected with 410 ExpiredToken."
        }
        return nil
    }
}
