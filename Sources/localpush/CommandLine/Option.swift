/// What help, completions and the parser need to know of one option, whatever the type of its value.
struct OptionDeclaration: Sendable {
    /// Without the leading dashes.
    let name: String
    /// One letter after one dash, for the few options whose letter everybody knows.
    let letter: Character?
    /// `nil` for a flag.
    let placeholder: String?
    let help: String
    /// The text used when the option is not given, shown in help.
    let defaultText: String?
    /// The environment variable read when the option is not given.
    let environmentVariable: String?
    let isRepeatable: Bool
    let completion: ValueCompletion
    /// Ends the sentence "--name takes …".
    let expectation: String
    let accepts: @Sendable (String) -> Bool

    var isFlag: Bool { placeholder == nil }
}

/// A declared option with the type its value is read as: `arguments[SendCommand.count]` is an `Int`.
struct OptionKey<Value: Sendable>: Sendable {
    let declaration: OptionDeclaration
    /// Reads the texts that were given, in order; the parser has checked each.
    let read: @Sendable ([String]) -> Value
}

/// Makes options.
enum Option {
    static func flag(_ name: String, letter: Character? = nil, _ help: String) -> OptionKey<Bool> {
        let declaration = OptionDeclaration(
            name: name, letter: letter, placeholder: nil, help: help, defaultText: nil, environmentVariable: nil,
            isRepeatable: false, completion: .nothing, expectation: "no value", accepts: { _ in false })
        return OptionKey(declaration: declaration) { !$0.isEmpty }
    }

    static func value<Value>(
        _ name: String, _ syntax: ValueSyntax<Value>, _ help: String, environment: String? = nil
    ) -> OptionKey<Value?> {
        OptionKey(declaration: declaration(name, syntax, help, environment: environment)) { texts in
            texts.last.flatMap { syntax.parse($0) }
        }
    }

    /// `defaultText` is written as a user would write it.
    static func value<Value>(
        _ name: String, _ syntax: ValueSyntax<Value>, default defaultText: String, _ help: String,
        environment: String? = nil
    ) -> OptionKey<Value> {
        guard let defaultValue = syntax.parse(defaultText) else {
            preconditionFailure("the default of --\(name) is a value of the option")
        }
        let declaration = declaration(name, syntax, help, defaultText: defaultText, environment: environment)
        return OptionKey(declaration: declaration) { texts in
            texts.last.flatMap { syntax.parse($0) } ?? defaultValue
        }
    }

    /// May be given several times.
    static func list<Value>(_ name: String, _ syntax: ValueSyntax<Value>, _ help: String) -> OptionKey<[Value]> {
        OptionKey(declaration: declaration(name, syntax, help, isRepeatable: true)) { texts in
            texts.compactMap { syntax.parse($0) }
        }
    }

    private static func declaration<Value>(
        _ name: String, _ syntax: ValueSyntax<Value>, _ help: String, defaultText: String? = nil,
        environment: String? = nil, isRepeatable: Bool = false
    ) -> OptionDeclaration {
        OptionDeclaration(
            name: name, letter: nil, placeholder: syntax.placeholder, help: help, defaultText: defaultText,
            environmentVariable: environment, isRepeatable: isRepeatable, completion: syntax.completion,
            expectation: syntax.expectation, accepts: { syntax.parse($0) != nil })
    }
}
