/// One rule that can be set by name: what it is called, how its value is written, and where the value lives.
///
/// Rules read the field of `RuleSettings`, never the table: names and texts are for people.
package struct RuleSetting: Sendable {
    /// Where the value lives and what it may be.
    package enum Kind: Sendable {
        case flag(any WritableKeyPath<RuleSettings, Bool> & Sendable)
        case count(any WritableKeyPath<RuleSettings, Int> & Sendable, ClosedRange<Int>)
        /// The field holds milliseconds; so does the range.
        case duration(any WritableKeyPath<RuleSettings, Int64> & Sendable, ClosedRange<Int64>)
        case choice(
            [String], get: @Sendable (RuleSettings) -> String, set: @Sendable (inout RuleSettings, String) -> Void)
    }

    /// Dotted: area and rule, as in `connection.streamsBeforeToken`.
    package let name: String
    package let kind: Kind
    /// One sentence that names the unit.
    package let doc: String
    /// Its value in a profile that differs from `lenient`, written as a user would write it.
    package let presets: [RuleProfile: String]

    package init(
        _ name: String, _ kind: Kind, faithful: String? = nil, ideal: String? = nil, _ doc: String
    ) {
        self.name = name
        self.kind = kind
        self.doc = doc
        var presets: [RuleProfile: String] = [:]
        presets[.faithful] = faithful
        presets[.ideal] = ideal
        self.presets = presets
    }

    /// A rule whose values are the cases of an enumeration, written as in the source.
    package static func choice<Choice: CaseIterable & Sendable>(
        _ path: any WritableKeyPath<RuleSettings, Choice> & Sendable
    ) -> Kind {
        .choice(Choice.allCases.map { "\($0)" }, get: { "\($0[keyPath: path])" }) { settings, text in
            guard let value = Choice.allCases.first(where: { "\($0)" == text }) else {
                preconditionFailure("the text is one of the choices")
            }
            settings[keyPath: path] = value
        }
    }

    /// Ends the sentence "name takes …".
    package var expectation: String {
        switch kind {
        case .flag: "on or off"
        case .count(_, let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration(_, let range):
            "a duration from \(SettingDuration.text(range.lowerBound)) to \(SettingDuration.text(range.upperBound)), "
                + "such as 250ms, 5s, 2m, 1h or 30d"
        case .choice(let choices, _, _): "one of \(choices.joined(separator: ", "))"
        }
    }

    /// The value as a user would write it.
    package func text(in settings: RuleSettings) -> String {
        switch kind {
        case .flag(let path): settings[keyPath: path] ? "on" : "off"
        case .count(let path, _): "\(settings[keyPath: path])"
        case .duration(let path, _): SettingDuration.text(settings[keyPath: path])
        case .choice(_, let get, _): get(settings)
        }
    }

    /// Sets the value; `false` when the text is no value of this rule, and nothing has changed.
    package func set(_ text: String, in settings: inout RuleSettings) -> Bool {
        switch kind {
        case .flag(let path):
            guard let value = Self.flag(text) else { return false }
            settings[keyPath: path] = value
        case .count(let path, let range):
            guard let value = Int(text), range.contains(value) else { return false }
            settings[keyPath: path] = value
        case .duration(let path, let range):
            guard let value = SettingDuration.milliseconds(text), range.contains(value) else { return false }
            settings[keyPath: path] = value
        case .choice(let choices, _, let set):
            guard choices.contains(text) else { return false }
            set(&settings, text)
        }
        return true
    }

    private static func flag(_ text: String) -> Bool? {
        switch text {
        case "on", "true", "yes": true
        case "off", "false", "no": false
        default: nil
        }
    }
}

/// A duration as settings are written: a whole number and `ms`, `s`, `m`, `h` or `d`; a plain number means seconds.
package enum SettingDuration {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1000),
    ]

    package static func milliseconds(_ text: String) -> Int64? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let digits = text.dropLast(unit.suffix.count)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits) else { return nil }
        let (value, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : value
    }

    /// In the largest unit that divides it.
    package static func text(_ milliseconds: Int64) -> String {
        if milliseconds == 0 { return "0s" }
        let unit = units.dropLast().last { milliseconds.isMultiple(of: $0.milliseconds) } ?? units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}
