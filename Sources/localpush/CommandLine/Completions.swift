/// Completion scripts for shells, made from the same declarations as parser and help.
enum Completions {
    static let shells = ["bash", "zsh", "fish"]

    static func script(for shell: String, root: Command) -> String {
        switch shell {
        case "bash": BashCompletions.script(root)
        case "zsh": ZshCompletions.script(root)
        case "fish": FishCompletions.script(root)
        default: preconditionFailure("the shell is one of the three")
        }
    }

    /// A command with the words that lead to it.
    struct Node {
        let path: [String]
        let command: Command
    }

    /// All commands, groups before their members.
    static func nodes(_ command: Command, path: [String] = []) -> [Node] {
        [Node(path: path, command: command)]
            + command.subcommands.flatMap { nodes($0, path: path + [$0.name]) }
    }

    static func words(_ option: OptionDeclaration) -> [String] {
        (option.letter.map { ["-\($0)"] } ?? []) + ["--\(option.name)"]
    }

    /// In single quotes for any of the shells; declarations are ours, so the text is tame.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
