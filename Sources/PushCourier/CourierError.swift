/// What a peer did wrong in a frame; every case means that the connection cannot be trusted any further.
package enum CourierError: Error, Equatable, Sendable {
    /// The header announces more payload bytes than the decoder takes.
    case frameTooLarge(command: UInt8, payloadBytes: UInt32, payloadBytesMax: Int)
    /// An item, or its three-byte head, runs past the end of its frame.
    case itemOutsideFrame(command: UInt8)
    /// A frame was read as a message of another command.
    case wrongCommand(command: UInt8, expected: UInt8)
    /// An item without which the message means nothing is absent.
    case missingItem(command: UInt8, item: UInt8)
    /// A number or a hash has not the width that it always has.
    case wrongWidth(command: UInt8, item: UInt8, bytes: Int)
    /// A text is not UTF-8.
    case invalidText(command: UInt8, item: UInt8)
    /// A message inside an item cannot be read, or holds more than is taken.
    case malformedItem(command: UInt8, item: UInt8)
}

extension CourierError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .frameTooLarge(let command, let bytes, let max):
            "courier frame \(command) announces \(bytes) payload bytes, at most \(max) are taken"
        case .itemOutsideFrame(let command):
            "an item of courier frame \(command) runs past the end of the frame"
        case .wrongCommand(let command, let expected):
            "courier frame \(command) was read as \(expected)"
        case .missingItem(let command, let item):
            "courier frame \(command) lacks item \(item)"
        case .wrongWidth(let command, let item, let bytes):
            "item \(item) of courier frame \(command) is \(bytes) bytes wide"
        case .invalidText(let command, let item):
            "item \(item) of courier frame \(command) is not UTF-8"
        case .malformedItem(let command, let item):
            "item \(item) of courier frame \(command) cannot be read"
        }
    }
}
