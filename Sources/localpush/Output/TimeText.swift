/// Unix milliseconds as ISO 8601 text. Pure: the offset from UTC comes in.
enum TimeText {
    /// `2026-11-30T22:02:38.123+01:00`, or `…Z` without an offset from UTC.
    static func iso(milliseconds: Int64, offsetSeconds: Int) -> String {
        local(milliseconds: milliseconds, offsetSeconds: offsetSeconds) + offset(offsetSeconds)
    }

    /// The same without the offset: `2026-11-30T22:02:38.123`.
    static func local(milliseconds: Int64, offsetSeconds: Int) -> String {
        let (shifted, overflow) = milliseconds.addingReportingOverflow(Int64(offsetSeconds) * 1000)
        guard !overflow else { return "\(milliseconds)" }
        let days = floorDivide(shifted, 86_400_000)
        let inDay = Int((shifted % 86_400_000 + 86_400_000) % 86_400_000)
        let (year, month, day) = civil(days)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let hours = padded(inDay / 3_600_000, 2)
        let minutes = padded(inDay / 60_000 % 60, 2)
        let seconds = padded(inDay / 1000 % 60, 2)
        return "\(date)T\(hours):\(minutes):\(seconds).\(padded(inDay % 1000, 3))"
    }

    static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func offset(_ seconds: Int) -> String {
        if seconds == 0 { return "Z" }
        let minutes = abs(seconds) / 60
        return "\(seconds < 0 ? "-" : "+")\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2))"
    }

    /// Days since 1970-01-01 to a date in the Gregorian calendar. The year is counted from March, so that the leap day
    /// is the last of its year, in eras of 400 years.
    private static func civil(_ days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = Int(shifted - era * 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0)
        return (year, month, day)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        value % divisor < 0 ? value / divisor - 1 : value / divisor
    }
}
