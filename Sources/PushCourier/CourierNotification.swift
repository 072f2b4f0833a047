package import PushBytes

/// One message towards the device; `CourierUpstream` is the same frame the other way round.
package struct CourierNotification: CourierMessage {
    package static let command = CourierCommand.notification

    /// How a message relates to the store, as bits.
    package struct StorageFlags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let fromStorage = StorageFlags(rawValue: 0x01)
        package static let lastStored = StorageFlags(rawValue: 0x02)
    }

    /// Token of the app (or of the device, when a server addresses that), 32 bytes.
    package var token: [UInt8]
    /// 20 bytes.
    package var topicHash: [UInt8]
    package var payload: [UInt8]
    /// Chosen by the server, echoed in the acknowledgement, unique among what is in flight on a connection.
    package var messageID: UInt32
    /// Unix seconds.
    package var expirySeconds: UInt32?
    /// Unix nanoseconds.
    package var timestampNanoseconds: UInt64?
    package var storageFlags: StorageFlags?
    /// 10, 5 or 1, as the provider gave it.
    package var priority: UInt8?
    /// The channel a broadcast came through, and the time of this message in it.
    package var broadcastChannel: CourierChannel?

    // Our own additions.
    /// 16 bytes: the id that the provider was told.
    package var pushID: [UInt8]?
    package var channel: String?
    package var taskID: String?
    package var vendorMessageID: String?
    package var collapseID: String?
    package var pushType: String?

    package init(token: [UInt8], topicHash: [UInt8], payload: [UInt8] = [], messageID: UInt32) {
        self.token = token
        self.topicHash = topicHash
        self.payload = payload
        self.messageID = messageID
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.Notification
        token = try frame.required(ID.destination)
        topicHash = try frame.requiredHash(ID.source)
        payload = try frame.required(ID.payload)
        messageID = try frame.requiredInteger(ID.messageID)
        expirySeconds = try frame.optionalInteger(ID.expiry)
        timestampNanoseconds = try frame.optionalInteger(ID.timestamp)
        storageFlags = try frame.optionalInteger(ID.storageFlags).map(StorageFlags.init(rawValue:))
        priority = try frame.optionalInteger(ID.priority)
        broadcastChannel = try Self.broadcastChannel(frame)
        pushID = frame.optional(ID.pushID)
        channel = try frame.optionalText(ID.channel)
        taskID = try frame.optionalText(ID.taskID)
        vendorMessageID = try frame.optionalText(ID.vendorMessageID)
        collapseID = try frame.optionalText(ID.collapseID)
        pushType = try frame.optionalText(ID.pushType)
    }

    private static func broadcastChannel(_ frame: CourierFrame) throws(CourierError) -> CourierChannel? {
        let id = CourierItemID.Notification.broadcastChannel
        guard let item = frame.item(id) else { return nil }
        do throws(ProtobufError) {
            return try CourierChannel(protobuf: item)
        } catch {
            throw .malformedItem(command: command, item: id)
        }
    }

    package func write(into queue: inout ByteQueue) {
        write(payload: payload.span, into: &queue)
    }

    /// Writes `payload` in place of the stored one: a payload that lives elsewhere is copied once, to the queue.
    package func write(payload: Span<UInt8>, into queue: inout ByteQueue) {
        typealias ID = CourierItemID.Notification
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(ID.destination, token, in: &queue)
        writer.item(ID.source, topicHash, in: &queue)
        writer.item(ID.payload, payload, in: &queue)
        writer.item(ID.messageID, integer: messageID, in: &queue)
        writer.item(ID.expiry, integer: expirySeconds, in: &queue)
        writer.item(ID.timestamp, integer: timestampNanoseconds, in: &queue)
        writer.item(ID.storageFlags, integer: storageFlags?.rawValue, in: &queue)
        writer.item(ID.priority, integer: priority, in: &queue)
        if let broadcastChannel { writer.item(ID.broadcastChannel, broadcastChannel.protobuf, in: &queue) }
        writer.item(ID.pushID, pushID, in: &queue)
        writer.item(ID.channel, channel, in: &queue)
        writer.item(ID.taskID, taskID, in: &queue)
        writer.item(ID.vendorMessageID, vendorMessageID, in: &queue)
        writer.item(ID.collapseID, collapseID, in: &queue)
        writer.item(ID.pushType, pushType, in: &queue)
        writer.end(in: &queue)
    }
}

/// A message from the device: the topic is the destination and the base token the source.
package struct CourierUpstream: CourierMessage {
    package static let command = CourierCommand.notification

    /// 20 bytes.
    package var topicHash: [UInt8]
    package var baseToken: [UInt8]
    package var payload: [UInt8]
    /// Chosen by the device, echoed in the server's acknowledgement.
    package var messageID: UInt32

    package init(topicHash: [UInt8], baseToken: [UInt8], payload: [UInt8], messageID: UInt32) {
        self.topicHash = topicHash
        self.baseToken = baseToken
        self.payload = payload
        self.messageID = messageID
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.Notification
        topicHash = try frame.requiredHash(ID.destination)
        baseToken = try frame.required(ID.source)
        payload = try frame.required(ID.payload)
        messageID = try frame.requiredInteger(ID.messageID)
    }

    package func write(into queue: inout ByteQueue) {
        typealias ID = CourierItemID.Notification
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(ID.destination, topicHash, in: &queue)
        writer.item(ID.source, baseToken, in: &queue)
        writer.item(ID.payload, payload, in: &queue)
        writer.item(ID.messageID, integer: messageID, in: &queue)
        writer.end(in: &queue)
    }
}

/// Answer to a notification or an upstream message.
package struct CourierAcknowledgement: CourierMessage {
    package static let command = CourierCommand.acknowledgement

    package static let taken: UInt8 = 0
    package static let failed: UInt8 = 2
    package static let invalid: UInt8 = 3

    package var messageID: UInt32
    /// Absent means taken.
    package var status: UInt8
    package var token: [UInt8]?

    package init(messageID: UInt32, status: UInt8 = CourierAcknowledgement.taken, token: [UInt8]? = nil) {
        self.messageID = messageID
        self.status = status
        self.token = token
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.Acknowledgement
        messageID = try frame.requiredInteger(ID.messageID)
        status = try frame.optionalInteger(ID.status) ?? Self.taken
        token = frame.optional(ID.token)
    }

    package func write(into queue: inout ByteQueue) {
        typealias ID = CourierItemID.Acknowledgement
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(ID.messageID, integer: messageID, in: &queue)
        writer.item(ID.status, integer: status, in: &queue)
        writer.item(ID.token, token, in: &queue)
        writer.end(in: &queue)
    }
}
