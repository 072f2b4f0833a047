internal import PushBytes
package import PushCourier

/// Decides everything about one device's connection; a pure value.
///
/// A driver feeds `step` with what happened and does what comes out, in order, then sets its timer to
/// `nextDeadline`. Whatever the server does or leaves undone, there is always a deadline ahead unless the device was
/// stopped. A message is acknowledged only after the driver has said that it is durable.
package struct DeviceCore: Sendable {
    package enum Input: Sendable {
        case start
        case stop
        /// TLS is up.
        case connected
        /// The connection that `connect` asked for is gone. Not to be sent after `disconnect`.
        case disconnected(DisconnectReason)
        case frame(CourierFrame)
        case timer
        case setTopics([DeviceTopic])
        case mintToken(topic: String)
        /// The id in bytes, and as the app wrote it.
        case subscribe([UInt8], name: String, topic: String)
        case unsubscribe([UInt8])
        /// The commit that holds this arrival has returned; `isNew` is false when it was there before.
        case stored(Arrival.Receipt, isNew: Bool)
        /// The commit failed; nothing of what `store` asked for since the last commit is kept.
        case storingFailed(String)
        /// The app is done with this many messages.
        case consumed(Int)
    }

    package enum Output: Sendable, Equatable {
        case connect
        /// Close the connection, in order if it is up. The end of it is not reported back.
        case disconnect
        case write(Outgoing)
        /// Keep it in this turn's commit, then answer with `stored` or `storingFailed`.
        case store(Arrival)
        case saveBaseToken([UInt8]?)
        case event(DeviceEvent)
    }

    /// Frames to the server. The driver adds the proof of identity to the first.
    package enum Outgoing: Sendable, Equatable {
        case connect(baseToken: [UInt8]?, clockMilliseconds: Int64)
        case filter(CourierFilter)
        case tokenRequest(CourierTokenRequest)
        case subscription(CourierSubscription)
        case activeState(CourierActiveState)
        case acknowledgement(CourierAcknowledgement)
        case keepAlive
        case keepAliveResponse
    }

    /// Now, on the monotonic clock and on the wall.
    package struct Moment: Sendable {
        package var nanoseconds: Int64
        package var wallMilliseconds: Int64

        package init(nanoseconds: Int64, wallMilliseconds: Int64) {
            self.nanoseconds = nanoseconds
            self.wallMilliseconds = wallMilliseconds
        }
    }

    enum Phase: Sendable, Equatable {
        case stopped
        case waiting(until: Int64)
        case connecting(deadline: Int64)
        case awaitingResponse(deadline: Int64, presentedToken: Bool)
        case online(Session)
    }

    struct Session: Sendable, Equatable {
        let since: Int64
        var keepAliveAt: Int64
        /// When the answer to a keep-alive is due.
        var answerBy: Int64?
        var askTokensAgainAt: Int64?
    }

    let timing: TimingNanoseconds
    let limits: DeviceLimits
    var phase = Phase.stopped
    var topics: [DeviceTopic]
    var channels: [DeviceChannel] = []
    /// Numbers the frames about channels.
    var lastQuestion: UInt32 = 0
    package internal(set) var baseToken: [UInt8]?
    /// What the server's clock is ahead of ours, as far as it told.
    var clockOffsetMilliseconds: Int64 = 0
    /// Failed connections in a row.
    var failures = 0
    var random: SeededRandom
    /// Counts connections; see `Arrival.Receipt`.
    var session: UInt64 = 0
    package internal(set) var unconsumed: Int
    /// Asked to be stored, not yet answered.
    var storing = 0
    /// A message had to be left to the server. All later ones are too, until the reconnect: order is kept.
    var isRefusing = false

    /// - Parameters:
    ///   - baseToken: from an earlier run, if it is known.
    ///   - unconsumed: messages in the inbox from an earlier run.
    ///   - seed: for the jitter of reconnects.
    package init(
        timing: DeviceTiming = DeviceTiming(), limits: DeviceLimits = DeviceLimits(), topics: [DeviceTopic],
        baseToken: [UInt8]? = nil, unconsumed: Int = 0, seed: UInt64
    ) {
        precondition(topics.count <= DeviceLimits.topicsMax, "the topics fit into one filter")
        precondition(limits.unconsumedMax > 0 && limits.seenMax > 0, "an inbox keeps something")
        self.timing = TimingNanoseconds(timing)
        self.limits = limits
        self.topics = topics
        self.baseToken = baseToken
        self.unconsumed = unconsumed
        random = SeededRandom(seed: seed)
    }

    package var isOnline: Bool {
        if case .online = phase { true } else { false }
    }

    /// The token of a topic, if the server has given it since the start.
    package func token(for topic: String) -> [UInt8]? {
        topics.first { $0.name == topic }?.token
    }

    /// When to send `timer` at the latest; `nil` while stopped.
    package var nextDeadline: Int64? {
        switch phase {
        case .stopped: nil
        case .waiting(let time), .connecting(let time), .awaitingResponse(let time, _): time
        case .online(let session):
            min(session.answerBy ?? session.keepAliveAt, session.askTokensAgainAt ?? .max)
        }
    }

    package mutating func step(_ input: Input, now: Moment, into outputs: inout [Output]) {
        switch input {
        case .start: start(now, &outputs)
        case .stop: stop(&outputs)
        case .connected: connected(now, &outputs)
        case .disconnected(let reason): lost(reason, now, &outputs)
        case .frame(let frame): received(frame, now, &outputs)
        case .timer: timePassed(now, &outputs)
        case .setTopics(let wanted): setTopics(wanted, now, &outputs)
        case .mintToken(let topic): mintToken(topic, now, &outputs)
        case .subscribe(let id, let name, let topic): subscribe(id, name: name, topic: topic, &outputs)
        case .unsubscribe(let id): unsubscribe(id, &outputs)
        case .stored(let receipt, let isNew): stored(receipt, isNew: isNew, now, &outputs)
        case .storingFailed(let why): storingFailed(why, now, &outputs)
        case .consumed(let count): consumed(count, now, &outputs)
        }
    }
}

/// `DeviceTiming` in the unit the core counts in.
struct TimingNanoseconds: Sendable {
    let keepAliveInterval, keepAliveDeadline, connectDeadline, responseDeadline: Int64
    let backoffBase, backoffMax, stableAfter: Int64

    init(_ timing: DeviceTiming) {
        keepAliveInterval = Self.nanoseconds(timing.keepAliveInterval)
        keepAliveDeadline = Self.nanoseconds(timing.keepAliveDeadline)
        connectDeadline = Self.nanoseconds(timing.connectDeadline)
        responseDeadline = Self.nanoseconds(timing.responseDeadline)
        backoffBase = Self.nanoseconds(timing.backoffBase)
        backoffMax = Self.nanoseconds(timing.backoffMax)
        stableAfter = Self.nanoseconds(timing.stableAfter)
    }

    /// Held between a millisecond, so that nothing spins, and a year, so that nothing overflows.
    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let held = min(max(duration, .milliseconds(1)), .seconds(31_536_000))
        return held.components.seconds * 1_000_000_000 + held.components.attoseconds / 1_000_000_000
    }
}
