/// Why a text is not JSON that we take.
package struct JSONError: Error, CustomStringConvertible, Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case empty
        /// Commas, colons, brackets, literals, or something after the end.
        case structure
        case tooDeep
        /// A bad escape, a control character, or no closing quote.
        case string
        /// Malformed, or beyond the range of a double.
        case number
        case invalidUTF8
        case tooLong
    }

    package let kind: Kind
    /// Names the fault without quoting the text, which may be private.
    package let message: String
    /// Where it went wrong, in bytes from the front, where that is known.
    package let offset: Int?

    init(_ kind: Kind, _ message: String, _ offset: Int?) {
        self.kind = kind
        self.message = message
        self.offset = offset
    }

    package var description: String {
        if let offset { "invalid JSON: \(message) (byte \(offset))" } else { "invalid JSON: \(message)" }
    }
}
