/// Counts within an interval that begins with the first count after the last one has ended. A value; time is an
/// argument, in monotonic milliseconds.
package struct RateWindow: Sendable {
    private var start: Int64 = 0
    private var count: Int32 = 0

    package init() {}

    /// Counts one more, or returns `false` when `most` are counted already.
    package mutating func take(_ most: Int, per milliseconds: Int64, now: Int64) -> Bool {
        if count == 0 || now - start >= milliseconds {
            start = now
            count = 0
        }
        guard Int(count) < most else { return false }
        count += 1
        return true
    }

    /// When the interval ends.
    package func end(per milliseconds: Int64) -> Int64 { start + milliseconds }
}
