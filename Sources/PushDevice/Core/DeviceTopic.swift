internal import PushCrypto

/// A topic a device listens to: a bundle id, or one with a suffix.
package struct DeviceTopic: Sendable, Equatable {
    package let name: String
    /// SHA-1 of the name: how frames call it.
    package let hash: [UInt8]
    /// Paused topics are stored by the server and not delivered.
    package var isPaused = false
    /// Whether a provider is to address this topic, so that the server must give a token for it.
    package var wantsToken: Bool
    /// As the server last gave it since the start.
    package internal(set) var token: [UInt8]?
    /// Where the question for the token stands on this connection.
    var question = Question.unasked

    enum Question: Sendable, Equatable {
        case unasked, open, answered, refused
    }

    /// Traps unless the name has 1 to `DeviceLimits.topicBytesMax` bytes.
    package init(_ name: String, isPaused: Bool = false, wantsToken: Bool = true) {
        precondition((1...DeviceLimits.topicBytesMax).contains(name.utf8.count), "a topic has a fitting length")
        self.name = name
        self.isPaused = isPaused
        self.wantsToken = wantsToken
        hash = SHA1.digest(Array(name.utf8))
    }
}
