/// Help as text, made from the declarations; no line is longer than `columnsMax`.
enum HelpText {
    static let columnsMax = 100
    /// Where the explanation of an option starts; longer names get a line of their own.
    private static let explanationColumn = 30

    /// The help of the command at `path`, which the parser has found to exist.
    static func text(for path: [String], in root: Command) -> String {
        var command = root
        for word in path {
            guard let next = command.subcommands.first(where: { $0.name == word }) else {
                preconditionFailure("the path leads to a command")
            }
            command = next
        }
        return text(for: command, path: path)
    }

    static func text(for command: Command, path: [String]) -> String {
        let title = (["localpush"] + path).joined(separator: " ")
        var lines = TextWrap.wrap("\(title): \(command.summary).", columns: columnsMax)
        lines += ["", "Usage:"] + usage(of: command, title: title).map { "  \($0)" }
        for paragraph in command.discussion { lines += [""] + TextWrap.wrap(paragraph, columns: columnsMax) }
        if !command.operands.isEmpty {
            lines += ["", "Words:"]
            for operand in command.operands { lines += entry(operand.name, operand.help) }
        }
        if !command.subcommands.isEmpty {
            lines += ["", "Commands:"]
            for sub in command.subcommands { lines += entry(sub.name, sub.summary + ".") }
        }
        if !command.topics.isEmpty {
            lines += ["", "Other help:"]
            for topic in command.topics { lines += entry("help \(topic.name)", topic.summary + ".") }
        }
        lines += section("Options:", command.options)
        lines += section(command.options.isEmpty ? "Options:" : "Common options:", command.commonOptions)
        if !command.examples.isEmpty {
            lines += ["", "Examples:"]
            for example in command.examples {
                lines += TextWrap.wrap("# \(example.meaning)", columns: columnsMax - 2).map { "  \($0)" }
                lines.append("  \(example.line)")
            }
        }
        if !command.subcommands.isEmpty {
            lines += ["", "'localpush help \((path + ["COMMAND"]).joined(separator: " "))' tells more about one."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func usage(of command: Command, title: String) -> [String] {
        var lines: [String] = []
        if command.run != nil {
            var words = [title]
            words += command.operands.map { $0.isRequired ? $0.name : "[\($0.name)]" }
            if !command.allOptions.isEmpty { words.append("[options]") }
            lines.append(words.joined(separator: " "))
        }
        if !command.subcommands.isEmpty { lines.append("\(title) COMMAND [options]") }
        return lines
    }

    private static func section(_ title: String, _ options: [OptionDeclaration]) -> [String] {
        guard !options.isEmpty else { return [] }
        var lines = ["", title]
        for option in options { lines += entry(name(of: option), explanation(of: option)) }
        return lines
    }

    private static func name(of option: OptionDeclaration) -> String {
        var text = option.letter.map { "-\($0), --\(option.name)" } ?? "--\(option.name)"
        if let placeholder = option.placeholder { text += " \(placeholder)" }
        return text
    }

    private static func explanation(of option: OptionDeclaration) -> String {
        var text = option.help
        if case .choices(let choices) = option.completion, option.placeholder?.contains("|") == false {
            text += " One of \(choices.joined(separator: ", "))."
        }
        if let value = option.defaultText { text += " Default: \(value)." }
        if let variable = option.environmentVariable { text += " Also read from \(variable)." }
        if option.isRepeatable { text += " May be given several times." }
        return text
    }

    static func entry(_ name: String, _ explanation: String) -> [String] {
        let indent = String(repeating: " ", count: explanationColumn)
        let wrapped = TextWrap.wrap(explanation, columns: columnsMax - explanationColumn)
        let head = "  \(name)"
        var lines = wrapped.map { indent + $0 }
        if head.count + 2 <= explanationColumn {
            lines[0] = head + String(repeating: " ", count: explanationColumn - head.count) + wrapped[0]
        } else {
            lines.insert(head, at: 0)
        }
        return lines
    }
}
