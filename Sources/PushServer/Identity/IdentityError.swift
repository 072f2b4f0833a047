/// Why the local identity cannot be used: one file, what is wrong with it, and what helps. Holds no key.
package struct IdentityError: Error, Equatable, CustomStringConvertible {
    /// The file or directory concerned.
    package let path: String
    package let problem: String
    /// What the reader can do about it.
    package let remedy: String
    /// `errno` when the system refused, else 0.
    package let code: Int32

    init(path: String, problem: String, remedy: String, code: Int32 = 0) {
        self.path = path
        self.problem = problem
        self.remedy = remedy
        self.code = code
    }

    package var description: String { "\(path): \(problem); \(remedy)" }
}
