import PushCore
import PushStore

/// Goes through the journal's pushes in batches, so that a condition that few of them meet finds those, however many
/// others stand between.
struct PushScan {
    /// Most pushes one scan looks at: a tenth of a second's work, since the loop waits meanwhile. Policy: stop and say
    /// so.
    static let pushesMax = 10_000
    private static let batchMax = 200

    let store: PushStore
    /// Which pushes to look at; its limit is not used.
    let query: PushQuery

    /// Hands out pushes until `body` says `false`: the newest first, or the oldest first if the query prefers those.
    /// `false` when pushes were left that nobody looked at.
    func run(_ body: (StoredPush) -> Bool) throws(StoreError) -> Bool {
        var query = query
        var left = Self.pushesMax
        while true {
            // One more tells whether there is more.
            query.limit = min(Self.batchMax, left) + 1
            let found = try store.pushes(query)
            let isLast = found.count < query.limit
            let batch = query.prefersOldest ? found : found.reversed()
            for (index, push) in batch.prefix(query.limit - 1).enumerated() {
                left -= 1
                guard body(push) else { return isLast && index == batch.count - 1 }
                if query.prefersOldest {
                    query.after = push.record.sequence
                } else {
                    query.before = push.record.sequence
                }
                if query.chain != nil { query.chain = push.record.previous }
            }
            if isLast || left == 0 { return isLast }
        }
    }
}
