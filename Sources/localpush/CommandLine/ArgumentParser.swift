internal import PushBytes

/// Reads a command line against the declarations. Pure: the environment comes in as a value.
struct ArgumentParser {
    let root: Command
    let environment: [String: String]

    enum Outcome {
        case run(Command, Arguments, path: [String])
        case help(path: [String])
        case topic(HelpTopic)
        case version
    }

    /// `words` without the program's name. Throws a `CommandFailure` with exit code 2.
    func parse(_ words: [String]) throws(CommandFailure) -> Outcome {
        guard let first = words.first else { return .help(path: []) }
        if first == "--version" { return .version }
        if first == "--help" || first == "-h" { return .help(path: []) }
        if first.hasPrefix("-") {
            throw .usage(
                "unknown option \(first) before the command",
                remedy: "the command comes first, as in 'localpush devices list \(first)'")
        }
        if first == "help" {
            if words.count == 2, let topic = root.topics.first(where: { $0.name == words[1] }) { return .topic(topic) }
            return .help(path: try helpPath(words.dropFirst()))
        }
        var command = root
        var path: [String] = []
        var rest = words[...]
        do {
            while !command.subcommands.isEmpty, let word = rest.first, !word.hasPrefix("-") {
                command = try subcommand(word, of: command)
                path.append(word)
                rest = rest.dropFirst()
            }
            return try parse(rest, for: command, path: path)
        } catch {
            var failure = error
            failure.path = path
            throw failure
        }
    }

    private func helpPath(_ words: ArraySlice<String>) throws(CommandFailure) -> [String] {
        var command = root
        var path: [String] = []
        for word in words where !word.hasPrefix("-") {
            command = try subcommand(word, of: command)
            path.append(word)
        }
        return path
    }

    private func subcommand(_ word: String, of command: Command) throws(CommandFailure) -> Command {
        if let found = command.subcommands.first(where: { $0.name == word }) { return found }
        let names = command.subcommands.map(\.name)
        throw .usage("unknown command \(TextQuote.quoted(word))\(guess(word, names))", remedy: list(names))
    }

    private func list(_ names: [String]) -> String {
        names.isEmpty ? "there is none here" : "there are \(names.joined(separator: ", "))"
    }

    private func parse(
        _ words: ArraySlice<String>, for command: Command, path: [String]
    ) throws(CommandFailure) -> Outcome {
        var arguments = Arguments(options: command.allOptions)
        var rest = words
        var onlyOperands = false
        while let word = rest.popFirst() {
            if onlyOperands || word == "-" || !word.hasPrefix("-") {
                try takeOperand(word, for: command, into: &arguments)
            } else if word == "--" {
                onlyOperands = true
            } else if word == "--help" || word == "-h" {
                return .help(path: path)
            } else {
                try takeOption(word, &rest, for: command, into: &arguments)
            }
        }
        guard command.run != nil else {
            let names = command.subcommands.map(\.name)
            throw .usage("a command is missing", remedy: list(names))
        }
        if let missing = command.operands.dropFirst(arguments.operands.count).first(where: \.isRequired) {
            throw .usage("\(missing.name) is missing", remedy: missing.help)
        }
        try readEnvironment(for: command, into: &arguments)
        return .run(command, arguments, path: path)
    }

    private func takeOperand(
        _ word: String, for command: Command, into arguments: inout Arguments
    ) throws(CommandFailure) {
        guard arguments.operands.count < command.operands.count else {
            throw .usage("there is no use for \(TextQuote.quoted(word)) here")
        }
        let operand = command.operands[arguments.operands.count]
        guard operand.accepts(word) else {
            throw mistake(operand.name, operand.expectation, word, operand.completion)
        }
        arguments.appendOperand(word)
    }

    private func takeOption(
        _ word: String, _ rest: inout ArraySlice<String>, for command: Command, into arguments: inout Arguments
    ) throws(CommandFailure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let shown = String(parts[0])
        guard let option = command.allOptions.first(where: { matches(shown, $0) }) else {
            throw unknown(shown, for: command)
        }
        let name = "--\(option.name)"
        if arguments.has(option.name) && !option.isRepeatable && !option.isFlag {
            throw .usage("\(name) is given twice")
        }
        if option.isFlag {
            if parts.count > 1 { throw .usage("\(name) takes no value") }
            if !arguments.has(option.name) { arguments.append("", to: option.name) }
            return
        }
        let value: String
        if parts.count > 1 {
            value = String(parts[1])
        } else if let next = rest.first, !isOption(next, of: command) {
            value = next
            rest = rest.dropFirst()
        } else {
            throw .usage("\(name) needs a value", remedy: "it takes \(option.expectation)")
        }
        try check(value, of: option, from: name)
        arguments.append(value, to: option.name)
    }

    /// A value that looks like an option is a forgotten value; `--name=--value` says it was meant.
    private func isOption(_ word: String, of command: Command) -> Bool {
        if word.hasPrefix("--") { return true }
        return word == "-h" || command.allOptions.contains { matches(word, $0) }
    }

    private func matches(_ word: String, _ option: OptionDeclaration) -> Bool {
        if word == "--\(option.name)" { return true }
        guard let letter = option.letter else { return false }
        return word == "-\(letter)"
    }

    private func unknown(_ shown: String, for command: Command) -> CommandFailure {
        let names = command.allOptions.map { "--\($0.name)" }
        return .usage("unknown option \(TextQuote.plain(shown))\(guess(shown, names))")
    }

    private func readEnvironment(for command: Command, into arguments: inout Arguments) throws(CommandFailure) {
        for option in command.allOptions where !arguments.has(option.name) {
            guard let variable = option.environmentVariable, let value = environment[variable], !value.isEmpty
            else { continue }
            try check(value, of: option, from: variable)
            arguments.append(value, to: option.name)
        }
    }

    private func check(_ value: String, of option: OptionDeclaration, from source: String) throws(CommandFailure) {
        if option.accepts(value) { return }
        throw mistake(source, option.expectation, value, option.completion)
    }

    private func mistake(
        _ source: String, _ expectation: String, _ value: String, _ completion: ValueCompletion
    ) -> CommandFailure {
        var choices: [String] = []
        if case .choices(let all) = completion { choices = all }
        return .usage("\(source) takes \(expectation), not \(TextQuote.quoted(value))\(guess(value, choices))")
    }

    private func guess(_ word: String, _ candidates: [String]) -> String {
        NearestMatch.find(word, in: candidates).map { ", did you mean \($0)?" } ?? ""
    }
}
