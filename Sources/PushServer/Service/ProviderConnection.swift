package import PushBytes
package import PushCore
package import PushHTTP2

/// One provider's connection without its socket: HTTP/2 in, judged requests out, answers back. Bound to the loop.
package final class ProviderConnection {
    /// Apple's words for a stream too many, without JSON.
    private static let tooManyStreams = Array("Maximum active streams violated for this endpoint.".utf8)
    /// `PRI * HTTP/2.0…`, RFC 9113, section 3.4.
    private static let prefaceBytes = 24
    /// SETTINGS a client may leave unacknowledged; each costs some bytes until then.
    private static let settingsWaitingMax = 8

    let engine: HTTP2ServerEngine
    var session: ProviderSession
    let port: BroadcastPort
    var isDirty = false
    private var allowance: StreamAllowance
    /// Without ALPN nobody knows yet whether the client speaks HTTP/2: nothing is said before its first bytes.
    private var prefaceBytesMissing: Int
    /// It opened more streams than it may: what came before is answered, then it ends.
    private var hasTooManyStreams = false
    /// New streams are answered with 503 `Shutdown`.
    private(set) var isShuttingDown = false
    /// Nothing is answered any more.
    private var hasLeft = false
    /// Set by the driver, cleared when the connection is gone.
    package weak var transport: (any ServiceTransport)?
    private unowned let service: PushService

    init(
        service: PushService, session: ProviderSession, hasProtocol: Bool, pool: HTTP2Pool,
        port: BroadcastPort = .provider
    ) throws(HTTP2Error) {
        self.service = service
        self.port = port
        self.session = session
        var limits = HTTP2ServerEngine.Limits()
        // One byte more than any payload may have tells "too large" from "just fits".
        limits.bodyBytesMax = max(CoreLimits.payloadBytesVoIPMax, CoreLimits.payloadBytesBroadcastMax) + 1
        let isKnown = if case .good = session.certificate { true } else { false }
        allowance = StreamAllowance(service.setup.rules.connection, isKnown: isKnown)
        limits.concurrentStreamsMax = allowance.first
        limits.concurrentStreamsPeak = allowance.peak
        limits.tooManyStreamsText = Self.tooManyStreams
        prefaceBytesMissing = hasProtocol ? 0 : Self.prefaceBytes
        engine = try HTTP2ServerEngine(limits: limits, pool: pool)
        service.markDirty(self)
    }

    /// Takes what arrived. An error means that the peer does not speak HTTP/2: drain once more, then close.
    package func receive(_ bytes: Span<UInt8>, now: Moment) throws(HTTP2Error) {
        guard !hasTooManyStreams else { return }
        defer { service.markDirty(self) }
        do throws(HTTP2Error) {
            try engine.receive(bytes)
            prefaceBytesMissing = max(0, prefaceBytesMissing - bytes.count)
        } catch {
            guard error.code == HTTP2Error.tooManyStreams else { throw error }
            hasTooManyStreams = true
        }
        while let event = engine.nextEvent() {
            guard case .request(let message, _) = event else { continue }
            if !hasLeft { service.handle(message, of: self, now: now) }
            engine.recycle(message)
        }
    }

    /// Takes what waits to go out.
    package func drain(into output: inout ByteQueue) throws(HTTP2Error) {
        if prefaceBytesMissing == 0 { try engine.drain(into: &output) }
    }

    /// The client turned out to speak something else before we had said a word: it can be told in its own language.
    package func canBeToldInClear(_ error: HTTP2Error) -> Bool {
        prefaceBytesMissing > 0 && error.code == HTTP2Error.notHTTP2
    }

    /// Nothing more will come or go: the socket may be closed.
    package var isFinished: Bool { engine.wantsClose || hasTooManyStreams }

    /// An answer was given: it may change how many streams the client may have.
    func noteAnswer(_ failure: APNsReason?) {
        if let failure { allowance.rejected(failure) } else { allowance.accepted() }
    }

    /// Tells a changed limit of streams, once per turn. To a client that acknowledges nothing it is told later.
    func announceStreams() {
        guard engine.settingsWaiting < Self.settingsWaitingMax, let streams = allowance.takeAnnouncement() else {
            return
        }
        engine.setConcurrentStreams(streams)
    }

    /// Tells the client to open no new streams; those that still come are answered with 503 `Shutdown`.
    package func announceShutdown() {
        isShuttingDown = true
        engine.announceShutdown(data: ProviderAnswer.body(.shutdown, timestamp: nil))
        service.markDirty(self)
    }

    /// Refuses the connection as a whole: no request was looked at. GOAWAY with the reason, then one without, as the real
    /// service does when the client's certificate is for the other environment.
    func leaveWithoutAnswer(_ reason: APNsReason) {
        hasLeft = true
        engine.goAway(code: 0, data: ProviderAnswer.body(reason, timestamp: nil), lastStream: 0)
        engine.goAway(code: 0, data: [], lastStream: 0)
        service.markDirty(self)
    }

    /// Says GOAWAY with a reason and answers what was accepted.
    package func shutDown(_ reason: APNsReason) {
        engine.goAway(code: 0, data: ProviderAnswer.body(reason, timestamp: nil))
        service.markDirty(self)
    }
}
