/// Finds what was probably meant.
package enum NearestMatch {
    /// The candidate closest to `word`, or `nil` when none is close: at most a third of the letters may differ, and a
    /// candidate that `word` begins counts as close.
    package static func find(_ word: String, in candidates: [String]) -> String? {
        if word.count >= 2, let longer = candidates.first(where: { $0.hasPrefix(word) }) { return longer }
        let ranked = candidates.map { (name: $0, distance: distance(Array(word.utf8), Array($0.utf8))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        let allowed = max(1, min(word.utf8.count, best.name.utf8.count) / 3)
        return best.distance <= allowed ? best.name : nil
    }

    /// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
    package static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let replaced = previous[column] + (left[row] == right[column] ? 0 : 1)
                var cost = min(replaced, previous[column + 1] + 1, current[column] + 1)
                let isSwap =
                    row > 0 && column > 0 && left[row] == right[column - 1] && left[row - 1] == right[column]
                if isSwap { cost = min(cost, beforePrevious[column - 1] + 1) }
                current.append(cost)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[right.count]
    }
}
