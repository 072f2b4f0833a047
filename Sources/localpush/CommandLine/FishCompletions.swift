enum FishCompletions {
    static func script(_ root: Command) -> String {
        var lines = [
            "# localpush completions for fish: put this file into ~/.config/fish/completions/localpush.fish.",
            "complete -c localpush -f",
        ]
        for node in Completions.nodes(root) {
            let condition = condition(node)
            for sub in node.command.subcommands {
                let summary = Completions.quoted(sub.summary)
                lines.append("complete -c localpush -n \(condition) -a \(sub.name) -d \(summary)")
            }
            for operand in node.command.operands {
                if case .choices(let choices) = operand.completion {
                    let words = Completions.quoted(choices.joined(separator: " "))
                    lines.append("complete -c localpush -n \(condition) -a \(words)")
                }
            }
            for option in node.command.allOptions {
                let letter = option.letter.map { " -s \($0)" } ?? ""
                let help = Completions.quoted(option.help)
                lines.append(
                    "complete -c localpush -n \(condition) -l \(option.name)\(letter)\(value(option)) -d \(help)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func condition(_ node: Completions.Node) -> String {
        guard !node.path.isEmpty else { return "__fish_use_subcommand" }
        var tests = node.path.map { "__fish_seen_subcommand_from \($0)" }
        if !node.command.subcommands.isEmpty {
            let names = node.command.subcommands.map(\.name).joined(separator: " ")
            tests.append("not __fish_seen_subcommand_from \(names)")
        }
        return Completions.quoted(tests.joined(separator: "; and "))
    }

    private static func value(_ option: OptionDeclaration) -> String {
        switch (option.isFlag, option.completion) {
        case (true, _): ""
        case (_, .nothing): " -x"
        case (_, .file): " -r -F"
        case (_, .directory): " -x -a '(__fish_complete_directories)'"
        case (_, .choices(let choices)): " -x -a \(Completions.quoted(choices.joined(separator: " ")))"
        }
    }
}
