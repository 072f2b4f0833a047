/// The targets as the manifest lays them out: their levels and what each may import.
struct Layout {
    struct Target: Equatable {
        let name: String
        let level: Int
        let dependencies: [String]
    }

    /// The C libraries and the only targets that may import each.
    static let owners: [String: Set<String>] = [
        "CPushLibevent": ["PushReactor", "PushHTTP1"],
        "CPushOpenSSL": ["PushTLS", "PushCrypto"],
        "CPushNGHTTP2": ["PushHTTP2"],
        "CPushSimdJSON": ["PushJSON"],
        "CPushSQLite": ["PushSQLite"],
    ]

    /// Modules of the toolchain and the system that any target may import. Foundation is not one of them.
    static let system: Set<String> = ["Glibc", "Synchronization"]

    let targets: [String: Target]

    /// Reads levels from the comments `// L0` … `// L6` and targets from the calls below each.
    init(manifest: String) {
        var targets: [String: Target] = [:]
        var level: Int?
        var block = ""
        func finish() {
            defer { block = "" }
            guard let level, let name = block.firstMatch(of: /name: "(\w+)"/)?.output.1 else { return }
            let list = block.firstMatch(of: /dependencies: \[([^\]]*)\]/)?.output.1 ?? ""
            let dependencies = list.matches(of: /"(\w+)"/).map { String($0.output.1) }
            targets[String(name)] = Target(name: String(name), level: level, dependencies: dependencies)
        }
        for line in manifest.split(separator: "\n") {
            if let match = line.firstMatch(of: /^\s*\/\/ L(\d)/) {
                finish()
                level = Int(match.output.1)
            } else if line.contains("// Tests ") {
                finish()
                level = nil
            } else if line.contains(/^\s*\.(systemLibrary|target|executableTarget)\(/) {
                finish()
                block = String(line)
            } else {
                block += line
            }
        }
        finish()
        self.targets = targets
    }

    /// Why `target` must not import `module`, or `nil` when it may.
    func objection(to module: String, in target: String) -> String? {
        if module == target || Self.system.contains(module) { return nil }
        if module.hasPrefix("Foundation") { return "Foundation stays out of Sources" }
        guard let importer = targets[target] else { return "target \(target) is not in the manifest" }
        guard let imported = targets[module] else {
            return "\(module) is neither ours nor on the list of system modules"
        }
        if let allowed = Self.owners[module] {
            return allowed.contains(target)
                ? nil : "only \(allowed.sorted().joined(separator: " and ")) may import \(module)"
        }
        if imported.level == importer.level { return "\(module) is a sibling of \(target)" }
        if imported.level > importer.level { return "\(module) stands above \(target)" }
        return importer.dependencies.contains(module) ? nil : "the manifest does not list \(module) under \(target)"
    }
}
