package import PushCore

/// What the core wants done. The service carries these out in order, within the turn in which they were asked for.
package enum ServerOutput {
    /// Write into the journal.
    case event(JournalEvent)
    /// Send a push to a device connection.
    case deliver(ServerDelivery)
    /// Answer a device.
    case reply(connection: Int, DeviceReply)
    /// End a device connection; `why` is for the log.
    case close(connection: Int, why: String)
    /// Remember a change of the registry.
    case save(RegistryChange)
}

/// A change of the registry that must survive a restart.
package enum RegistryChange {
    case app(App)
    case appRemoved(bundle: String)
    case device(Device)
    case deviceRemoved(id: Int64)
    case registration(Registration)
    case channel(Channel)
    case channelRemoved(number: Int64)
    case subscription(Subscription)
    case subscriptionRemoved(registration: Int64, channel: Int64)
}

/// One push on its way to one device connection.
package struct ServerDelivery {
    package let connection: Int
    package let sequence: Int64
    package let messageID: UInt32
    package let token: AppToken
    package let topic: Topic
    package let isFromStorage: Bool
    package let isLastStored: Bool
}

/// The answers of the device protocol, without their encoding.
package enum DeviceReply {
    /// `baseToken` only when the device had none or another.
    case accepted(baseToken: [UInt8]?)
    case refused
    case token(AppToken, topic: TopicHash)
    case tokenRefused(topic: [UInt8])
    case keepAlive
    /// Everything a device asked to join was joined, or not.
    case subscribed(index: UInt32, token: [UInt8], isDone: Bool)
}
