/// How the value of an option is written: its placeholder in help, its parser, and what a shell can complete.
struct ValueSyntax<Value: Sendable>: Sendable {
    let placeholder: String
    /// Ends the sentence "--name takes …".
    let expectation: String
    let completion: ValueCompletion
    /// `nil` when the text is not such a value.
    let parse: @Sendable (String) -> Value?
}

/// What a shell may offer in the place of a value.
enum ValueCompletion: Sendable, Equatable {
    case nothing
    case file
    case directory
    case choices([String])
}

extension ValueSyntax<String> {
    /// Any text that is not empty.
    static func text(_ placeholder: String) -> ValueSyntax {
        ValueSyntax(placeholder: placeholder, expectation: "text that is not empty", completion: .nothing) {
            $0.isEmpty ? nil : $0
        }
    }

    /// Any text; empty counts.
    static func anyText(_ placeholder: String) -> ValueSyntax {
        ValueSyntax(placeholder: placeholder, expectation: "text", completion: .nothing) { $0 }
    }

    /// A bundle id, or a topic: the server gives no token for anything else.
    static var bundle: ValueSyntax {
        ValueSyntax(
            placeholder: "BUNDLE",
            expectation: "a bundle id (letters, digits, hyphens, periods) such as com.example.app", completion: .nothing
        ) { text in
            isBundle(text[...]) ? text : nil
        }
    }

    fileprivate static func isBundle(_ text: Substring) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    static func file(_ placeholder: String = "FILE") -> ValueSyntax {
        ValueSyntax(placeholder: placeholder, expectation: "the name of a file", completion: .file) {
            $0.isEmpty ? nil : $0
        }
    }

    static var directory: ValueSyntax {
        ValueSyntax(placeholder: "DIR", expectation: "the name of a directory", completion: .directory) {
            $0.isEmpty ? nil : $0
        }
    }

    /// `placeholder` is for lists too long to stand beside the option's name.
    static func choice(_ choices: [String], placeholder: String? = nil) -> ValueSyntax {
        ValueSyntax(
            placeholder: placeholder ?? choices.joined(separator: "|"),
            expectation: "one of \(choices.joined(separator: ", "))",
            completion: .choices(choices)
        ) {
            choices.contains($0) ? $0 : nil
        }
    }
}

/// A name and a value in one word.
struct Assignment: Sendable, Equatable {
    let name: String
    let value: String
}

extension ValueSyntax<Assignment> {
    static var assignment: ValueSyntax {
        ValueSyntax(placeholder: "NAME=VALUE", expectation: "a name, '=' and a value", completion: .nothing) { text in
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
            return Assignment(name: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
        }
    }
}

extension ValueSyntax<[String]> {
    /// Topics with commas between them.
    static var topics: ValueSyntax {
        ValueSyntax(
            placeholder: "TOPIC,…",
            expectation: "topics with commas between them, such as com.example.app,com.example.app.voip",
            completion: .nothing
        ) { text in
            let names = text.split(separator: ",", omittingEmptySubsequences: false)
            return names.allSatisfy(ValueSyntax<String>.isBundle) ? names.map(String.init) : nil
        }
    }
}

extension ValueSyntax<Int> {
    static func integer(_ placeholder: String, _ range: ClosedRange<Int>) -> ValueSyntax {
        ValueSyntax(
            placeholder: placeholder, expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            completion: .nothing
        ) {
            guard let number = Int($0), range.contains(number) else { return nil }
            return number
        }
    }
}

extension ValueSyntax<UInt64> {
    static func seed(_ placeholder: String) -> ValueSyntax {
        ValueSyntax(
            placeholder: placeholder, expectation: "a whole number from 0 to \(UInt64.max)", completion: .nothing
        ) { UInt64($0) }
    }
}

extension ValueSyntax<Double> {
    /// A number above zero.
    static func positiveNumber(_ placeholder: String) -> ValueSyntax {
        ValueSyntax(placeholder: placeholder, expectation: "a number above 0", completion: .nothing) {
            guard let number = Double($0), number > 0, number.isFinite else { return nil }
            return number
        }
    }
}

extension ValueSyntax<UInt16> {
    /// A TCP port; 0 picks a free one.
    static var port: ValueSyntax {
        ValueSyntax(placeholder: "PORT", expectation: "a port from 0 to 65535", completion: .nothing) { UInt16($0) }
    }
}

extension ValueSyntax<Duration> {
    static var duration: ValueSyntax {
        ValueSyntax(
            placeholder: "TIME", expectation: "a duration such as 250ms, 5s, 2m or 1h", completion: .nothing
        ) { DurationText.parse($0) }
    }
}

extension ValueSyntax<HostAndPort> {
    static var hostAndPort: ValueSyntax {
        ValueSyntax(
            placeholder: "HOST:PORT", expectation: "a host and a port such as 127.0.0.1:5223 or [::1]:5223",
            completion: .nothing
        ) { HostAndPort($0) }
    }
}

/// A port for each environment.
struct PortPair: Sendable, Equatable {
    var sandbox: UInt16
    var production: UInt16
}

extension ValueSyntax<PortPair> {
    /// Two ports with a comma between them.
    static var portPair: ValueSyntax {
        ValueSyntax(
            placeholder: "A,B", expectation: "two ports from 0 to 65535 such as 2195,2196", completion: .nothing
        ) { text in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count == 2, let sandbox = UInt16(parts[0]), let production = UInt16(parts[1]) else {
                return nil
            }
            return PortPair(sandbox: sandbox, production: production)
        }
    }
}
