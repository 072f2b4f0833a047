internal import PushJSON

extension PayloadLint {
    /// UNIX seconds of 2001-09-09. Smaller times are durations that somebody took for a time.
    static let earliestTime: Int64 = 1_000_000_000
    /// UNIX seconds of the year 5138. Larger times are milliseconds.
    static let latestTime: Int64 = 100_000_000_000

    mutating func checkHeaders() {
        checkExpiration()
        if subject.pushType == nil && !subject.isBroadcast {
            warn("apns-push-type", "is absent: watchOS 6 and later need it, and Apple wants it on every push.")
        }
        if subject.effectiveType == .background && subject.priority == 10 {
            warn("apns-priority", "is 10 (also when absent), and background pushes must be sent with 5.")
        }
        if subject.effectiveType == .liveactivity && subject.priority == 1 {
            warn("apns-priority", "is 1, and Live Activities take 5 or 10.")
        }
    }

    private mutating func checkExpiration() {
        guard let expiration = subject.expiration, expiration != 0 else { return }
        let consequence = "the push is tried once and never kept"
        if expiration < 0 {
            warn("apns-expiration", "is negative, a time before 1970: \(consequence).")
        } else if expiration < Self.earliestTime {
            let year = 1970 + expiration / 31_556_952
            warn(
                "apns-expiration",
                "is a time and not a duration: \(expiration) lies in \(year), so \(consequence); "
                    + "add the time of now in UNIX seconds.")
        } else if expiration >= Self.latestTime {
            warn("apns-expiration", "looks like milliseconds; it is counted in UNIX seconds.")
        } else if expiration <= subject.receivedAt / 1000 {
            let seconds = subject.receivedAt / 1000 - expiration
            warn("apns-expiration", "had passed by \(seconds) seconds when the push came: \(consequence).")
        }
    }
}
