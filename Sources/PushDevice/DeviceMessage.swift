internal import PushBytes
internal import PushReactor

/// A push that has arrived on this device and is kept until `acknowledge()`.
public struct DeviceMessage: Sendable {
    /// What the provider sent, byte for byte; at most 64 KiB.
    public let payload: [UInt8]
    /// The bundle id, or the name of a vendor link.
    public let topic: String
    /// The id that the provider was told (`apns-id`), written as the provider sees it; `nil` if the server does not
    /// send it.
    public let pushID: String?
    /// When it came, in unix milliseconds by this machine's clock.
    public let receivedAtMilliseconds: Int64
    /// When it ends to mean something, in unix seconds; `nil` if the server did not say.
    public let expirySeconds: UInt32?
    /// When the server took it, in unix nanoseconds; `nil` if the server did not say.
    public let timestampNanoseconds: UInt64?
    /// It had waited on the server for this device to connect.
    public let isFromStorage: Bool
    /// It is the last one of those that had waited.
    public let isLastStored: Bool
    /// 10, 5 or 1.
    public let priority: UInt8?
    public let collapseID: String?
    /// `alert`, `background`, …
    public let pushType: String?
    /// The way it took, for pushes of other vendors.
    public let channel: String?
    public let taskID: String?
    /// Id of the channel it was broadcast on, in base64; `nil` for a push to this device alone.
    public let broadcastChannel: String?

    let sequence: Int64
    private let door: Inbox<DeviceDriver.Command>

    init(_ message: InboxMessage, sequence: Int64, door: Inbox<DeviceDriver.Command>) {
        payload = message.payload
        topic = message.topic
        pushID = message.vendorMessageID ?? message.pushID.flatMap(Self.text(ofID:))
        receivedAtMilliseconds = message.receivedAtMilliseconds
        expirySeconds = message.expirySeconds
        timestampNanoseconds = message.timestampNanoseconds
        isFromStorage = message.isFromStorage
        isLastStored = message.isLastStored
        priority = message.priority
        collapseID = message.collapseID
        pushType = message.pushType
        channel = message.channel
        taskID = message.taskID
        broadcastChannel = message.broadcastChannel.map { Base64.encode($0) }
        self.sequence = sequence
        self.door = door
    }

    /// The app is done with this message: it leaves the inbox within milliseconds.
    ///
    /// Until then it is handed out again after each start of a device with a state directory. Callable from any
    /// thread, and more than once. After `PushDevice.stop()` it does nothing.
    public func acknowledge() {
        door.post(.consumed(sequence))
    }

    private static func text(ofID id: [UInt8]) -> String? {
        guard id.count == 16 else { return nil }
        let digits = Hex.encode(id, uppercase: true)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}

extension DeviceMessage: CustomStringConvertible {
    /// Without the payload, which may be private.
    public var description: String { "message \(pushID ?? "without id") on \(topic), \(payload.count) bytes" }
}
