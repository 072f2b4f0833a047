internal import PushJSON

/// Pushes as the control API tells them, for people. Pure: the time zone comes in as a function.
struct PushText {
    /// Unix milliseconds to text.
    let time: (Int64) -> String

    /// A table, newest last.
    func table(_ pushes: [JSONValue]) -> String {
        var table = TextTable(["TIME", "ID", "APP", "STATE", "WHAT HAPPENED"])
        for push in pushes { table.append(row(push)) }
        return table.text
    }

    /// One push on one line.
    func line(_ push: JSONValue) -> String {
        row(push).filter { !$0.isEmpty }.map { TextQuote.plain($0) }.joined(separator: "  ")
    }

    /// One event of the journal on one line.
    func event(_ event: JSONValue) -> String {
        let parts = [
            event["at"]?.intValue.map { time(Int64($0)) }, event["state"]?.stringValue, event["push"]?.stringValue,
            event["device"]?.stringValue, detail(event["detail"]),
        ]
        return parts.compactMap { $0 }.filter { !$0.isEmpty }.map { TextQuote.plain($0) }.joined(separator: "  ")
    }

    /// All about one push.
    func page(_ push: JSONValue) -> String {
        var lines = TextFields.lines([
            ("push", push["id"]?.stringValue),
            ("app", push["app"]?.stringValue),
            ("topic", push["topic"]?.stringValue),
            ("environment", push["environment"]?.stringValue),
            ("channel", push["channelID"]?.stringValue),
            ("token", push["token"]?.stringValue),
            ("device", push["device"]?.stringValue),
            ("received", push["receivedAt"]?.intValue.map { time(Int64($0)) }),
            ("push type", push["pushType"]?.stringValue),
            ("priority", push["priority"]?.intValue.map(String.init)),
            ("expiration", expiration(push["expiration"]?.intValue)),
            ("collapse id", push["collapseID"]?.stringValue),
            ("status", push["status"]?.intValue.map(String.init)),
            ("reason", push["reason"]?.stringValue),
            ("state", push["state"]?.stringValue),
        ])
        if let payload = push["payload"] {
            lines += ["", "Payload:"]
            let pretty = payload.stringValue ?? payload.pretty()
            lines += pretty.split(separator: "\n").map { "  \(TextQuote.plain(String($0)))" }
        }
        lines += warnings(push)
        lines += lifeLine(push)
        if let sentence = push["sentence"]?.stringValue { lines += ["", TextQuote.plain(sentence)] }
        return lines.joined(separator: "\n") + "\n"
    }

    private func row(_ push: JSONValue) -> [String] {
        [
            push["receivedAt"]?.intValue.map { time(Int64($0)) } ?? "", push["id"]?.stringValue ?? "",
            push["app"]?.stringValue ?? "", push["state"]?.stringValue ?? "", push["sentence"]?.stringValue ?? "",
        ]
    }

    /// The header is in unix seconds; 0 and below mean that nothing is kept.
    private func expiration(_ seconds: Int?) -> String? {
        guard let seconds else { return nil }
        let (milliseconds, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1000)
        if seconds <= 0 || overflow { return String(seconds) }
        return "\(seconds) (\(time(milliseconds)))"
    }

    /// What the linter says of the payload and its headers.
    private func warnings(_ push: JSONValue) -> [String] {
        guard let warnings = push["warnings"]?.arrayValue, !warnings.isEmpty else { return [] }
        return ["", "Warnings:"]
            + warnings.map { warning in
                let parts = [warning["path"]?.stringValue, warning["message"]?.stringValue]
                return "  \(TextQuote.plain(parts.compactMap { $0 }.joined(separator: " ")))"
            }
    }

    private func lifeLine(_ push: JSONValue) -> [String] {
        guard let steps = push["lifeLine"]?.arrayValue, !steps.isEmpty else { return [] }
        let start = Int64(push["receivedAt"]?.intValue ?? steps[0]["at"]?.intValue ?? 0)
        var table = TextTable(["  AFTER", "STATE", "DETAIL"])
        for step in steps {
            let after = (step["at"]?.intValue).map { DurationText.spoken(milliseconds: Int64($0) &- start) }
            table.append(["  \(after ?? "?")", step["state"]?.stringValue ?? "", detail(step["detail"])])
        }
        return ["", "Life line:"] + table.text.split(separator: "\n").map(String.init)
    }

    private func detail(_ value: JSONValue?) -> String {
        guard let value, !value.isNull else { return "" }
        return value.stringValue ?? value.text
    }
}

/// Names and values below each other; what is missing is left out.
enum TextFields {
    static func lines(_ fields: [(name: String, value: String?)]) -> [String] {
        let width = fields.map(\.name.count).max() ?? 0
        return fields.compactMap { field in
            guard let value = field.value else { return nil }
            let gap = String(repeating: " ", count: width - field.name.count + 2)
            return field.name + gap + TextQuote.plain(value)
        }
    }
}
