import Glibc

/// The environment variables that declarations name.
enum Environment {
    static func read() -> [String: String] {
        let options = Completions.nodes(Root.declaration).flatMap { $0.command.allOptions }
        var values: [String: String] = [:]
        for name in Set(options.compactMap(\.environmentVariable)) {
            // Safe: the text is copied at once, and no other thread changes the environment.
            if let text = unsafe getenv(name) { values[name] = unsafe String(cString: text) }
        }
        return values
    }
}
