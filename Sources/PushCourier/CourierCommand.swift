/// The command byte of each frame that is spoken here; a frame with any other command is passed on untouched.
package enum CourierCommand {
    /// Device to server, first frame of a connection.
    package static let connect: UInt8 = 0x07
    package static let connectResponse: UInt8 = 0x08
    /// Device to server: the whole set of topics, replacing the one before.
    package static let filter: UInt8 = 0x09
    /// A message, in either direction.
    package static let notification: UInt8 = 0x0A
    /// Answer to `notification`, from whoever received it.
    package static let acknowledgement: UInt8 = 0x0B
    package static let keepAlive: UInt8 = 0x0C
    package static let keepAliveResponse: UInt8 = 0x0D
    /// Server to device: nothing is stored for this token.
    package static let noStorage: UInt8 = 0x0E
    /// Device to server: asks for the token of one app.
    package static let tokenRequest: UInt8 = 0x11
    package static let tokenResponse: UInt8 = 0x12
    package static let activeInterval: UInt8 = 0x13
    package static let activeState: UInt8 = 0x14
    /// Device to server: broadcast channels to join and to leave; by default the answer has the same command.
    package static let subscription: UInt8 = 0x1D
    /// The answer's other number.
    package static let subscriptionResponse: UInt8 = 0x20
}

/// What the item ids mean, command by command: the same number says different things in different frames.
package enum CourierItemID {
    package enum Connect {
        package static let baseToken: UInt8 = 1
        package static let state: UInt8 = 2
        package static let presenceFlags: UInt8 = 5
        package static let interface: UInt8 = 6
        package static let carrier: UInt8 = 8
        package static let systemVersion: UInt8 = 9
        package static let systemBuild: UInt8 = 10
        package static let hardwareModel: UInt8 = 11
        package static let certificate: UInt8 = 12
        package static let nonce: UInt8 = 13
        package static let signature: UInt8 = 14
        package static let protocolVersion: UInt8 = 16
    }

    package enum ConnectResponse {
        package static let status: UInt8 = 1
        package static let baseToken: UInt8 = 3
        package static let messageBytesMax: UInt8 = 4
        package static let protocolVersion: UInt8 = 5
        package static let capabilities: UInt8 = 6
        /// Server clock after a refusal because of the nonce.
        package static let badNonceTime: UInt8 = 7
        package static let largeMessageBytesMax: UInt8 = 8
        package static let serverTime: UInt8 = 10
    }

    package enum Filter {
        package static let baseToken: UInt8 = 1
        package static let enabled: UInt8 = 2
        package static let ignored: UInt8 = 3
        package static let opportunistic: UInt8 = 4
        package static let paused: UInt8 = 5
        package static let nonWaking: UInt8 = 6
    }

    package enum Notification {
        /// Where it goes: a token towards the device, a topic hash towards the server.
        package static let destination: UInt8 = 1
        /// Where it comes from: a topic hash towards the device, a base token towards the server.
        package static let source: UInt8 = 2
        package static let payload: UInt8 = 3
        package static let messageID: UInt8 = 4
        package static let expiry: UInt8 = 5
        package static let timestamp: UInt8 = 6
        package static let storageFlags: UInt8 = 7
        package static let priority: UInt8 = 13
        /// The channel of a broadcast, as a protobuf message.
        package static let broadcastChannel: UInt8 = 29
        // Our own additions start at 0xE0; other clients skip items that they do not know.
        package static let pushID: UInt8 = 0xE0
        package static let channel: UInt8 = 0xE1
        package static let taskID: UInt8 = 0xE2
        package static let vendorMessageID: UInt8 = 0xE3
        package static let collapseID: UInt8 = 0xE4
        package static let pushType: UInt8 = 0xE5
    }

    package enum Acknowledgement {
        package static let token: UInt8 = 1
        package static let messageID: UInt8 = 4
        package static let status: UInt8 = 8
    }

    package enum NoStorage {
        package static let token: UInt8 = 1
        /// Another client reads the token under this id.
        package static let tokenAlternative: UInt8 = 3
    }

    package enum TokenRequest {
        package static let baseToken: UInt8 = 1
        package static let topicHash: UInt8 = 2
        package static let appID: UInt8 = 3
        /// Our own addition: the topic in clear, since its hash cannot be turned back into a name.
        package static let topicName: UInt8 = 0xE0
    }

    package enum TokenResponse {
        package static let status: UInt8 = 1
        package static let token: UInt8 = 2
        package static let topicHash: UInt8 = 3
        package static let appID: UInt8 = 4
    }

    package enum Subscription {
        package static let index: UInt8 = 1
        /// Only in the request: the changes, as a protobuf message.
        package static let body: UInt8 = 2
        package static let token: UInt8 = 3
        /// Only in the answer.
        package static let status: UInt8 = 4
    }

    package enum ActiveInterval {
        package static let interval: UInt8 = 1
    }

    package enum ActiveState {
        package static let state: UInt8 = 1
        package static let interval: UInt8 = 2
    }
}
