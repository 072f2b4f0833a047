internal import PushDevice

/// A message as the phone prints it.
struct ReceivedPush: Equatable {
    var pushID: String?
    var topic = ""
    var payload: [UInt8] = []
    var receivedAtMilliseconds: Int64 = 0
    var isFromStorage = false
    var isLastStored = false
    var priority: UInt8?
    var collapseID: String?
    var pushType: String?
    var broadcastChannel: String?

    init() {}

    init(_ message: DeviceMessage) {
        pushID = message.pushID
        topic = message.topic
        payload = message.payload
        receivedAtMilliseconds = message.receivedAtMilliseconds
        isFromStorage = message.isFromStorage
        isLastStored = message.isLastStored
        priority = message.priority
        collapseID = message.collapseID
        pushType = message.pushType
        broadcastChannel = message.broadcastChannel
    }
}
