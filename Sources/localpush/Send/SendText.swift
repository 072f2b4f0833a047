internal import PushJSON

/// What became of one push, as `send` prints it.
struct SendResult: Sendable, Equatable {
    var id: String?
    /// `nil` when no answer came.
    var status: Int?
    var reason: String?
    /// With 410: since when the token is dead, in unix milliseconds.
    var timestampMilliseconds: Int64?
    /// Why no answer came.
    var failure: String?

    var isAccepted: Bool { status == 200 }

    /// Unix milliseconds to text.
    func line(time: (Int64) -> String) -> String {
        var parts = [id ?? "-", status.map(String.init) ?? "-"]
        if let reason { parts.append(reason) }
        if let since = timestampMilliseconds { parts.append("since \(time(since))") }
        if let failure { parts.append(failure) }
        return TextQuote.plain(parts.joined(separator: "  "))
    }

    var json: JSONValue {
        JSONText.object([
            ("id", id.map { .string($0) }), ("status", status.map { .int(Int64($0)) }),
            ("reason", reason.map { .string($0) }), ("timestamp", timestampMilliseconds.map { .int($0) }),
            ("error", failure.map { .string($0) }),
        ])
    }
}

/// The counts at the end of a longer run.
struct SendTally: Equatable {
    var accepted = 0
    var rejected = 0
    var failed = 0

    mutating func add(_ result: SendResult) {
        if result.isAccepted {
            accepted += 1
        } else if result.status != nil {
            rejected += 1
        } else {
            failed += 1
        }
    }

    var total: Int { accepted + rejected + failed }

    func text(milliseconds: Int64) -> String {
        let rate = milliseconds > 0 ? Int64(total) * 1000 / milliseconds : 0
        return "\(accepted) accepted, \(rejected) rejected, \(failed) without an answer in "
            + "\(DurationText.spoken(milliseconds: milliseconds)) (\(rate)/s)"
    }
}
