/// One push that waits for, or is on its way to, one registration.
package struct MailboxEntry: Sendable, Equatable {
    package enum State: UInt8, Sendable {
        case waiting, inFlight
    }

    package let sequence: Int64
    /// Unix milliseconds after which it is no longer delivered.
    package let expiresAt: Int64
    /// `false`: tried once and never kept for a device that is away (expiration 0, or one that had passed).
    package let isStorable: Bool
    package let priority: UInt8
    package var state = State.waiting
    /// It was kept before it was sent: the device hears that it comes from storage.
    package var isFromStorage = false
    /// It has left once and may have arrived: no rule replaces it, only an acknowledgement or its expiry ends it.
    package var wasSent = false

    package init(sequence: Int64, expiresAt: Int64, isStorable: Bool, priority: UInt8) {
        self.sequence = sequence
        self.expiresAt = expiresAt
        self.isStorable = isStorable
        self.priority = priority
    }
}

/// How an entry left a mailbox without being acknowledged.
package struct MailboxDeparture: Equatable {
    package enum Cause: Equatable {
        case replaced(by: Int64)
        case expired(at: Int64)
        case notStorable
        case queueFull
    }

    package let sequence: Int64
    package let cause: Cause
}

/// The pushes of one registration and topic, oldest first, under a storage rule. A value; time is an argument.
package struct Mailbox {
    private var entries: [MailboxEntry] = []
    private var head = 0

    package init() {}

    package var count: Int { entries.count - head }
    package var isEmpty: Bool { entries.count == head }
    package var inFlightCount: Int { entries[head...].count { $0.state == .inFlight } }
    /// When the next waiting push expires; `Int64.max` when none does.
    package var earliestExpiry: Int64 {
        var earliest = Int64.max
        for entry in entries[head...] where entry.state == .waiting && entry.isStorable {
            earliest = min(earliest, entry.expiresAt)
        }
        return earliest
    }
    package var sequences: [Int64] { entries[head...].map(\.sequence) }

    /// Puts a new push at the end. `canDeliver` says whether the device is there to take it.
    package mutating func admit(
        _ entry: MailboxEntry, canDeliver: Bool, rule: StorageRule, departures: inout [MailboxDeparture]
    ) {
        precondition(isEmpty || entries[entries.count - 1].sequence < entry.sequence, "pushes arrive in order")
        if !canDeliver && !entry.isStorable {
            departures.append(MailboxDeparture(sequence: entry.sequence, cause: .notStorable))
            return
        }
        entries.append(entry)
        if !canDeliver { keep(under: rule, departures: &departures) }
        if count > CoreLimits.mailboxMax { dropOldest(departures: &departures) }
    }

    /// The device is there and listens: what waits now is the replay.
    package mutating func beginReplay(now unixMilliseconds: Int64, departures: inout [MailboxDeparture]) {
        expire(at: unixMilliseconds, departures: &departures)
        for index in head..<entries.count where entries[index].state == .waiting {
            entries[index].isFromStorage = true
        }
    }

    /// The next push to send, now in flight; `isLastStored` marks the end of a replay. `nil` when none waits.
    package mutating func takeNext(
        now unixMilliseconds: Int64, departures: inout [MailboxDeparture]
    ) -> (entry: MailboxEntry, isLastStored: Bool)? {
        while let index = firstWaiting() {
            if isOver(entries[index], at: unixMilliseconds) {
                departures.append(expiry(entries[index]))
                remove(at: index)
                continue
            }
            entries[index].state = .inFlight
            entries[index].wasSent = true
            let isLastStored = entries[index].isFromStorage && !hasMoreStored(after: index, at: unixMilliseconds)
            return (entries[index], isLastStored)
        }
        return nil
    }

    /// The device acknowledged, or the delivery ended otherwise: forgets the push. `false` when it was not there.
    @discardableResult
    package mutating func remove(_ sequence: Int64) -> Bool {
        guard let index = index(of: sequence) else { return false }
        remove(at: index)
        return true
    }

    package func contains(_ sequence: Int64) -> Bool { index(of: sequence) != nil }

    /// The device went away. What was in flight waits again, whatever the rule: it may have arrived, and only an
    /// acknowledgement ends it. What never left is kept under the rule.
    package mutating func deviceLeft(rule: StorageRule, departures: inout [MailboxDeparture]) {
        var kept: [MailboxEntry] = []
        var unsent: [MailboxEntry] = []
        for var entry in entries[head...] {
            guard entry.isStorable else {
                departures.append(MailboxDeparture(sequence: entry.sequence, cause: .notStorable))
                continue
            }
            entry.state = .waiting
            if entry.wasSent { kept.append(entry) } else { unsent.append(entry) }
        }
        if rule == .apns, let newest = unsent.last {
            for entry in unsent.dropLast() {
                departures.append(
                    MailboxDeparture(sequence: entry.sequence, cause: .replaced(by: newest.sequence)))
            }
            unsent = [newest]
        }
        entries = kept + unsent
        head = 0
    }

    /// Drops what has expired by now. What is in flight may have arrived: it stays until it is acknowledged or comes
    /// back.
    package mutating func expire(at unixMilliseconds: Int64, departures: inout [MailboxDeparture]) {
        guard !isEmpty else { return }
        var left: [MailboxEntry] = []
        for entry in entries[head...] {
            if entry.state == .waiting && isOver(entry, at: unixMilliseconds) {
                departures.append(expiry(entry))
            } else {
                left.append(entry)
            }
        }
        entries = left
        head = 0
    }

    /// Empties the mailbox; returns what was in it.
    package mutating func removeAll() -> [Int64] {
        defer {
            entries = []
            head = 0
        }
        return sequences
    }

    private mutating func keep(under rule: StorageRule, departures: inout [MailboxDeparture]) {
        guard rule == .apns, count > 1 else { return }
        let newest = entries[entries.count - 1]
        let previous = entries[entries.count - 2]
        if !previous.wasSent {
            departures.append(
                MailboxDeparture(sequence: previous.sequence, cause: .replaced(by: newest.sequence)))
            entries.remove(at: entries.count - 2)
        }
    }

    /// At the limit the oldest that never left gives way: what was sent may have arrived already.
    private mutating func dropOldest(departures: inout [MailboxDeparture]) {
        guard let index = entries[head...].firstIndex(where: { !$0.wasSent }) else { return }
        departures.append(MailboxDeparture(sequence: entries[index].sequence, cause: .queueFull))
        remove(at: index)
    }

    /// A push that is tried only once has no end of its own.
    private func isOver(_ entry: MailboxEntry, at unixMilliseconds: Int64) -> Bool {
        entry.isStorable && entry.expiresAt <= unixMilliseconds
    }

    /// Whether a replay goes on behind an entry. Its entries stand together, before everything that came later.
    private func hasMoreStored(after index: Int, at unixMilliseconds: Int64) -> Bool {
        for entry in entries[(index + 1)...] {
            guard entry.isFromStorage else { return false }
            if !isOver(entry, at: unixMilliseconds) { return true }
        }
        return false
    }

    private func expiry(_ entry: MailboxEntry) -> MailboxDeparture {
        MailboxDeparture(sequence: entry.sequence, cause: .expired(at: entry.expiresAt))
    }

    private func firstWaiting() -> Int? {
        // In flight entries stand before waiting ones, so this looks at a handful at most.
        var low = head
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].state == .inFlight { low = middle + 1 } else { high = middle }
        }
        return low < entries.count ? low : nil
    }

    private func index(of sequence: Int64) -> Int? {
        var low = head
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].sequence == sequence ? low : nil
    }

    /// Closes the gap from its shorter side: acknowledgements come near the head of what may be a long queue.
    private mutating func remove(at index: Int) {
        if index - head > entries.count - index {
            entries.remove(at: index)
            return
        }
        var gap = index
        while gap > head {
            entries[gap] = entries[gap - 1]
            gap -= 1
        }
        removeFirst()
    }

    private mutating func removeFirst() {
        head += 1
        if head == entries.count {
            entries.removeAll(keepingCapacity: entries.capacity <= 64)
            head = 0
        } else if head >= 64 && head * 2 >= entries.count {
            entries.removeSubrange(0..<head)
            head = 0
        }
    }
}
