/// Scheduled timers, the nearest first; equal deadlines keep the order in which they were scheduled.
///
/// A timer that is moved to a later deadline keeps its old place until that comes up: pushing an idle timer
/// ahead on every message costs no heap work.
struct TimerHeap {
    private struct Entry {
        var deadline: MonotonicTime
        var sequence: UInt64
        /// Not owned: a timer leaves the heap when it goes away.
        unowned(unsafe) var timer: Timer

        func precedes(_ other: Entry) -> Bool {
            deadline == other.deadline ? sequence < other.sequence : deadline < other.deadline
        }
    }

    private var entries: [Entry] = []
    private(set) var nextSequence: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    /// When the loop has to look at the heap again (no later than the nearest deadline).
    var nearest: MonotonicTime? { entries.first?.deadline }

    mutating func schedule(_ timer: Timer, at deadline: MonotonicTime) {
        let isLater = timer.heapIndex >= 0 && deadline >= entries[timer.heapIndex].deadline
        timer.deadline = deadline
        timer.sequence = nextSequence
        nextSequence += 1
        if isLater { return }
        remove(timer)
        insert(timer)
    }

    mutating func remove(_ timer: Timer) {
        let index = timer.heapIndex
        if index < 0 { return }
        precondition(entries[index].timer === timer, "a timer knows its place")
        timer.heapIndex = -1
        let last = entries.removeLast()
        if index < entries.count {
            place(last, at: index)
            siftUp(index)
            siftDown(last.timer.heapIndex)
        }
    }

    /// Takes the nearest timer that is due at `now` and was scheduled before `mark`.
    mutating func popDue(_ now: MonotonicTime, before mark: UInt64) -> Timer? {
        while let first = entries.first, first.deadline <= now {
            let timer = first.timer
            if timer.sequence != first.sequence {
                remove(timer)
                insert(timer)
                continue
            }
            if timer.sequence >= mark { return nil }
            remove(timer)
            return timer
        }
        return nil
    }

    private mutating func insert(_ timer: Timer) {
        let entry = Entry(deadline: timer.deadline, sequence: timer.sequence, timer: timer)
        entries.append(entry)
        timer.heapIndex = entries.count - 1
        siftUp(entries.count - 1)
    }

    private mutating func place(_ entry: Entry, at index: Int) {
        entries[index] = entry
        entry.timer.heapIndex = index
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        let entry = entries[index]
        while index > 0 {
            let parent = (index - 1) / 2
            if !entry.precedes(entries[parent]) { break }
            place(entries[parent], at: index)
            index = parent
        }
        place(entry, at: index)
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        let entry = entries[index]
        while true {
            var child = 2 * index + 1
            if child >= entries.count { break }
            if child + 1 < entries.count && entries[child + 1].precedes(entries[child]) { child += 1 }
            if !entries[child].precedes(entry) { break }
            place(entries[child], at: index)
            index = child
        }
        place(entry, at: index)
    }
}
