/// What was given on the command line, checked against the declarations.
struct Arguments: Sendable {
    /// Option name to the texts given, in order; a flag that was given has one empty text.
    private var texts: [String: [String]] = [:]
    private(set) var operands: [String] = []
    private let declared: Set<String>

    init(options: [OptionDeclaration] = []) {
        declared = Set(options.map(\.name))
    }

    mutating func append(_ text: String, to option: String) {
        precondition(declared.contains(option), "only declared options are stored")
        texts[option, default: []].append(text)
    }

    /// Takes over what was written elsewhere. What is here already wins; of a repeatable option it comes last.
    mutating func takeDefaults(from other: Arguments, repeatable: Set<String>) {
        precondition(other.declared == declared, "both are arguments of one command")
        for (option, given) in other.texts {
            if repeatable.contains(option) {
                texts[option] = given + (texts[option] ?? [])
            } else if texts[option] == nil {
                texts[option] = given
            }
        }
    }

    mutating func appendOperand(_ text: String) { operands.append(text) }

    /// Names of the options that were given.
    var names: [String] { texts.keys.sorted() }

    func has(_ option: String) -> Bool { texts[option] != nil }

    /// Whether the option was given, on the command line or by its environment variable.
    func has<Value>(_ key: OptionKey<Value>) -> Bool { has(key.declaration.name) }

    subscript<Value>(_ key: OptionKey<Value>) -> Value {
        precondition(declared.contains(key.declaration.name), "a command reads only options it declares")
        return key.read(texts[key.declaration.name] ?? [])
    }
}
