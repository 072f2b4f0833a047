package import PushCourier

/// A message as the inbox keeps it.
package struct InboxMessage: Sendable, Equatable {
    package var topic: String
    package var payload: [UInt8]
    /// What makes it the same message when it comes again.
    package var key: MessageKey
    package var receivedAtMilliseconds: Int64
    /// Unix seconds.
    package var expirySeconds: UInt32?
    /// Unix nanoseconds.
    package var timestampNanoseconds: UInt64?
    package var isFromStorage = false
    package var isLastStored = false
    package var priority: UInt8?
    package var pushID: [UInt8]?
    package var channel: String?
    package var taskID: String?
    package var vendorMessageID: String?
    package var collapseID: String?
    package var pushType: String?
    /// Id of the channel it was broadcast on.
    package var broadcastChannel: [UInt8]?

    package init(topic: String, payload: [UInt8], key: MessageKey, receivedAtMilliseconds: Int64) {
        self.topic = topic
        self.payload = payload
        self.key = key
        self.receivedAtMilliseconds = receivedAtMilliseconds
    }

    init(_ message: CourierNotification, topic: String, receivedAtMilliseconds: Int64) {
        self.init(
            topic: topic, payload: message.payload, key: MessageKey(message),
            receivedAtMilliseconds: receivedAtMilliseconds)
        expirySeconds = message.expirySeconds
        timestampNanoseconds = message.timestampNanoseconds
        isFromStorage = message.storageFlags?.contains(.fromStorage) ?? false
        isLastStored = message.storageFlags?.contains(.lastStored) ?? false
        priority = message.priority
        pushID = message.pushID
        channel = message.channel
        taskID = message.taskID
        vendorMessageID = message.vendorMessageID
        collapseID = message.collapseID
        pushType = message.pushType
        broadcastChannel = message.broadcastChannel?.id
    }
}

/// A message that has come and is not yet durable.
package struct Arrival: Sendable, Equatable {
    package var message: InboxMessage
    package var receipt: Receipt

    /// How to acknowledge it, as long as the connection lasts on which it came.
    package struct Receipt: Sendable, Equatable {
        package var messageID: UInt32
        package var token: [UInt8]
        /// Counts connections: message ids mean nothing on another one.
        package var session: UInt64
        /// Of a broadcast: how far the device has come in its channel.
        package var channel: CourierChannel?
    }
}
