package import PushBytes
package import PushCore
package import PushCourier

/// One device's connection without its socket: Apple's frames in, inputs of the core out, frames back. Bound to the loop.
package final class CourierConnection {
    package let number: Int
    var output = ByteQueue()
    var isDirty = false
    /// The core has ended the connection: what arrives now is ignored.
    var isEnded = false
    package weak var transport: (any ServiceTransport)?
    private var decoder = CourierDecoder()
    private unowned let service: PushService

    init(service: PushService, number: Int) {
        self.service = service
        self.number = number
    }

    /// Takes what arrived. An error means that the peer broke the framing: close.
    package func receive(_ bytes: Span<UInt8>, now: Moment) throws(CourierError) {
        guard !isEnded else { return }
        decoder.receive(bytes)
        while !isEnded, let frame = try decoder.next() {
            try dispatch(frame, now: now)
            service.perform(now: now)
        }
    }

    package func drain(into output: inout ByteQueue) {
        self.output.move(into: &output)
        self.output.shrink(to: 0)
    }

    private func dispatch(_ frame: CourierFrame, now: Moment) throws(CourierError) {
        let core = service.core
        switch frame.command {
        case CourierCommand.connect: core.received(try CourierConnect(frame), from: number, now: now)
        case CourierCommand.filter: core.received(try CourierFilter(frame), from: number, now: now)
        case CourierCommand.acknowledgement: core.received(try CourierAcknowledgement(frame), from: number, now: now)
        case CourierCommand.tokenRequest: core.received(try CourierTokenRequest(frame), from: number, now: now)
        case CourierCommand.subscription: core.received(try CourierSubscription(frame), from: number, now: now)
        case CourierCommand.keepAlive: core.receivedKeepAlive(from: number, now: now)
        default: core.receivedOther(from: number, now: now)
        }
    }

    func write(_ reply: DeviceReply, now: Moment) {
        switch reply {
        case .accepted(let baseToken):
            CourierConnectResponse(
                baseToken: baseToken, serverTimeMilliseconds: UInt64(clamping: now.unixMilliseconds)
            ).write(into: &output)
        case .refused:
            var response = CourierConnectResponse(
                status: CourierConnectResponse.refused, baseToken: nil,
                serverTimeMilliseconds: UInt64(clamping: now.unixMilliseconds))
            response.badNonceTimeMilliseconds = UInt64(clamping: now.unixMilliseconds)
            response.write(into: &output)
        case .token(let token, let topic):
            CourierTokenResponse(token: token.bytes, topicHash: topic.bytes).write(into: &output)
        case .tokenRefused(let topic):
            // Clients want a token item even then: zeros.
            CourierTokenResponse(
                status: 2, token: [UInt8](repeating: 0, count: AppToken.bytesMin), topicHash: topic
            ).write(into: &output)
        case .keepAlive:
            CourierKeepAliveResponse().write(into: &output)
        case .subscribed(let index, let token, let isDone):
            CourierSubscriptionResponse(
                index: index, token: token,
                status: isDone ? CourierSubscriptionResponse.done : CourierSubscriptionResponse.refused
            ).write(under: service.setup.rules.broadcast.replyCommand.rawValue, into: &output)
        }
    }

    func write(_ delivery: ServerDelivery, _ record: PushRecord, payload: Span<UInt8>, pushID: [UInt8]) {
        var message = CourierNotification(
            token: delivery.token.bytes, topicHash: delivery.topic.hash.bytes, messageID: delivery.messageID)
        message.expirySeconds = record.isStorable ? UInt32(clamping: record.expiresAt / 1000) : 0
        message.timestampNanoseconds = UInt64(clamping: record.at) &* 1_000_000
        var flags: CourierNotification.StorageFlags = []
        if delivery.isFromStorage { flags.insert(.fromStorage) }
        if delivery.isLastStored { flags.insert(.lastStored) }
        message.storageFlags = flags
        message.priority = record.priority
        message.pushID = pushID
        // The push id follows from the place in the journal and is never repeated; an id of the provider's may be.
        message.vendorMessageID = record.id?.string
        message.collapseID = record.collapseID
        message.pushType = record.pushType?.text
        if let mark = record.broadcast {
            message.broadcastChannel = CourierChannel(
                id: mark.channel, lastMessageNanoseconds: UInt64(clamping: mark.nanoseconds))
        }
        message.write(payload: payload, into: &output)
    }
}
