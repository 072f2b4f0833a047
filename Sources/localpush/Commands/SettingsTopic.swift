internal import PushServer

/// `localpush help settings`: every rule that `serve --set` can set.
enum SettingsTopic {
    static let declaration = HelpTopic(
        name: "settings", summary: "lists the rules that 'serve --set NAME=VALUE' can set", text: text)

    private static func text() -> String {
        var lines = TextWrap.wrap(
            "Rules of the server. A profile (serve --profile) presets them all; --set NAME=VALUE changes one and may be "
                + "given several times; --config FILE reads such lines from a file.", columns: HelpText.columnsMax)
        for setting in LocalPushSetting.all {
            let values = LocalPushConfiguration.Profile.allCases.map { profile in
                "\(profile.rawValue) \(setting.defaults[profile] ?? "")"
            }
            lines.append("")
            lines.append(setting.name)
            let explanation =
                "\(setting.doc) Takes \(setting.expectation). Default: \(values.joined(separator: ", "))."
            lines += TextWrap.wrap(explanation, columns: HelpText.columnsMax - 4).map { "    \($0)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
