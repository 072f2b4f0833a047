/// Durations as people write them: a number and `ms`, `s`, `m` or `h`; a plain number means seconds.
enum DurationText {
    /// 1000 days: longer is a slip of the keyboard, and stays far from overflow.
    static let durationMax: Duration = .seconds(86_400_000)

    /// `nil` when the text is no duration, is negative, or is longer than `durationMax`.
    static func parse(_ text: String) -> Duration? {
        let units: [(suffix: String, milliseconds: Double)] = [
            ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("", 1000),
        ]
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let digits = text.dropLast(unit.suffix.count)
        let isPlain = digits.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isPlain, let number = Double(digits) else { return nil }
        let milliseconds = number * unit.milliseconds
        guard milliseconds <= Double(durationMax.milliseconds) else { return nil }
        return .microseconds(Int64((milliseconds * 1000).rounded()))
    }

    /// The shortest exact form the parser and the server read: `250ms`, `5s`, `2m`, `1h`.
    static func text(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        if milliseconds == 0 || !milliseconds.isMultiple(of: 1000) { return "\(milliseconds)ms" }
        let seconds = milliseconds / 1000
        if seconds.isMultiple(of: 3600) { return "\(seconds / 3600)h" }
        if seconds.isMultiple(of: 60) { return "\(seconds / 60)m" }
        return "\(seconds)s"
    }

    /// A span for people, three digits or so: `12 ms`, `1.24 s`, `3m 05s`, `2h 03m`, `4d 01h`.
    static func spoken(milliseconds: Int64) -> String {
        if milliseconds < 0 { return "-" + spoken(milliseconds: milliseconds == .min ? .max : -milliseconds) }
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        if milliseconds < 60_000 {
            return "\(milliseconds / 1000).\(TimeText.padded(Int(milliseconds % 1000) / 10, 2)) s"
        }
        let seconds = Int(milliseconds / 1000)
        if seconds < 3600 { return "\(seconds / 60)m \(TimeText.padded(seconds % 60, 2))s" }
        if seconds < 86_400 { return "\(seconds / 3600)h \(TimeText.padded(seconds / 60 % 60, 2))m" }
        return "\(seconds / 86_400)d \(TimeText.padded(seconds / 3600 % 24, 2))h"
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
