internal import CPushOpenSSL

/// An operation that OpenSSL refused. It holds no key and no message.
package struct CryptoError: Error, Equatable, CustomStringConvertible {
    package let operation: String
    /// OpenSSL's packed error code; 0 when the refusal is our own.
    package let code: UInt
    package let reason: String

    package var description: String { "\(operation): \(reason)" }

    init(_ operation: String, reason: String) {
        self.operation = operation
        code = 0
        self.reason = reason
    }

    /// Takes the first entry of this thread's OpenSSL error queue and empties the queue.
    static func takeLast(_ operation: String) -> CryptoError { CryptoError(takingLast: operation) }

    private init(takingLast operation: String) {
        self.operation = operation
        code = ERR_get_error()
        reason = ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
        ERR_clear_error()
    }
}
