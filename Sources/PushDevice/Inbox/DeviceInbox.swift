package import PushSQLite

/// Where a device keeps its messages until the app is done with them, and the ids of those it has seen.
package enum DeviceInbox {
    /// Gone with the process; for simulated phones by the thousand.
    case memory(MemoryInbox)
    /// A file in the state directory.
    case file(FileInbox)

    /// What one turn of the loop wants to be kept.
    package struct Change {
        package var arrivals: [InboxMessage] = []
        /// Sequence numbers of messages that the app has acknowledged. Unknown and repeated ones are skipped.
        package var consumed: [Int64] = []
        /// `.some(nil)` forgets the token.
        package var baseToken: [UInt8]??

        package init() {}

        package var isEmpty: Bool { arrivals.isEmpty && consumed.isEmpty && baseToken == nil }
    }

    package struct Outcome: Equatable {
        /// One for each arrival, in order: its sequence number, or `nil` when it was seen before.
        package var sequences: [Int64?] = []
        /// Messages that are gone now.
        package var consumed = 0
    }

    /// Keeps all of `change` or, when it throws, nothing.
    package mutating func commit(_ change: Change) throws(SQLiteError) -> Outcome {
        switch self {
        case .memory(var inbox):
            // Taken out and put back, so that its sets have one owner and are not copied.
            self = .memory(MemoryInbox(seenMax: 1))
            let outcome = inbox.commit(change)
            self = .memory(inbox)
            return outcome
        case .file(let inbox):
            return try inbox.commit(change)
        }
    }

    package func close() {
        if case .file(let inbox) = self { inbox.close() }
    }
}

/// An inbox without a file: it only has to recognise what comes twice.
package struct MemoryInbox {
    private var sequence: Int64 = 0
    private var seen: SeenKeys
    private var unconsumed: Set<Int64> = []

    package init(seenMax: Int) {
        seen = SeenKeys(max: seenMax)
    }

    package mutating func commit(_ change: DeviceInbox.Change) -> DeviceInbox.Outcome {
        var outcome = DeviceInbox.Outcome()
        for message in change.arrivals { outcome.sequences.append(insert(message.key)) }
        for sequence in change.consumed where unconsumed.remove(sequence) != nil { outcome.consumed += 1 }
        return outcome
    }

    private mutating func insert(_ key: MessageKey) -> Int64? {
        guard seen.insert(key) else { return nil }
        sequence += 1
        unconsumed.insert(sequence)
        return sequence
    }
}
