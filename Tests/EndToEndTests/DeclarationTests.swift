import Testing

@testable import localpush

/// What holds for every command there is.
@Suite struct DeclarationTests {
    private static let nodes = Completions.nodes(Root.declaration)
    private static let paths = nodes.map(\.path)

    @Test(arguments: paths)
    func helpOfEveryCommandFitsIntoAHundredColumns(path: [String]) throws {
        let outcome = try ArgumentParser(root: Root.declaration, environment: [:]).parse(["help"] + path)
        guard case .help(let found) = outcome else {
            Issue.record("no help for \(path)")
            return
        }
        let text = HelpText.text(for: found, in: Root.declaration)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
        #expect(text.contains("--help"))
    }

    @Test(arguments: nodes.filter { $0.command.run != nil }.map(\.path))
    func everyCommandThatRunsHasAnExampleThatParses(path: [String]) throws {
        let command = try #require(Self.nodes.first { $0.path == path }).command
        #expect(!command.examples.isEmpty)
        for example in command.examples where example.line.hasPrefix("localpush ") {
            let words = ShellWords.split(example.line).dropFirst()
            let plain = Array(words.prefix { !["|", ">", "&&", "&"].contains($0) })
            _ = try ArgumentParser(root: Root.declaration, environment: [:]).parse(plain)
        }
    }

    @Test(arguments: Completions.shells)
    func completionsContainEveryCommandAndOption(shell: String) {
        let script = Completions.script(for: shell, root: Root.declaration)
        for node in Self.nodes {
            if let name = node.path.last { #expect(script.contains(name)) }
            for option in node.command.allOptions {
                #expect(script.contains(shell == "fish" ? "-l \(option.name)" : "--\(option.name)"))
            }
        }
    }

    @Test func everyCommandThatPrintsForPeopleTakesJSON() {
        let silent: Set = ["completions", "help", "serve"]
        for node in Self.nodes where node.command.run != nil && !silent.contains(node.path.joined(separator: " ")) {
            #expect(node.command.allOptions.contains { $0.name == "json" }, "\(node.path)")
        }
    }

    @Test func noOptionIsDeclaredTwiceInOneCommand() {
        for node in Self.nodes {
            let names = node.command.allOptions.map(\.name)
            #expect(Set(names).count == names.count, "\(node.path)")
        }
    }
}

/// Splits an example as a shell would, as far as examples need it.
private enum ShellWords {
    static func split(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let done = word { words.append(done) }
        return words
    }
}
