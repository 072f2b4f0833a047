package import PushBytes

/// A broadcast channel as frames name it: its id, and how far a device has come in it.
package struct CourierChannel: Equatable, Sendable {
    /// The bytes behind the base64 text that providers use; 1 to `idBytesMax`.
    package var id: [UInt8]
    /// Unix nanoseconds of the newest message: the one that is being sent, or the last one that the device has. 0: none.
    package var lastMessageNanoseconds: UInt64

    /// Longest id that is read. Ours have 16 bytes; Apple says not to assume a size.
    package static let idBytesMax = 64

    package init(id: [UInt8], lastMessageNanoseconds: UInt64 = 0) {
        self.id = id
        self.lastMessageNanoseconds = lastMessageNanoseconds
    }

    init(protobuf bytes: ArraySlice<UInt8>) throws(ProtobufError) {
        var reader = ProtobufReader(bytes)
        id = []
        lastMessageNanoseconds = 0
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (1, .bytes(let bytes)): id = Array(bytes)
            case (2, .number(let number)): lastMessageNanoseconds = number
            default: break
            }
        }
        guard (1...Self.idBytesMax).contains(id.count) else { throw .malformed }
    }

    var protobuf: [UInt8] {
        var writer = ProtobufWriter()
        writer.field(1, bytes: id)
        writer.field(2, number: lastMessageNanoseconds)
        return writer.bytes
    }
}

/// Device to server: channels to join and to leave.
package struct CourierSubscription: CourierMessage {
    package static let command = CourierCommand.subscription

    /// What changes for one app.
    package struct Change: Equatable, Sendable {
        /// The topic in clear.
        package var topic: String
        package var joined: [CourierChannel]
        package var left: [CourierChannel]

        package init(topic: String, joined: [CourierChannel] = [], left: [CourierChannel] = []) {
            self.topic = topic
            self.joined = joined
            self.left = left
        }
    }

    /// Topics and channels that one frame may name: it has at most 16 KiB, and a channel takes some 30 bytes.
    package static let entriesMax = 1024

    /// Chosen by the device, echoed in the answer.
    package var index: UInt32
    package var changes: [Change]
    /// What is joined here replaces everything joined before.
    package var replaces: Bool
    package var baseToken: [UInt8]

    package init(index: UInt32, changes: [Change], replaces: Bool = false, baseToken: [UInt8]) {
        self.index = index
        self.changes = changes
        self.replaces = replaces
        self.baseToken = baseToken
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.Subscription
        index = try frame.requiredInteger(ID.index)
        baseToken = try frame.required(ID.token)
        changes = []
        replaces = false
        guard let body = frame.item(ID.body) else { throw .missingItem(command: frame.command, item: ID.body) }
        do throws(ProtobufError) {
            try readBody(body)
        } catch {
            throw .malformedItem(command: frame.command, item: ID.body)
        }
    }

    private mutating func readBody(_ body: ArraySlice<UInt8>) throws(ProtobufError) {
        var reader = ProtobufReader(body)
        var entries = 0
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (2, .bytes(let bytes)): changes.append(try Self.change(bytes, entries: &entries))
            case (3, .number(let number)): replaces = number != 0
            default: break
            }
        }
    }

    private static func change(_ bytes: ArraySlice<UInt8>, entries: inout Int) throws(ProtobufError) -> Change {
        var reader = ProtobufReader(bytes)
        var change = Change(topic: "")
        entries += 1
        while let (field, value) = try reader.next() {
            guard case .bytes(let bytes) = value else { continue }
            switch field {
            case 1:
                guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed }
                change.topic = text
            case 2: change.joined.append(try CourierChannel(protobuf: bytes))
            case 3: change.left.append(try CourierChannel(protobuf: bytes))
            default: continue
            }
            entries += 1
        }
        guard entries <= entriesMax, !change.topic.isEmpty else { throw .malformed }
        return change
    }

    package func write(into queue: inout ByteQueue) {
        typealias ID = CourierItemID.Subscription
        var body = ProtobufWriter()
        body.field(1, number: 1)
        for change in changes {
            var part = ProtobufWriter()
            part.field(1, bytes: change.topic.utf8)
            for channel in change.joined { part.field(2, bytes: channel.protobuf) }
            for channel in change.left { part.field(3, bytes: channel.protobuf) }
            body.field(2, bytes: part.bytes)
        }
        body.field(3, number: replaces ? 1 : 0)
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(ID.index, integer: index, in: &queue)
        writer.item(ID.body, body.bytes, in: &queue)
        writer.item(ID.token, baseToken, in: &queue)
        writer.end(in: &queue)
    }
}

/// Answer to `CourierSubscription`. Clients disagree on its command: one reads it under the request's own, another under
/// a number of its own. Both are read here.
package struct CourierSubscriptionResponse: Equatable, Sendable {
    package static let done: UInt8 = 0
    /// A channel or topic is not known; the others were joined and left all the same.
    package static let refused: UInt8 = 2

    package var index: UInt32
    package var token: [UInt8]
    package var status: UInt8

    package init(index: UInt32, token: [UInt8], status: UInt8 = done) {
        self.index = index
        self.token = token
        self.status = status
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        if frame.command != CourierCommand.subscriptionResponse { try frame.expect(CourierCommand.subscription) }
        typealias ID = CourierItemID.Subscription
        index = try frame.requiredInteger(ID.index)
        token = try frame.required(ID.token)
        status = try frame.requiredInteger(ID.status)
    }

    package func write(under command: UInt8 = CourierCommand.subscription, into queue: inout ByteQueue) {
        typealias ID = CourierItemID.Subscription
        let writer = CourierWriter.begin(command, in: &queue)
        writer.item(ID.index, integer: index, in: &queue)
        writer.item(ID.token, token, in: &queue)
        writer.item(ID.status, integer: status, in: &queue)
        writer.end(in: &queue)
    }
}
