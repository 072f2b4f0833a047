internal import CPushLibevent
internal import Glibc

/// What the operating system refused: the operation by name (with the address it concerned), its code and text.
///
/// `code` is an `errno`, or, for a name that cannot be resolved, the (negative) code of `getaddrinfo`.
package struct ReactorError: Error, Sendable, Equatable, CustomStringConvertible {
    package let operation: String
    package let code: Int32
    package let text: String

    package init(operation: String, code: Int32, text: String) {
        self.operation = operation
        self.code = code
        self.text = text
    }

    /// The error with the text that belongs to `errno`.
    package init(operation: String, errno code: Int32) {
        self.init(operation: operation, code: code, text: String(cString: strerror(code)))
    }

    /// The error of a failed `getaddrinfo`.
    init(operation: String, resolver code: Int32) {
        self.init(operation: operation, code: code, text: String(cString: gai_strerror(code)))
    }

    package var description: String { "\(operation): \(text)" }
}
