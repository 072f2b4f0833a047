internal import PushCourier

/// A broadcast channel the device listens to, or has left and not yet told the server so.
struct DeviceChannel: Sendable, Equatable {
    let id: [UInt8]
    /// The id as it was given.
    let name: String
    let topic: String
    /// Unix nanoseconds of the newest message that is durable here; what the server sends again begins after it.
    var lastNanoseconds: UInt64 = 0
    var isLeaving = false
    /// Number of the frame that is to be answered; 0 when none is.
    var question: UInt32 = 0
}

// Broadcast channels: told to the server when they change and on every connection, a frame for each, so that an answer
// is about one channel.
extension DeviceCore {
    mutating func subscribe(_ id: [UInt8], name: String, topic: String, _ outputs: inout [Output]) {
        var channel = DeviceChannel(id: id, name: name, topic: topic)
        if let index = channels.firstIndex(where: { $0.id == id }) {
            channel.lastNanoseconds = channels[index].lastNanoseconds
            channels.remove(at: index)
        }
        guard channels.count < DeviceLimits.channelsMax else {
            outputs.append(.event(.subscriptionRefused(channel: name, status: 0)))
            return
        }
        channels.append(channel)
        writeChannel(channels.count - 1, &outputs)
    }

    mutating func unsubscribe(_ id: [UInt8], _ outputs: inout [Output]) {
        guard let index = channels.firstIndex(where: { $0.id == id }) else { return }
        channels[index].isLeaving = true
        writeChannel(index, &outputs)
    }

    /// On every connection: a subscription is kept by the server, but it may have forgotten the device.
    mutating func writeChannels(_ outputs: inout [Output]) {
        for index in channels.indices { writeChannel(index, &outputs) }
    }

    private mutating func writeChannel(_ index: Int, _ outputs: inout [Output]) {
        guard isOnline, let baseToken else { return }
        lastQuestion = lastQuestion == .max ? 1 : lastQuestion + 1
        channels[index].question = lastQuestion
        let channel = channels[index]
        let named = CourierChannel(id: channel.id, lastMessageNanoseconds: channel.lastNanoseconds)
        let change = CourierSubscription.Change(
            topic: channel.topic, joined: channel.isLeaving ? [] : [named], left: channel.isLeaving ? [named] : [])
        outputs.append(
            .write(.subscription(CourierSubscription(index: lastQuestion, changes: [change], baseToken: baseToken))))
    }

    mutating func subscriptionAnswered(_ response: CourierSubscriptionResponse, _ outputs: inout [Output]) {
        guard isOnline, response.index != 0,
            let index = channels.firstIndex(where: { $0.question == response.index })
        else { return }
        channels[index].question = 0
        if channels[index].isLeaving {
            channels.remove(at: index)
        } else if response.status == CourierSubscriptionResponse.done {
            outputs.append(.event(.subscribed(channel: channels[index].name)))
        } else {
            outputs.append(
                .event(.subscriptionRefused(channel: channels[index].name, status: Int(response.status))))
        }
    }

    /// A broadcast is durable.
    mutating func advance(_ message: CourierChannel) {
        guard let index = channels.firstIndex(where: { $0.id == message.id }) else { return }
        channels[index].lastNanoseconds = max(channels[index].lastNanoseconds, message.lastMessageNanoseconds)
    }
}
