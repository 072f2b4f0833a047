internal import Glibc

extension [UInt8] {
    /// Whether the bytes in `range` are those of `other`, compared at once and not one by one.
    public func matches(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "the range lies within the array")
        guard range.count == other.count else { return false }
        guard !other.isEmpty else { return true }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { memcmp(mine.baseAddress! + range.lowerBound, $0.baseAddress!, range.count) == 0 }
        }
    }
}
