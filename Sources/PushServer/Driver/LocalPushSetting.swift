import PushCore
package import PushJSON

/// One rule that `LocalPushConfiguration.settings` and `serve --set` can set.
public struct LocalPushSetting: Sendable {
    /// Dotted: area and rule.
    public let name: String
    /// What its value may be: the end of the sentence "name takes …".
    public let expectation: String
    /// One sentence that names the unit.
    public let doc: String
    /// Its value in every profile, written as it is set.
    public let defaults: [LocalPushConfiguration.Profile: String]

    public static let all: [LocalPushSetting] = RuleTable.all.map { setting in
        var defaults: [LocalPushConfiguration.Profile: String] = [:]
        for profile in LocalPushConfiguration.Profile.allCases {
            defaults[profile] = setting.text(in: RuleSettings(profile: RuleProfile(profile)))
        }
        return LocalPushSetting(
            name: setting.name, expectation: setting.expectation, doc: setting.doc, defaults: defaults)
    }

    /// Why a name and a value cannot be set: one line with the remedy, or `nil` when they can.
    public static func objection(to name: String, _ value: String) -> String? {
        RuleTable.objection(to: name, value)
    }
}

extension RuleProfile {
    init(_ profile: LocalPushConfiguration.Profile) {
        self =
            switch profile {
            case .lenient: .lenient
            case .faithful: .faithful
            case .ideal: .ideal
            }
    }
}

extension RuleSettings {
    /// The profile's preset with what was set by name on top.
    package init(_ configuration: LocalPushConfiguration) throws(LocalPushError) {
        self.init(profile: RuleProfile(configuration.profile))
        for (name, value) in configuration.settings.sorted(by: { $0.key < $1.key }) {
            if let objection = set(name, to: value) { throw .setting(objection) }
        }
    }

    /// Every named rule with its value: flags and counts as such, the others as they are written.
    package var json: JSONValue {
        .object(
            RuleTable.all.map { setting in
                let value: JSONValue =
                    switch setting.kind {
                    case .flag(let path): .bool(self[keyPath: path])
                    case .count(let path, _): .int(Int64(self[keyPath: path]))
                    case .duration, .choice: .string(setting.text(in: self))
                    }
                return JSONMember(setting.name, value)
            })
    }
}
