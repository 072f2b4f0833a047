/// One reading of both clocks, taken by a driver and passed down; nothing in a core reads a clock itself.
package struct Moment: Sendable, Equatable {
    /// Milliseconds on a clock that never jumps: for time-outs and intervals.
    package var monotonicMilliseconds: Int64
    /// Milliseconds since 1970 UTC: for expirations, token ages and everything people read.
    package var unixMilliseconds: Int64

    package init(monotonicMilliseconds: Int64, unixMilliseconds: Int64) {
        self.monotonicMilliseconds = monotonicMilliseconds
        self.unixMilliseconds = unixMilliseconds
    }
}
