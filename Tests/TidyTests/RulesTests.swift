import Testing

/// Every rule sees what it is there to see, and lets the neighbouring good case pass.
@Suite struct RulesTests {
    let layout = Layout(
        manifest: """
            targets: [
                // L0: C libraries.
                .systemLibrary(name: "CPushSQLite", pkgConfig: "sqlite3"),
                // L1
                .target(name: "PushBytes"),
                // L2
                .target(name: "PushTLS", dependencies: ["PushBytes"]),
                .target(name: "PushSQLite", dependencies: ["PushBytes", "CPushSQLite"]),
                // L3
                .target(
                    name: "PushStore",
                    dependencies: [
                        "PushBytes", "PushSQLite",
                    ]),
                // Tests mirror the targets.
                .testTarget(name: "PushBytesTests", dependencies: ["PushBytes"]),
            """)

    @Test func levelsAndDependenciesAreReadFromTheManifest() {
        #expect(layout.targets.count == 5)
        #expect(layout.targets["CPushSQLite"]?.level == 0)
        #expect(
            layout.targets["PushStore"]
                == Layout.Target(name: "PushStore", level: 3, dependencies: ["PushBytes", "PushSQLite"]))
    }

    @Test(
        arguments: [
            ("PushSQLite", "internal import CPushSQLite", nil),
            ("PushStore", "@preconcurrency public import PushSQLite", nil),
            ("PushStore", "import Glibc", nil),
            ("PushStore", "import struct Synchronization.Mutex", nil),
            ("PushStore", "/// import Foundation", nil),
            ("PushStore", "let page = \"\"\"\nimport Foundation\n\"\"\"", nil),
            ("PushStore", "import CPushSQLite", "only PushSQLite may import"),
            ("PushStore", "package import Foundation", "Foundation stays out"),
            ("PushStore", "import FoundationEssentials", "Foundation stays out"),
            ("PushStore", "import PushTLS", "does not list"),
            ("PushStore", "import NIOCore", "neither ours"),
            ("PushSQLite", "import PushTLS", "sibling"),
            ("PushBytes", "  import PushStore", "stands above"),
            ("PushNew", "import PushBytes", "not in the manifest"),
        ] as [(String, String, String?)])
    func importsOutsideTheLayoutAreSeen(target: String, line: String, problem: String?) {
        let file = RepositoryFile(path: "Sources/\(target)/Some.swift", text: line + "\n")
        expect(Rules.importProblems(file, layout: layout), problem)
    }

    @Test func dependenciesOutsideTheLayoutAreSeen() {
        let bad = Layout(
            manifest: """
                // L1
                .target(name: "PushBytes", dependencies: ["PushJSON"]),
                // L2
                .target(name: "PushJSON", dependencies: ["PushBytes"]),
                """)
        expect(Rules.layoutProblems(bad), "PushJSON stands above PushBytes")
        expect(Rules.layoutProblems(layout), nil)
    }

    @Test(
        arguments: [
            ("// TODO: later", "TODO"), ("/* FIXME */", "FIXME"), ("XXX", "XXX"),
            ("mktemp name.XXXXXX", nil), ("let TODOs = 1", nil),
        ] as [(String, String?)])
    func notesToSelfAreSeen(line: String, problem: String?) {
        expect(Rules.noteProblems(RepositoryFile(path: "a.swift", text: line)), problem)
    }

    @Test(
        arguments: [
            ("tools/run", "cd /home/ann/push", "/home/ann"), ("a.md", "see `/work/notes`", "/work"),
            ("a.swift", "\"/root/x\"", "/root/x"), ("tools/run", "rm /tmp/push/x", "/tmp/push"),
            ("Tests/a.swift", "/tmp/push/x", nil), ("a.md", "GET host/work/1", nil), ("a.md", "~/push", nil),
        ] as [(String, String, String?)])
    func machinePathsAreSeen(path: String, line: String, problem: String?) {
        expect(Rules.machinePathProblems(RepositoryFile(path: path, text: line)), problem)
    }

    @Test func privateKeysAreSeen() {
        let marker = "-----BEGIN EC PRIVATE KEY-----"
        let body = String(repeating: "MHcCAQEE", count: 8)
        for text in ["\(marker)\n\(body)\n", "\"\(marker)\\n\(body)\"", "\"\(marker)\",\n    \"\(body)\""] {
            expect(Rules.privateKeyProblems(RepositoryFile(path: "a", text: text)), "private key")
        }
        expect(Rules.privateKeyProblems(RepositoryFile(path: "a", text: "hasPrefix(\"\(marker)\")")), nil)
        expect(Rules.privateKeyProblems(RepositoryFile(path: "a", text: "-----BEGIN CERTIFICATE-----\n\(body)")), nil)
    }

    @Test func longFilesAreSeen() {
        let text = String(repeating: "\n", count: 601)
        expect(Rules.lengthProblems(RepositoryFile(path: "a.swift", text: text), linesMax: 600), "601 lines")
        expect(Rules.lengthProblems(RepositoryFile(path: "a", text: "#!/bin/sh" + text), linesMax: 600), "601 lines")
        expect(Rules.lengthProblems(RepositoryFile(path: "a.md", text: text), linesMax: 600), nil)
        expect(
            Rules.lengthProblems(RepositoryFile(path: "a.swift", text: String(text.dropLast())), linesMax: 600), nil)
    }

    @Test(arguments: [("", "empty"), (" \n\n", "empty"), ("a", nil)] as [(String, String?)])
    func emptyFilesAreSeen(text: String, problem: String?) {
        expect(Rules.emptinessProblems(RepositoryFile(path: "a", text: text)), problem)
    }

    @Test(
        arguments: [
            ("#!/bin/sh", false, "not executable"), ("data", true, "without being a script"), ("#!/bin/sh", true, nil),
            ("data", false, nil),
        ] as [(String, Bool, String?)])
    func wrongModesAreSeen(text: String, isExecutable: Bool, problem: String?) {
        let file = RepositoryFile(path: "a", text: text, isExecutable: isExecutable)
        expect(Rules.executableProblems(file), problem)
    }

    @Test func leftoverPlaceholdersAreSeen() {
        let placeholder = RepositoryFile(path: "Sources/A/Placeholder.swift", text: "//")
        let real = RepositoryFile(path: "Sources/A/Inner/Real.swift", text: "//")
        let elsewhere = RepositoryFile(path: "Sources/AB/Real.swift", text: "//")
        expect(Rules.placeholderProblems(Tree(files: [placeholder, real])), "no longer needed")
        expect(Rules.placeholderProblems(Tree(files: [placeholder, elsewhere])), nil)
    }

    @Test(
        arguments: [(".github/workflows/a.yml", "vendor"), (".gitlab-ci.yml", "vendor"), (".gitignore", nil)]
            as [(String, String?)])
    func filesOfVendorsServicesAreSeen(path: String, problem: String?) {
        expect(Rules.vendorProblems(RepositoryFile(path: path, text: "a")), problem)
    }

    @Test(
        arguments: [
            ("public struct A {", "A has no doc comment"),
            ("/// A.\n\npackage final class A {", "A has no doc comment"),
            ("@frozen public enum A {", "A has no doc comment"), ("/// A.\n@frozen\npublic enum A {", nil),
            ("/// A.\npackage final class A {", nil), ("struct A {", nil),
            ("extension A {\n    public struct B {", nil),
        ] as [(String, String?)])
    func typesWithoutDocCommentAreSeen(text: String, problem: String?) {
        expect(Rules.documentationProblems(RepositoryFile(path: "Sources/PushA/A.swift", text: text)), problem)
    }

    @Test(
        arguments: [
            ("[a](b.md)", nil), ("[a](../README.md#use)", nil), ("[a](..)", nil), ("[a](#here)", nil),
            ("[a](https://example.com/x.md)", nil), ("```\n[a](none.md)\n```", nil), ("[a](b.md) ![c](c.png)", "c.png"),
            ("[a](none.md \"title\")", "none.md"), ("[a](../../README.md)", "README.md"), ("[a](/docs)", nil),
        ] as [(String, String?)])
    func deadLinksAreSeen(text: String, problem: String?) {
        let page = RepositoryFile(path: "docs/page.md", text: text)
        let others = ["docs/b.md", "README.md"].map { RepositoryFile(path: $0, text: "x") }
        expect(Rules.linkProblems(page, in: Tree(files: [page] + others, folders: ["docs"])), problem)
    }

    /// Exactly one problem that says `part`, or none for `nil`.
    private func expect(_ problems: [String], _ part: String?, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(problems.count == (part == nil ? 0 : 1), "\(problems)", sourceLocation: sourceLocation)
        if let part {
            #expect(problems.first?.contains(part) ?? false, "\(problems)", sourceLocation: sourceLocation)
        }
    }
}
