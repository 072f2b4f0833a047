/// What the process says to its caller.
enum ExitCode: Int32 {
    case done = 0
    /// The answer is no: rejected, timed out, not found, or something is wrong that the message names.
    case no = 1
    /// The command line could not be understood.
    case usage = 2
    /// The server could not be reached.
    case unreachable = 3
}

/// A command that cannot go on; printed as one line on standard error.
struct CommandFailure: Error, CustomStringConvertible {
    let exitCode: ExitCode
    /// What is wrong, naming the thing.
    let message: String
    /// What to do about it, if we know.
    let remedy: String?
    /// The command it is about, if the parser found one before it failed.
    var path: [String] = []

    init(_ message: String, remedy: String? = nil, exitCode: ExitCode = .no) {
        self.message = message
        self.remedy = remedy
        self.exitCode = exitCode
    }

    static func usage(_ message: String, remedy: String? = nil) -> CommandFailure {
        CommandFailure(message, remedy: remedy, exitCode: .usage)
    }

    /// The same, found at a place in a file.
    func located(_ place: String) -> CommandFailure {
        CommandFailure("\(place): \(message)", remedy: remedy, exitCode: exitCode)
    }

    var description: String {
        guard let remedy else { return message }
        return message.hasSuffix(".") ? "\(message) \(remedy)" : "\(message); \(remedy)"
    }
}
