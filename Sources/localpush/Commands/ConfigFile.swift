/// A file of options for `serve`: one per line, as `NAME=VALUE` of a rule, `option=value`, or the bare name of a flag;
/// dashes in front are allowed. `#` begins a comment line, empty lines are skipped.
enum ConfigFile {
    /// Longer is no such file.
    private static let bytesMax = 1 << 20

    /// Throws a `CommandFailure` that names file and line. `check` sees the arguments of each line.
    static func read(
        _ path: String, forbidden: String, check: (Arguments) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Arguments {
        let text = String(decoding: try Files.read(path, bytesMax: bytesMax), as: UTF8.self)
        let parser = ArgumentParser(root: Command(name: "config", summary: "", subcommands: [serve]), environment: [:])
        var arguments = Arguments(options: serve.allOptions)
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard let word = option(in: line) else { continue }
            do throws(CommandFailure) {
                if word == "--\(forbidden)" || word.hasPrefix("--\(forbidden)=") {
                    throw .usage("a file cannot name another one")
                }
                guard case .run(_, let one, _) = try parser.parse([serve.name, word]) else { continue }
                try check(one)
                for name in one.names where arguments.has(name) && !isRepeatable(name) {
                    throw .usage("--\(name) is given twice")
                }
                arguments.takeDefaults(from: one, repeatable: Set(one.names.filter(isRepeatable)))
            } catch {
                throw error.located("\(path):\(index + 1)")
            }
        }
        return arguments
    }

    private static var serve: Command { ServeCommand.declaration }

    private static func isRepeatable(_ name: String) -> Bool {
        serve.allOptions.first { $0.name == name }?.isRepeatable ?? false
    }

    /// The line as one word of a command line; `nil` when it says nothing.
    private static func option(in line: Substring) -> String? {
        let text = trimmed(line)
        guard !text.isEmpty, text.first != "#" else { return nil }
        let bare = text.drop { $0 == "-" }
        let end = bare.firstIndex { $0 == "=" || $0 == " " || $0 == "\t" } ?? bare.endIndex
        let name = bare[..<end]
        var value = trimmed(bare[end...])
        if value.first == "=" { value = trimmed(value.dropFirst()) }
        if name.contains(".") { return "--set=\(name)=\(value)" }
        return end == bare.endIndex ? "--\(name)" : "--\(name)=\(value)"
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let front = text.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
        guard let last = front.lastIndex(where: { $0 != " " && $0 != "\t" && $0 != "\r" }) else { return "" }
        return front[...last]
    }
}
