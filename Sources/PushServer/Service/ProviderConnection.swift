package import PushBytes
package import PushCore
package import PushHTTP2

/// One provider's connection without its socket: HTTP/2 in, judged requests out, answers back. Bound to the loop.
package final class ProviderConnection {
    let engine: HTTP2ServerEngine
    var session: ProviderSession
    let port: BroadcastPort
    var isDirty = false
    /// Nothing is answered any more.
    private var hasLeft = false
    /// Set by the driver, cleared when the connection is gone.
    package weak var transport: (any ServiceTransport)?
    private unowned let service: PushService

    init(
        service: PushService, session: ProviderSession, pool: HTTP2Pool, port: BroadcastPort = .provider
    ) throws(HTTP2Error) {
        self.service = service
        self.port = port
        self.session = session
        var limits = HTTP2ServerEngine.Limits()
        // One byte more than any payload may have tells "too large" from "just fits".
        limits.bodyBytesMax = max(CoreLimits.payloadBytesVoIPMax, CoreLimits.payloadBytesBroadcastMax) + 1
        engine = try HTTP2ServerEngine(limits: limits, pool: pool)
        service.markDirty(self)
    }

    /// Takes what arrived. An error means that the peer does not speak HTTP/2: drain once more, then close.
    package func receive(_ bytes: Span<UInt8>, now: Moment) throws(HTTP2Error) {
        defer { service.markDirty(self) }
        try engine.receive(bytes)
        while let event = engine.nextEvent() {
            guard case .request(let message, _) = event else { continue }
            if !hasLeft { service.handle(message, of: self, now: now) }
            engine.recycle(message)
        }
    }

    /// Takes what waits to go out.
    package func drain(into output: inout ByteQueue) throws(HTTP2Error) { try engine.drain(into: &output) }

    /// Nothing more will come or go: the socket may be closed.
    package var isFinished: Bool { engine.wantsClose }

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
