import PushBytes

/// What a channel keeps for devices that are away. Apple: chosen when the channel is made, never changed.
package enum ChannelPolicy: Int64, Sendable, CaseIterable {
    /// Nothing: only devices that are there receive a broadcast.
    case none = 0
    /// The newest broadcast, for eight hours at most.
    case newest = 1
}

/// A broadcast channel of one app in one environment. Bound to the loop.
package final class Channel {
    /// The broadcast that waits for whoever comes.
    package struct Stored: Equatable {
        package let sequence: Int64
        /// Its time in the channel, unix nanoseconds.
        package let nanoseconds: Int64
        /// Unix milliseconds.
        package let expiresAt: Int64

        package init(sequence: Int64, nanoseconds: Int64, expiresAt: Int64) {
            self.sequence = sequence
            self.nanoseconds = nanoseconds
            self.expiresAt = expiresAt
        }
    }

    /// Bytes of an id that we make.
    package static let idBytes = 16
    /// Longest id that is looked at, in bytes of base64.
    package static let idTextBytesMax = 88

    /// Its place in the journal: never given out twice, and neither is the id that is made from it.
    package let number: Int64
    package let id: [UInt8]
    package let bundle: String
    package let environment: PushEnvironment
    package let policy: ChannelPolicy
    /// Time of the newest broadcast in unix nanoseconds; always moves on, even when the clock does not.
    package var lastNanoseconds: Int64
    package var stored: Stored?
    package private(set) var subscriptions: [Int64: Subscription] = [:]

    package init(
        number: Int64, id: [UInt8], bundle: String, environment: PushEnvironment, policy: ChannelPolicy,
        lastNanoseconds: Int64 = 0, stored: Stored? = nil
    ) {
        self.number = number
        self.id = id
        self.bundle = bundle
        self.environment = environment
        self.policy = policy
        self.lastNanoseconds = lastNanoseconds
        self.stored = stored
    }

    /// The id as providers write it.
    package var text: String { Base64.encode(id) }

    /// In the order of their registrations, so that the same broadcast takes the same way twice.
    package var subscriptionsInOrder: [Subscription] {
        subscriptions.values.sorted { $0.registration.id < $1.registration.id }
    }

    package func subscription(of device: Device) -> Subscription? {
        device.registrations.lazy.compactMap { self.subscriptions[$0.id] }.first
    }

    package func add(_ subscription: Subscription) {
        precondition(subscriptions[subscription.registration.id] == nil, "a registration subscribes once")
        subscriptions[subscription.registration.id] = subscription
        subscription.registration.subscriptions.append(subscription)
    }

    package func remove(_ subscription: Subscription) {
        subscriptions[subscription.registration.id] = nil
        subscription.registration.subscriptions.removeAll { $0 === subscription }
    }
}

/// One app on one device that listens to a channel. Bound to the loop.
package final class Subscription {
    package let channel: Channel
    package let registration: Registration
    /// Unix nanoseconds of the newest broadcast the device has; what is stored after it is sent when it comes.
    package var cursor: Int64
    /// Broadcasts on their way to the device, or waiting for room on its connection.
    package var pending: [Int64] = []

    package init(channel: Channel, registration: Registration, cursor: Int64) {
        self.channel = channel
        self.registration = registration
        self.cursor = cursor
    }

    /// What the channel keeps that the device has not and that is not on its way.
    package func missing(now unixMilliseconds: Int64) -> Channel.Stored? {
        guard let stored = channel.stored, stored.nanoseconds > cursor, stored.expiresAt > unixMilliseconds,
            !pending.contains(stored.sequence)
        else { return nil }
        return stored
    }
}

/// Every channel, and the ways to find them. Bound to the loop.
package struct ChannelTable {
    private struct Owner: Hashable {
        let bundle: String
        let environment: PushEnvironment
    }

    private var byID: [[UInt8]: Channel] = [:]
    private var byOwner: [Owner: [Channel]] = [:]

    init() {}

    package subscript(id id: [UInt8]) -> Channel? { byID[id] }

    package var all: some Collection<Channel> { byID.values }

    /// Those of one app and environment, oldest first.
    package func channels(of bundle: String, _ environment: PushEnvironment) -> [Channel] {
        byOwner[Owner(bundle: bundle, environment: environment)] ?? []
    }

    package mutating func add(_ channel: Channel) {
        precondition(byID[channel.id] == nil, "a channel is added once")
        byID[channel.id] = channel
        byOwner[Owner(bundle: channel.bundle, environment: channel.environment), default: []].append(channel)
    }

    package mutating func remove(_ channel: Channel) {
        byID[channel.id] = nil
        byOwner[Owner(bundle: channel.bundle, environment: channel.environment)]?.removeAll { $0 === channel }
    }
}
