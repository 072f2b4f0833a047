enum ZshCompletions {
    static func script(_ root: Command) -> String {
        var lines = [
            "#compdef localpush",
            "# localpush completions for zsh: put this file as _localpush into a directory of $fpath.",
        ]
        for node in Completions.nodes(root) { lines += function(node) }
        lines += ["if [ \"$funcstack[1]\" = '_localpush' ]; then", "    _localpush \"$@\"", "else"]
        lines += ["    compdef _localpush localpush", "fi"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func name(_ path: [String]) -> String { (["_localpush"] + path).joined(separator: "_") }

    private static func function(_ node: Completions.Node) -> [String] {
        var specs = node.command.allOptions.map(spec)
        var lines = ["\(name(node.path))() {"]
        if node.command.subcommands.isEmpty {
            for operand in node.command.operands {
                specs.append(Completions.quoted(":\(operand.name):\(action(operand.completion))"))
            }
            lines.append("    _arguments \\")
            lines.append(specs.map { "        \($0)" }.joined(separator: " \\\n"))
        } else {
            specs += ["'1: :->command'", "'*:: :->rest'"]
            lines += ["    local context state line", "    typeset -A opt_args", "    _arguments -C \\"]
            lines.append(specs.map { "        \($0)" }.joined(separator: " \\\n"))
            lines += ["    case $state in", "    command)", "        local -a commands=("]
            for sub in node.command.subcommands {
                lines.append("            \(Completions.quoted("\(sub.name):\(sub.summary)"))")
            }
            lines += ["        )", "        _describe command commands ;;", "    rest)", "        case $words[1] in"]
            for sub in node.command.subcommands {
                lines.append("        \(sub.name)) \(name(node.path + [sub.name])) ;;")
            }
            lines += ["        esac ;;", "    esac"]
        }
        return lines + ["}"]
    }

    private static func spec(_ option: OptionDeclaration) -> String {
        let help = option.help.split(separator: " ").joined(separator: " ")
            .replacing("[", with: "(").replacing("]", with: ")").replacing(":", with: "\\:")
        let star = option.isRepeatable ? "*" : ""
        let value = option.isFlag ? "" : ":value:\(action(option.completion))"
        return Completions.words(option)
            .map { Completions.quoted("\(star)\($0)[\(help)]\(value)") }
            .joined(separator: " ")
    }

    private static func action(_ completion: ValueCompletion) -> String {
        switch completion {
        case .nothing: " "
        case .file: "_files"
        case .directory: "_files -/"
        case .choices(let choices): "(\(choices.joined(separator: " ")))"
        }
    }
}
