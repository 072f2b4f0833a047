enum BashCompletions {
    static func script(_ root: Command) -> String {
        let nodes = Completions.nodes(root)
        var lines = [
            "# localpush completions for bash: source this file, or put it into bash-completion's directory.",
            "_localpush() {",
            "    local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"",
            "    # Bash cuts words at '=': '--via=apns' is three words.",
            "    if [ \"$current\" = '=' ]; then current=''",
            "    elif [ \"$previous\" = '=' ]; then previous=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi",
            "    local path='' word index",
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        word=\"${COMP_WORDS[index]}\"",
            "        case \"$path $word\" in",
        ]
        let paths = nodes.dropFirst().map { Completions.quoted(" " + $0.path.joined(separator: " ")) }
        lines.append("            \(paths.joined(separator: "|"))) path=\"$path $word\" ;;")
        lines += ["        esac", "    done", "    COMPREPLY=()", "    case \"$path:$previous\" in"]
        for node in nodes {
            for option in node.command.allOptions where !option.isFlag {
                let key = Completions.quoted("\(prefix(node)):--\(option.name)")
                lines.append("        \(key)) \(reply(option.completion)); return ;;")
            }
        }
        lines += ["    esac", "    case \"$path\" in"]
        for node in nodes {
            let names = node.command.subcommands.map(\.name)
            let operands = node.command.operands.flatMap(choices)
            let options = node.command.allOptions.flatMap(Completions.words)
            let words = (names + operands + options).joined(separator: " ")
            lines.append(
                "        \(Completions.quoted(prefix(node)))) COMPREPLY=($(compgen -W \(Completions.quoted(words)) "
                    + "-- \"$current\")) ;;")
        }
        lines += ["    esac", "}", "complete -F _localpush localpush"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func prefix(_ node: Completions.Node) -> String {
        node.path.map { " \($0)" }.joined()
    }

    private static func choices(_ operand: Command.Operand) -> [String] {
        if case .choices(let choices) = operand.completion { return choices }
        return []
    }

    private static func reply(_ completion: ValueCompletion) -> String {
        switch completion {
        case .nothing: ":"
        case .file: "COMPREPLY=($(compgen -f -- \"$current\"))"
        case .directory: "COMPREPLY=($(compgen -d -- \"$current\"))"
        case .choices(let choices):
            "COMPREPLY=($(compgen -W \(Completions.quoted(choices.joined(separator: " "))) -- \"$current\"))"
        }
    }
}
