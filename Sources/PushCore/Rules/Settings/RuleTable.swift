import PushBytes

/// A preset of all rules.
package enum RuleProfile: String, Sendable, CaseIterable {
    /// Real answers and storage rules, no quotas: the fields' own defaults.
    case lenient
    /// All of it as Apple does.
    case faithful
    /// As lenient, and everything is stored in order.
    case ideal
}

/// Every rule that can be set by name, area by area. A new rule is a field of its area and one line in its table.
package enum RuleTable {
    package static let all: [RuleSetting] =
        AuthSettings.table + ConnectionSettings.table + DeliverySettings.table + BroadcastSettings.table

    package static func setting(_ name: String) -> RuleSetting? { all.first { $0.name == name } }

    /// Why a name and a value cannot be used: one line with the remedy, or `nil` when they can.
    package static func objection(to name: String, _ value: String) -> String? {
        guard let setting = setting(name) else {
            let guess = NearestMatch.find(name, in: all.map(\.name)).map { ", did you mean \($0)?" } ?? ""
            return "there is no setting \(name)\(guess) ('localpush help settings' lists them)"
        }
        var scratch = RuleSettings()
        return setting.set(value, in: &scratch)
            ? nil : "\(name) takes \(setting.expectation), not '\(value)'"
    }
}

extension RuleSettings {
    /// A profile's preset.
    package init(profile: RuleProfile) {
        self.init()
        for setting in RuleTable.all {
            guard let preset = setting.presets[profile] else { continue }
            precondition(setting.set(preset, in: &self), "the preset of \(setting.name) is a value of it")
        }
    }

    /// Sets a rule by name. Returns why that is not possible: one line with the remedy; `nil` when it is done.
    package mutating func set(_ name: String, to value: String) -> String? {
        if let objection = RuleTable.objection(to: name, value) { return objection }
        _ = RuleTable.setting(name)?.set(value, in: &self)
        return nil
    }
}
