internal import PushReactor

/// Which pushes wait, which are under way on which stream, and when each must end.
///
/// Pure: time comes in, verdicts go out. All pushes have the same time to live, so they end in the order they came.
struct SendLedger {
    typealias SendID = UInt64

    struct StreamKey: Hashable {
        var connection: Int
        var stream: Int32
    }

    /// Why a stream ended without having been looked at; such a push may be sent again (RFC 9113, section 8.7).
    enum Unseen {
        /// The server told the connection to go away before it saw this stream.
        case goneAway
        /// The server refused the stream, being at its limit.
        case refused
    }

    enum Verdict: Equatable {
        /// Waits again, ahead of the others.
        case again
        /// Its repeats are used up; it is out of the ledger.
        case over(SendID)
        /// Nobody waits for it any more.
        case unknown
    }

    private struct Entry {
        var key: StreamKey?
        var movesLeft = 1
        var refusalsLeft = SendLedger.refusalsMax
    }

    /// Times one push may be refused for the stream limit: the limit can drop while many are under way. Each refusal
    /// comes after a round trip, so ten do not spin.
    static let refusalsMax = 10

    private let sendsMax: Int
    private var entries: [SendID: Entry] = [:]
    private var sends: [StreamKey: SendID] = [:]
    private var waiting = Queue<SendID>()
    /// Put back after a refusal: these go first.
    private var urgent: [SendID] = []
    private var deadlines = Queue<(id: SendID, at: MonotonicTime)>()

    init(sendsMax: Int) {
        precondition(sendsMax > 0, "at least one push may wait")
        self.sendsMax = sendsMax
    }

    var count: Int { entries.count }

    var isEmpty: Bool { entries.isEmpty }

    /// False when the ledger is full.
    mutating func add(_ id: SendID, deadline: MonotonicTime) -> Bool {
        precondition(entries[id] == nil, "an id is used once")
        guard entries.count < sendsMax else { return false }
        entries[id] = Entry()
        waiting.append(id)
        deadlines.append((id, deadline))
        return true
    }

    /// The push whose turn it is; nil when none waits. It stays until `submitted` or `remove`.
    mutating func next() -> SendID? {
        while let id = urgent.last {
            if let entry = entries[id], entry.key == nil { return id }
            urgent.removeLast()
        }
        while let id = waiting.first {
            if let entry = entries[id], entry.key == nil { return id }
            waiting.removeFirst()
        }
        return nil
    }

    mutating func submitted(_ id: SendID, _ key: StreamKey) {
        guard var entry = entries[id] else { preconditionFailure("only what waits is submitted") }
        precondition(entry.key == nil && sends[key] == nil, "a push has one stream, a stream one push")
        entry.key = key
        entries[id] = entry
        sends[key] = id
    }

    /// The stream's push has its answer (or its end) and is out of the ledger.
    mutating func finished(_ key: StreamKey) -> SendID? {
        guard let id = sends.removeValue(forKey: key) else { return nil }
        entries[id] = nil
        return id
    }

    /// The stream ended unseen: its push goes back to the front while it has repeats left.
    mutating func unseen(_ key: StreamKey, _ why: Unseen) -> Verdict {
        guard let id = sends.removeValue(forKey: key), var entry = entries[id] else { return .unknown }
        let mayRepeat: Bool
        switch why {
        case .goneAway:
            mayRepeat = entry.movesLeft > 0
            entry.movesLeft -= 1
        case .refused:
            mayRepeat = entry.refusalsLeft > 0
            entry.refusalsLeft -= 1
        }
        guard mayRepeat else {
            entries[id] = nil
            return .over(id)
        }
        entry.key = nil
        entries[id] = entry
        urgent.append(id)
        return .again
    }

    /// Takes one push out, wherever it is; the stream it was on, if any.
    mutating func remove(_ id: SendID) -> StreamKey? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        if let key = entry.key { sends[key] = nil }
        return entry.key
    }

    /// Takes out all that were under way on a connection.
    mutating func lost(connection: Int) -> [SendID] {
        let keys = sends.keys.filter { $0.connection == connection }
        return keys.compactMap { finished($0) }.sorted()
    }

    /// Takes out all that wait for a stream.
    mutating func removeWaiting() -> [SendID] {
        let ids = entries.filter { $0.value.key == nil }.map(\.key).sorted()
        for id in ids { entries[id] = nil }
        return ids
    }

    /// Takes out one push whose time is over; nil when there is none. With its stream, if it was under way.
    mutating func expired(now: MonotonicTime) -> (id: SendID, key: StreamKey?)? {
        while let first = deadlines.first {
            if entries[first.id] == nil {
                deadlines.removeFirst()
                continue
            }
            guard first.at <= now else { return nil }
            deadlines.removeFirst()
            return (first.id, remove(first.id))
        }
        return nil
    }

    /// When the oldest push must end.
    mutating func nextDeadline() -> MonotonicTime? {
        while let first = deadlines.first {
            if entries[first.id] != nil { return first.at }
            deadlines.removeFirst()
        }
        return nil
    }

    func contains(_ id: SendID) -> Bool { entries[id] != nil }
}

/// First in, first out, over one array.
struct Queue<Element> {
    private var elements: [Element] = []
    private var taken = 0

    var first: Element? { taken < elements.count ? elements[taken] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() {
        precondition(taken < elements.count, "there is a first element")
        taken += 1
        // Half of it spent: move the rest down, which costs each element at most one move on average.
        if taken * 2 >= elements.count {
            elements.removeSubrange(..<taken)
            taken = 0
        }
    }
}
