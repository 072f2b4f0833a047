import Testing

/// The repository itself keeps every rule.
@Suite struct TidyTests {
    let tree: Tree
    let layout: Layout

    /// Everything but the file that holds samples of what is forbidden.
    var written: [RepositoryFile] { tree.files.filter { $0.path != "Tests/TidyTests/RulesTests.swift" } }

    init() throws {
        tree = try Tree.here.get()
        layout = Layout(manifest: try #require(tree.file("Package.swift")?.text))
    }

    @Test func theTreeWasFound() {
        #expect(tree.file("Sources/PushBytes/ByteQueue.swift") != nil)
        #expect(layout.targets.count >= 20)
    }

    @Test func targetsImportOnlyWhatTheirLevelAllows() {
        expectNone(tree.files.flatMap { Rules.importProblems($0, layout: layout) })
        expectNone(Rules.layoutProblems(layout))
    }

    @Test func noNotesToSelfAreLeft() { expectNone(written.flatMap(Rules.noteProblems)) }
    @Test func noMachinePathsAreNamed() { expectNone(written.flatMap(Rules.machinePathProblems)) }
    @Test func noPrivateKeyIsCommitted() { expectNone(tree.files.flatMap(Rules.privateKeyProblems)) }
    @Test func noFileIsEmpty() { expectNone(tree.files.flatMap(Rules.emptinessProblems)) }
    @Test func exactlyTheScriptsAreExecutable() { expectNone(tree.files.flatMap(Rules.executableProblems)) }
    @Test func noPlaceholderOutlivesItsUse() { expectNone(Rules.placeholderProblems(tree)) }
    @Test func noFilesOfAVendorsServiceAreHere() { expectNone(tree.files.flatMap(Rules.vendorProblems)) }
    @Test func typesThatOthersSeeAreDocumented() { expectNone(tree.files.flatMap(Rules.documentationProblems)) }
    @Test func linksInTextsLeadToFiles() { expectNone(tree.files.flatMap { Rules.linkProblems($0, in: tree) }) }

    @Test func sourceFilesStayReadable() {
        for advice in tree.files.flatMap({ Rules.lengthProblems($0, linesMax: 400) }) { print("advice: \(advice)") }
        expectNone(tree.files.flatMap { Rules.lengthProblems($0, linesMax: 600) })
    }

    private func expectNone(_ problems: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }
}
