internal import CPushLibevent

/// Gives the memory of what is gone back to the system: the C library keeps free memory that lies between living pieces.
///
/// A plain value; its owner counts what ended and asks once in a while.
package struct FreedMemory {
    private let endedMin: Int
    private var ended = 0
    private var endedBefore = 0

    /// Acts after `endedMin` ends only: it takes milliseconds, and for a few there is little to win.
    package init(endedMin: Int) {
        precondition(endedMin > 0, "nothing is given back for nothing")
        self.endedMin = endedMin
    }

    package mutating func noteEnd() { ended += 1 }

    /// Acts when enough have ended and none since the last call; true when it did.
    @discardableResult
    package mutating func giveBackWhenQuiet() -> Bool {
        defer { endedBefore = ended }
        guard ended >= endedMin && ended == endedBefore else { return false }
        ended = 0
        _ = push_malloc_trim()
        return true
    }
}
