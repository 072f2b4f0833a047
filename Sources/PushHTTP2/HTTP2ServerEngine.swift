internal import CPushNGHTTP2
package import PushBytes

/// The server's end of one HTTP/2 connection: bytes in, requests out; answers in, bytes out.
///
/// It knows no socket and no clock. Loop: `receive`, then `nextEvent` until nil, then `drain`. Not Sendable: bound to
/// the thread that feeds it.
///
/// What nghttp2 finds wrong with a request (missing pseudo fields, a `content-length` that lies) it answers itself
/// with RST_STREAM; what is wrong with the connection, with GOAWAY, after which `wantsClose` turns true. A request
/// with `host` in place of `:authority` is accepted. PRIORITY is ignored, trailers are read over.
package final class HTTP2ServerEngine {
    package struct Limits: Sendable {
        /// Largest body kept, in bytes; a longer one is counted and thrown away from there on, and its event says so.
        /// Default 8192: twice the largest payload APNs takes, so that "too large" gets a proper answer.
        package var bodyBytesMax = 8192
        /// Largest header list, counted as RFC 9113, section 6.5.2 does; announced to the peer. A larger one gets
        /// RST_STREAM with ENHANCE_YOUR_CALM and no event. Default 8000: what Apple's servers announce.
        package var headerBytesMax = 8000
        /// Streams open at a time, announced in the first SETTINGS. Default 1000: what Apple's servers allow. More
        /// streams than that are refused (REFUSED_STREAM) or, once the peer has acknowledged, end the connection.
        package var concurrentStreamsMax: UInt32 = 1000
        /// The most streams `setConcurrentStreams` will ever allow. Default 1000.
        package var concurrentStreamsPeak: UInt32 = 1000
        /// Data of the GOAWAY (code REFUSED_STREAM) that a peer gets which has acknowledged the limit of streams and opens
        /// more. Default `nil`: nghttp2's own words and PROTOCOL_ERROR.
        package var tooManyStreamsText: [UInt8]?
        /// `drain` stops adding once the queue holds this many bytes. Default 1 MiB: a thousand answers need less.
        package var outputBytesMax = 1 << 20

        package init() {}
    }

    package enum Event {
        /// A whole request. Its body is the beginning only when `bodyTooLarge`. Give the message back with `recycle`.
        case request(HTTP2Message, bodyTooLarge: Bool)
        /// The peer took back a request that was handed out; answering it does nothing.
        case streamReset(Int32)
        case goAwayReceived
        case pingAcknowledged
    }

    private let session: HTTP2Session

    /// Makes the engine and queues its SETTINGS. Engines of one thread share a `pool`.
    package init(limits: Limits = Limits(), pool: HTTP2Pool = HTTP2Pool()) throws(HTTP2Error) {
        session = try HTTP2Session(
            role: .server, pool: pool, bodyBytesMax: limits.bodyBytesMax, headerBytesMax: limits.headerBytesMax,
            outputBytesMax: limits.outputBytesMax,
            streamsMax: Int(max(limits.concurrentStreamsMax, limits.concurrentStreamsPeak)))
        session.tooManyStreamsText = limits.tooManyStreamsText
        session.submitSettings([
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 4096),
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.concurrentStreamsMax),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65535),
            (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16384),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(limits.headerBytesMax)),
        ])
    }

    /// Takes bytes of the peer. An error means: `drain` once more, then close.
    package func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) { try session.receive(bytes) }

    /// The oldest event not yet taken; nil when there is none.
    package func nextEvent() -> Event? {
        switch session.nextSignal() {
        case .message(let message, let bodyTooLarge): .request(message, bodyTooLarge: bodyTooLarge)
        case .streamClosed(let stream, _): .streamReset(stream)
        case .goAway: .goAwayReceived
        case .pingAcknowledged: .pingAcknowledged
        case .settings: preconditionFailure("SETTINGS are recorded at the client only")
        case nil: nil
        }
    }

    /// Gives a message back to the pool; it must not be used afterwards.
    package func recycle(_ message: HTTP2Message) { session.pool.putBack(message) }

    /// Answers a stream: HEADERS alone when `body` is empty, else HEADERS and one DATA, the last with END_STREAM.
    /// Does nothing when the stream is gone. Traps when it was answered already.
    package func respond(to stream: Int32, fields: borrowing HTTP2FieldList, body: [UInt8] = []) {
        session.submitResponse(stream, fields, body: body)
    }

    /// Ends a stream with RST_STREAM; does nothing when it is gone. No event follows.
    package func reset(stream: Int32, code: UInt32) { session.reset(stream, code: code) }

    /// Says that no new stream is served. Open ones up to `lastStream` (default: the newest seen) go on; those above
    /// end without an answer. When all are done `wantsClose` turns true.
    package func goAway(code: UInt32, data: [UInt8], lastStream: Int32? = nil) {
        session.goAway(code: code, data: data, lastStream: lastStream)
    }

    /// Says that no new stream should be opened (GOAWAY without a last stream), and goes on to serve those that come
    /// all the same, until `goAway` follows (RFC 9113, section 6.8). `data` is told as the reason.
    package func announceShutdown(data: [UInt8]) { session.announceShutdown(data: data) }

    /// SETTINGS of ours that wait for the peer's acknowledgement.
    package var settingsWaiting: Int { session.settingsWaiting }

    /// Changes how many streams the peer may have open; those that are open go on. Until the peer acknowledges, streams
    /// beyond a lowered limit are refused one by one.
    package func setConcurrentStreams(_ count: UInt32) {
        session.submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, count)])
    }

    package func ping() { session.ping() }

    /// Moves what waits to go out to the end of `output`.
    package func drain(into output: inout ByteQueue) throws(HTTP2Error) { try session.drain(into: &output) }

    package var openStreams: Int { session.openStreams }

    /// True when neither side has anything left to say: close the connection.
    package var wantsClose: Bool { session.wantsClose }
}
