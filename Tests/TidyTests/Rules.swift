/// The rules of the house that a program can check. Each answers with the problems it sees, one line each.
enum Rules {
    // MARK: Imports

    /// Imported modules with their line numbers; text inside multi-line string literals does not count.
    static func imports(_ file: RepositoryFile) -> [(line: Int, module: String)] {
        let pattern =
            /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)/
        var found: [(line: Int, module: String)] = []
        var isInLiteral = false
        for (index, line) in file.lines.enumerated() {
            if line.contains("\"\"\"") { isInLiteral.toggle() }
            if !isInLiteral, line.contains("import"), let match = line.firstMatch(of: pattern) {
                found.append((index + 1, String(match.output.1)))
            }
        }
        return found
    }

    static func importProblems(_ file: RepositoryFile, layout: Layout) -> [String] {
        guard file.fileExtension == "swift", let target = file.target else { return [] }
        return imports(file).compactMap { line, module in
            layout.objection(to: module, in: target).map { "\(file.path):\(line): \($0)" }
        }
    }

    /// The manifest itself: a target depends only on lower levels, and C libraries only on their owners' lists.
    static func layoutProblems(_ layout: Layout) -> [String] {
        layout.targets.values.sorted { $0.name < $1.name }.flatMap { target in
            target.dependencies.compactMap { dependency in
                layout.objection(to: dependency, in: target.name).map { "Package.swift: \($0)" }
            }
        }
    }

    // MARK: Words

    /// Notes to self belong into an issue, not into the code.
    static func noteProblems(_ file: RepositoryFile) -> [String] {
        let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
        let found = words.filter { file.text?.contains($0) ?? false }
        if found.isEmpty { return [] }
        return numbered(file) { line in
            found.first { word in line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains { $0 == word } }
                .map { "contains \($0)" }
        }
    }

    /// Paths of the machine somebody worked on. `/tmp` is fine in tests and in texts.
    static func machinePathProblems(_ file: RepositoryFile) -> [String] {
        let homes = /(?:^|[^\w.])(\/(?:home|root|work|Users)\/[\w.-]+)/
        let temporary = /(?:^|[^\w.])(\/tmp\/[\w.-]+)/
        let allowsTemporary = file.path.hasPrefix("Tests/") || file.fileExtension == "md"
        return numbered(file) { line in
            guard line.contains("/") else { return nil }
            if let match = line.firstMatch(of: homes) { return "names the machine path \(match.output.1)" }
            if !allowsTemporary, let match = line.firstMatch(of: temporary) { return "names \(match.output.1)" }
            return nil
        }
    }

    /// A private key in PEM form: the marker alone is fine, the marker and a body is not.
    static func privateKeyProblems(_ file: RepositoryFile) -> [String] {
        guard let text = file.text, text.contains("PRIVATE KEY-----") else { return [] }
        let pattern = /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\s|\\n|\\|"|\+|,)*[A-Za-z0-9+\/=]{40}/
        return text.contains(pattern) ? ["\(file.path): contains a private key"] : []
    }

    // MARK: Files

    /// Advice above 400 lines, a problem above 600. Texts and data have no limit.
    static func lengthProblems(_ file: RepositoryFile, linesMax: Int) -> [String] {
        guard ["swift", "c", "cpp", "h", "py", "bash"].contains(file.fileExtension) || isScript(file) else { return [] }
        let count = file.lines.count - (file.text?.hasSuffix("\n") ?? false ? 1 : 0)
        return count > linesMax ? ["\(file.path): \(count) lines, more than \(linesMax)"] : []
    }

    static func emptinessProblems(_ file: RepositoryFile) -> [String] {
        let isEmpty = file.bytes == 0 || file.text?.allSatisfy(\.isWhitespace) ?? false
        return isEmpty ? ["\(file.path): is empty"] : []
    }

    /// A script says how it is run and may be run; nothing else may.
    static func executableProblems(_ file: RepositoryFile) -> [String] {
        if isScript(file) == file.isExecutable { return [] }
        return ["\(file.path): " + (file.isExecutable ? "is executable without being a script" : "is not executable")]
    }

    /// A placeholder keeps an empty target alive and goes with the first real file.
    static func placeholderProblems(_ tree: Tree) -> [String] {
        tree.files.filter { $0.name == "Placeholder.swift" }.compactMap { placeholder in
            let others = tree.files.contains { $0.folder.hasPrefix(placeholder.folder) && $0.path != placeholder.path }
            return others ? "\(placeholder.path): is no longer needed" : nil
        }
    }

    /// The project's own runner is `.ci/run`; files for a vendor's service would tie it to that vendor.
    static func vendorProblems(_ file: RepositoryFile) -> [String] {
        let prefixes = [
            ".github/", ".gitlab", ".circleci/", ".travis", ".buildkite/", "azure-pipelines", "Jenkinsfile",
        ]
        return prefixes.contains { file.path.hasPrefix($0) } ? ["\(file.path): belongs to a vendor's service"] : []
    }

    // MARK: Documentation

    /// Every type that other targets see says what it is.
    static func documentationProblems(_ file: RepositoryFile) -> [String] {
        guard file.fileExtension == "swift", file.target != nil else { return [] }
        let pattern =
            /^(?:@\w+(?:\([^)]*\))? )*(?:public|package) (?:final |indirect )*(?:struct|class|enum|protocol|actor) (\w+)/
        let lines = file.lines
        return lines.indices.compactMap { index in
            guard let match = lines[index].firstMatch(of: pattern) else { return nil }
            var above = index - 1
            while above >= 0, lines[above].hasPrefix("@") || lines[above].hasPrefix("// ") { above -= 1 }
            let isDocumented = above >= 0 && lines[above].hasPrefix("///")
            return isDocumented ? nil : "\(file.path):\(index + 1): \(match.output.1) has no doc comment"
        }
    }

    /// Links in texts lead to files that exist. Links to the web and within a page are not followed.
    static func linkProblems(_ file: RepositoryFile, in tree: Tree) -> [String] {
        guard file.fileExtension == "md" else { return [] }
        var isInCode = false
        return numbered(file) { line in
            if line.drop(while: { $0 == " " }).hasPrefix("```") { isInCode.toggle() }
            guard !isInCode else { return nil }
            for match in line.matches(of: /\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/) {
                let link = match.output.1
                let path = link.prefix { $0 != "#" && $0 != "?" }
                if path.isEmpty || link.contains(/^[a-z][a-z0-9+.-]*:/) { continue }
                guard let target = resolve(path, from: file.folder), target.isEmpty || tree.paths.contains(target)
                else {
                    return "links to \(link), which does not exist"
                }
            }
            return nil
        }
    }

    // MARK: Help

    private static func isScript(_ file: RepositoryFile) -> Bool { file.text?.hasPrefix("#!") ?? false }

    private static func numbered(_ file: RepositoryFile, _ problem: (Substring) -> String?) -> [String] {
        file.lines.enumerated().compactMap { index, line in
            problem(line).map { "\(file.path):\(index + 1): \($0)" }
        }
    }

    /// The path from the root, or `nil` when it would leave the repository.
    private static func resolve(_ path: Substring, from folder: String) -> String? {
        var parts = path.hasPrefix("/") ? [] : folder.split(separator: "/")
        for part in path.split(separator: "/") where part != "." {
            if part != ".." {
                parts.append(part)
            } else if parts.popLast() == nil {
                return nil
            }
        }
        return parts.joined(separator: "/")
    }
}
