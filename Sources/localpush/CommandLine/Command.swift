/// A command, or a group of commands, as it is declared: parser, help and completions all read this.
struct Command: Sendable {
    let name: String
    /// One line, without a full stop, starting with a verb.
    let summary: String
    /// Paragraphs after the usage line.
    var discussion: [String] = []
    var operands: [Operand] = []
    /// The options that are this command's own.
    var options: [OptionDeclaration] = []
    /// Options it shares with many others; help lists them last.
    var commonOptions: [OptionDeclaration] = []
    var examples: [Example] = []
    var subcommands: [Command] = []
    /// What else `help` explains; of the program itself only.
    var topics: [HelpTopic] = []
    /// `nil` for a group that does nothing by itself.
    var run: (@Sendable (Arguments) throws -> ExitCode)?

    var allOptions: [OptionDeclaration] { options + commonOptions }

    /// A word of the command line that is not an option.
    struct Operand: Sendable {
        let name: String
        let help: String
        var isRequired = true
        var completion: ValueCompletion = .nothing
        var expectation = "text that is not empty"
        var accepts: @Sendable (String) -> Bool = { !$0.isEmpty }
    }

    struct Example: Sendable {
        let line: String
        let meaning: String

        init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }
}

/// Something `help` explains that is not a command.
struct HelpTopic: Sendable {
    let name: String
    /// One line, without a full stop, starting with a verb.
    let summary: String
    let text: @Sendable () -> String
}

extension Command.Operand {
    static func one<Value>(_ name: String, _ syntax: ValueSyntax<Value>, isRequired: Bool = true, _ help: String)
        -> Command.Operand
    {
        Command.Operand(
            name: name, help: help, isRequired: isRequired, completion: syntax.completion,
            expectation: syntax.expectation, accepts: { syntax.parse($0) != nil })
    }
}

/// Options that many commands share.
enum CommonOption {
    static let help = Option.flag("help", letter: "h", "Print this help.")
    static let json = Option.flag("json", "Print JSON instead of text for people.")
    static let server = Option.value(
        "server", .text("URL"), default: "http://127.0.0.1:7580", "Where the running server's control API is.",
        environment: "LOCALPUSH_SERVER")
    static let controlToken = Option.value(
        "control-token", .text("TOKEN"), "The token the server was started with, if it has one.",
        environment: "LOCALPUSH_CONTROL_TOKEN")

    static let data = Option.value(
        "data", .directory, default: ".localpush", "The server's data directory, with its certificates and its store.")

    /// For a command that asks a running server.
    static let client = [server.declaration, controlToken.declaration, json.declaration, help.declaration]
    /// For a command that works by itself and prints.
    static let printing = [json.declaration, help.declaration]
    static let plain = [help.declaration]
}
