import PushCore
import PushHTTP1
import PushJSON
import PushStore

extension ControlService {
    // MARK: Pushes

    /// Without `after` the newest pushes, with it those that follow it: so a reader can page from 0 to the end.
    func pushes(_ exchange: HTTP1Exchange) throws(ControlError) {
        try allow(["GET"], exchange.request)
        let query = try ControlQuery(
            exchange.request, allowed: ["app", "token", "channel", "state", "q", "after", "limit"])
        var wanted = PushQuery()
        let after = try query.number("after", 0...Int64.max)
        let limit = Int(try query.number("limit", 1...Int64(PushStore.queryLimitMax)) ?? 100)
        let registration = try registration(token: query.text("token"))
        wanted.after = after ?? 0
        wanted.prefersOldest = after != nil
        wanted.bundle = query.text("app")
        // A chain leads from the newest push to the oldest.
        if !wanted.prefersOldest { wanted.chain = registration?.lastPush }
        let channel = query.text("channel")
        if let channel, channel != "apns" && channel != "broadcast" {
            throw .badField("channel", "must be apns or broadcast")
        }
        let state = try milestone(query)
        if wanted.chain == nil { wanted.isRejected = state.map { $0 == .rejected } }
        let text = query.text("q")?.lowercased()
        var views: [PushView] = []
        var next = wanted.after
        do throws(StoreError) {
            let isWhole = try PushScan(store: service.store, query: wanted).run { push in
                next = max(next, push.record.sequence)
                let view = waits.view(push)
                let isMeant =
                    (registration == nil || push.record.registration == registration?.id)
                    && (channel == nil || (push.record.broadcast == nil) == (channel == "apns"))
                    && (state == nil || view.state == state) && (text == nil || view.contains(text ?? ""))
                if isMeant { views.append(view) }
                return views.count < limit
            }
            let ordered = wanted.prefersOldest ? views : views.reversed()
            exchange.respond(
                ControlAnswer(
                    200,
                    [
                        "pushes": .array(ordered.map { $0.json(parser: parser) }), "next": .int(next),
                        "more": .bool(!isWhole),
                    ]
                ).response)
        } catch {
            throw ControlError(500, "store_failed", "\(error)")
        }
    }

    func push(_ exchange: HTTP1Exchange, _ id: String) throws(ControlError) {
        try allow(["GET"], exchange.request)
        exchange.respond(ControlAnswer(200, try findPush(id).detailedJSON(parser: parser)).response)
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

    /// A token that a device has; or that may get one, when the server makes devices for tokens it never saw.
    private func token(_ text: String?) throws(ControlError) -> AppToken? {
        guard let text else { return nil }
        guard let token = AppToken(hex: text),
            service.core.settings.registersUnknownTokens || service.core.registry.registration(token) != nil
        else { throw .unknownToken }
        return token
    }

    private func registration(token text: String?) throws(ControlError) -> Registration? {
        guard let token = try token(text) else { return nil }
        guard let found = service.core.registry.registration(token) else { throw .unknownToken }
        return found
    }

    // MARK: Waits, inboxes, events

    func wait(_ exchange: HTTP1Exchange) throws(ControlError) {
        try allow(["GET"], exchange.request)
        let query = try ControlQuery(
            exchange.request, allowed: ["push", "token", "app", "match", "state", "count", "timeout", "after"])
        var filter = PushFilter()
        if let id = query.text("push") {
            let view = try findPush(id)
            filter.push = PushFilter.Push(sequence: view.push.record.sequence, id: view.id)
        }
        filter.token = try token(query.text("token"))
        filter.bundle = query.text("app")
        filter.after = try query.number("after", 0...Int64.max) ?? 0
        for match in query.texts("match") {
            let parts = match.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw .badField("match", "must be PATH=VALUE, such as aps.alert.title=Hello")
            }
            filter.matches.append((String(parts[0]), String(parts[1])))
        }
        guard filter.push != nil || filter.token != nil || filter.bundle != nil || !filter.matches.isEmpty
        else {
            throw ControlError(
                400, "bad_field", "The wait does not say what for.", hint: "Give push, token, app or match.")
        }
        let count = Int(try query.number("count", 1...Int64(PushStore.queryLimitMax)) ?? 1)
        guard filter.push == nil || count == 1 else { throw .badField("count", "must be 1 with push") }
        let milliseconds =
            try query.milliseconds("timeout", max: Self.waitMillisecondsMax) ?? Self.waitMillisecondsDefault
        let search = MilestoneSearch(
            service, waits, parser: parser, filter: filter, milestone: try milestone(query) ?? .acknowledged,
            count: count)
        try waits.wait(exchange, search: search, milliseconds: milliseconds)
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
        // A place beyond the end is of another store: its reader wants what comes now.
        let newest = service.core.lastSequence
        try waits.stream(exchange, after: min(max(resumed ?? asked ?? newest, 0), newest))
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
