/// How long a device waits for what. All spans run on the monotonic clock.
public struct DeviceTiming: Sendable, Equatable {
    /// Silence after which a keep-alive is sent. Default 60 seconds.
    public var keepAliveInterval: Duration = .seconds(60)
    /// How long the server may take to answer a keep-alive before the connection counts as dead. Default 15 seconds.
    public var keepAliveDeadline: Duration = .seconds(15)
    /// Longest time for TCP and TLS together. Default 10 seconds.
    public var connectDeadline: Duration = .seconds(10)
    /// Longest time until the server answers the first frame; a token that was not answered within it is asked for
    /// again. Default 10 seconds.
    public var responseDeadline: Duration = .seconds(10)
    /// The first reconnect waits a random time up to this, each further one up to twice as long. Default 250 ms.
    public var backoffBase: Duration = .milliseconds(250)
    /// Longest wait before a reconnect. Default 30 seconds.
    public var backoffMax: Duration = .seconds(30)
    /// A connection that lasted this long makes the waits short again. Default 30 seconds.
    public var stableAfter: Duration = .seconds(30)

    public init() {}
}

/// What a device keeps at most. Change a number only together with its reason.
public struct DeviceLimits: Sendable, Equatable {
    /// Messages kept for an app that has not acknowledged them. Policy at the limit: back-pressure. Further messages
    /// are neither kept nor acknowledged, so that the server keeps them; when half of the inbox is free again the
    /// device reconnects and the server sends them again, in order. Default 1,000: about 4 MB of largest messages.
    public var unconsumedMax = 1000
    /// Ids of messages remembered so that a repeated one is recognised; the oldest is forgotten first. Safe, because
    /// a server repeats only what it holds no acknowledgement for, which is never more than it has in flight on one
    /// connection, and that is far below this. Default 10,000.
    public var seenMax = 10_000
    /// Topics of one device. Default and upper bound 600: the filter names all of them in one frame of 16 KiB.
    public static let topicsMax = 600
    /// Broadcast channels of one device: as many as the server takes for one app.
    public static let channelsMax = 1000
    /// Bytes of a topic. A bundle id has at most 155, and vendor links add a suffix.
    public static let topicBytesMax = 255
    /// Bytes that may wait for a server that does not read. Policy: disconnect. One turn's acknowledgements and the
    /// first frames take a few kilobytes, so this is only ever reached by a stuck server.
    var outputBytesMax = 256 * 1024

    public init() {}
}
