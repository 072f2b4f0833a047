import PushCore
import PushHTTP1
import PushJSON
import PushStore

extension ControlService {
    // MARK: Pushes

    func pushes(_ exchange: HTTP1Exchange) throws(ControlError) {
        try allow(["GET"], exchange.request)
        let query = try ControlQuery(
            exchange.request, allowed: ["app", "token", "channel", "state", "q", "after", "limit"])
        var wanted = PushQuery()
        wanted.after = try query.number("after", 0...Int64.max) ?? 0
        wanted.limit = Int(try query.number("limit", 1...Int64(PushStore.queryLimitMax)) ?? 100)
        wanted.bundle = query.text("app")
        wanted.chain = try registration(token: query.text("token"))?.lastPush
        if let channel = query.text("channel"), channel != "apns" { throw .badField("channel", "must be apns") }
        let state = try milestone(query)
        let text = query.text("q")?.lowercased()
        do throws(StoreError) {
            let found = try service.store.pushes(wanted)
            let views = found.map(waits.view).filter { view in
                (state == nil || view.state == state)
                    && (text == nil || String(decoding: view.push.payload, as: UTF8.self).lowercased().contains(text!))
            }
            let next = found.last?.record.sequence ?? wanted.after
            exchange.respond(
                ControlAnswer(
                    200, ["pushes": .array(views.map { $0.json(parser: parser) }), "next": .int(next)]
                ).response)
        } catch {
            throw ControlError(500, "store_failed", "\(error)")
        }
    }

    func push(_ exchange: HTTP1Exchange, _ id: String) throws(ControlError) {
        try allow(["GET"], exchange.request)
        exchange.respond(ControlAnswer(200, try findPush(id).json(parser: parser)).response)
    }

    /// By the provider's id, or by one that the server made.
    private func findPush(_ text: String) throws(ControlError) -> PushView {
        guard let id = APNsID(text) else { throw .unknownPush(text) }
        do throws(StoreError) {
            if let push = try service.store.push(id: id) { return waits.view(push) }
            if let sequence = service.core.ids.sequence(of: id), let push = try service.store.push(sequence) {
                return waits.view(push)
            }
        } catch {
            throw ControlError(500, "store_failed", "\(error)")
        }
        throw .unknownPush(text)
    }

    private func milestone(_ query: ControlQuery) throws(ControlError) -> Milestone? {
        guard let text = query.text("state") else { return nil }
        let known = Milestone.allCases.filter { Milestone.way.contains($0) || $0 == .held || $0.isFailure }
        guard let milestone = Milestone(text: text), known.contains(milestone) else {
            throw .badField("state", "must be one of \(known.map(\.text).joined(separator: ", "))")
        }
        return milestone
    }

    private func registration(token: String?) throws(ControlError) -> Registration? {
        guard let token else { return nil }
        guard let appToken = AppToken(hex: token), let found = service.core.registry.registration(appToken) else {
            throw ControlError(
                404, "unknown_token", "No device has this token.", hint: "GET /localpush/v1/devices lists tokens.")
        }
        return found
    }

    // MARK: Waits, inboxes, events

    func wait(_ exchange: HTTP1Exchange) throws(ControlError) {
        try allow(["GET"], exchange.request)
        let query = try ControlQuery(
            exchange.request, allowed: ["push", "token", "app", "match", "state", "count", "timeout", "after"])
        var filter = PushFilter()
        if let id = query.text("push") { filter.sequence = try findPush(id).push.record.sequence }
        filter.registration = try registration(token: query.text("token"))
        filter.bundle = query.text("app")
        filter.after = try query.number("after", 0...Int64.max) ?? 0
        for match in query.texts("match") {
            let parts = match.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw .badField("match", "must be PATH=VALUE, such as aps.alert.title=Hello")
            }
            filter.matches.append((String(parts[0]), String(parts[1])))
        }
        guard filter.sequence != nil || filter.registration != nil || filter.bundle != nil || !filter.matches.isEmpty
        else {
            throw ControlError(
                400, "bad_field", "The wait does not say what for.", hint: "Give push, token, app or match.")
        }
        let count = Int(try query.number("count", 1...Int64(PushStore.queryLimitMax)) ?? 1)
        guard filter.sequence == nil || count == 1 else { throw .badField("count", "must be 1 with push") }
        let milliseconds =
            try query.milliseconds("timeout", max: Self.waitMillisecondsMax) ?? Self.waitMillisecondsDefault
        try waits.wait(
            exchange, filter: filter, milestone: try milestone(query) ?? .acknowledged, count: count,
            milliseconds: milliseconds)
    }

    func inbox(_ exchange: HTTP1Exchange, _ label: String) throws(ControlError) {
        try allow(["GET"], exchange.request)
        let query = try ControlQuery(exchange.request, allowed: ["after", "wait"])
        try waits.inbox(
            exchange, device: try findDevice(label), after: try query.number("after", 0...Int64.max) ?? 0,
            milliseconds: try query.milliseconds("wait", max: Self.waitMillisecondsMax) ?? 0)
    }

    func events(_ exchange: HTTP1Exchange) throws(ControlError) {
        try allow(["GET"], exchange.request)
        let query = try ControlQuery(exchange.request, allowed: ["after"])
        let resumed = exchange.request.header("Last-Event-ID").flatMap { Int64($0) }
        let asked = try query.number("after", 0...Int64.max)
        waits.stream(exchange, after: resumed ?? asked ?? service.core.lastSequence)
    }

    // MARK: Reset

    func reset(_ exchange: HTTP1Exchange) throws(ControlError) {
        try allow(["POST"], exchange.request)
        let body = try ControlBody(exchange.request, parser: parser, allowed: ["keep"])
        let kept = try body.texts("keep") ?? []
        if let unknown = kept.first(where: { $0 != "apps" && $0 != "keys" }) {
            throw .badField("keep", "may hold apps and keys, not \(unknown)")
        }
        do throws(StoreError) {
            try service.reset(
                keepingApps: kept.contains("apps"), keepingKeys: kept.contains("keys"), now: now)
        } catch {
            throw ControlError(500, "store_failed", "\(error)")
        }
        respondWhenStored(exchange, ControlAnswer(200, [:]))
    }
}
