import PushCore
import PushJSON
import PushStore

/// Which pushes a wait is about.
struct PushFilter {
    /// One push: its place in the journal, and the id it goes by.
    struct Push {
        let sequence: Int64
        let id: String
    }

    var push: Push?
    /// A token stays what it is when the server starts over; a registration does not.
    var token: AppToken?
    var bundle: String?
    /// Only pushes after this place.
    var after: Int64 = 0
    /// Values the payload must have: `aps.alert.title=Hello`.
    var matches: [(path: String, value: String)] = []

    /// Whether a push is meant, apart from what its payload says.
    func concerns(_ view: PushView) -> Bool {
        let record = view.push.record
        if let push { return record.sequence == push.sequence }
        guard record.sequence > after else { return false }
        if let token, view.registration?.token != token { return false }
        guard let bundle else { return true }
        return view.registration?.app.bundle == bundle
            || record.topic.map { TopicSuffix.split($0).bundle == bundle } ?? false
    }

    /// The first value of the payload that differs, in words; `nil` when all agree.
    func difference(_ view: PushView, parser: JSONParser) -> String? {
        guard !matches.isEmpty else { return nil }
        let payload = try? parser.parse(view.push.payload.span)
        for (path, wanted) in matches {
            guard let found = payload?[path: path] else { return "\(path) is missing, wanted \(wanted)" }
            let text = found.stringValue ?? found.text
            if text != wanted { return "\(path) is \(text), wanted \(wanted)" }
        }
        return nil
    }

    /// The query that finds candidates in the store.
    func query(_ registry: Registry) -> PushQuery {
        var query = PushQuery()
        query.after = after
        query.chain = token.map { registry.registration($0)?.lastPush ?? 0 }
        query.bundle = bundle
        return query
    }
}
