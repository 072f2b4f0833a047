import PushCore
import PushJSON
import PushStore

/// Which pushes a wait is about.
struct PushFilter {
    /// One push, by its place in the journal.
    var sequence: Int64?
    var registration: Registration?
    var bundle: String?
    /// Only pushes after this place.
    var after: Int64 = 0
    /// Values the payload must have: `aps.alert.title=Hello`.
    var matches: [(path: String, value: String)] = []

    /// Whether a push is meant, apart from what its payload says.
    func concerns(_ view: PushView) -> Bool {
        let record = view.push.record
        if let sequence { return record.sequence == sequence }
        guard record.sequence > after else { return false }
        if let registration, record.registration != registration.id { return false }
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
    var query: PushQuery {
        var query = PushQuery()
        query.after = after
        query.chain = registration?.lastPush
        query.bundle = bundle
        query.limit = PushStore.queryLimitMax
        return query
    }
}
