internal import CPushNGHTTP2
package import PushBytes

/// The client's end of one HTTP/2 connection: requests in, bytes out; bytes in, responses out.
///
/// It knows no socket and no clock. Loop: `receive`, then `nextEvent` until nil, then `drain`. Not Sendable: bound to
/// the thread that feeds it.
package final class HTTP2ClientEngine {
    package struct Limits: Sendable {
        /// Largest response body kept, in bytes; the rest is thrown away. Default 64 KiB: push answers are far shorter.
        package var bodyBytesMax = 64 * 1024
        /// Largest header list of a response; a larger one ends its stream. Default 16 KiB.
        package var headerBytesMax = 16 * 1024
        /// `drain` stops adding once the queue holds this many bytes. Default 4 MiB: a thousand of the largest pushes.
        package var outputBytesMax = 4 << 20

        package init() {}
    }

    package enum Event {
        /// A whole response. Give the message back with `recycle`.
        case response(HTTP2Message)
        /// The stream ended without a whole response; with code 7 (REFUSED_STREAM) it was not looked at.
        case streamClosed(Int32, code: UInt32)
        /// The peer takes no new streams; those above `lastStream` follow as `streamClosed` with code 7.
        case goAway(lastStream: Int32, code: UInt32, data: [UInt8])
        case settings(concurrentStreamsMax: UInt32)
        case pingAcknowledged
    }

    private let session: HTTP2Session
    private var isGoingAway = false

    /// Streams the peer lets us have open; 100 until its SETTINGS arrive.
    package private(set) var concurrentStreamsMax: UInt32 = 100

    /// Makes the engine and queues the connection preface. Engines of one thread share a `pool`.
    package init(limits: Limits = Limits(), pool: HTTP2Pool = HTTP2Pool()) throws(HTTP2Error) {
        session = try HTTP2Session(
            role: .client, pool: pool, bodyBytesMax: limits.bodyBytesMax, headerBytesMax: limits.headerBytesMax,
            outputBytesMax: limits.outputBytesMax, streamsMax: 100_000)
        session.submitSettings([
            (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(limits.headerBytesMax)),
        ])
    }

    /// Whether a request submitted now would be sent at once.
    package var canSubmit: Bool { !isGoingAway && openStreams < Int(concurrentStreamsMax) }

    /// Submits a request and returns its stream. One above the peer's limit waits inside until a stream ends.
    /// Throws when the connection has no stream numbers left.
    package func submit(fields: borrowing HTTP2FieldList, body: [UInt8] = []) throws(HTTP2Error) -> Int32 {
        guard let stream = session.submitRequest(fields, body: body) else {
            throw HTTP2Error(nghttp2: NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE.rawValue)
        }
        return stream
    }

    /// Takes bytes of the peer. An error means: `drain` once more, then close.
    package func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) { try session.receive(bytes) }

    /// The oldest event not yet taken; nil when there is none.
    package func nextEvent() -> Event? {
        switch session.nextSignal() {
        case .message(let message, _): return .response(message)
        case .streamClosed(let stream, let code): return .streamClosed(stream, code: code)
        case .goAway(let last, let code, let data):
            isGoingAway = true
            return .goAway(lastStream: last, code: code, data: data)
        case .settings:
            concurrentStreamsMax = session.remoteStreamsMax
            return .settings(concurrentStreamsMax: concurrentStreamsMax)
        case .pingAcknowledged: return .pingAcknowledged
        case nil: return nil
        }
    }

    /// Gives a message back to the pool; it must not be used afterwards.
    package func recycle(_ message: HTTP2Message) { session.pool.putBack(message) }

    /// Ends a request with RST_STREAM (CANCEL); does nothing when it is over. No event follows.
    package func cancel(stream: Int32) { session.reset(stream, code: HTTP2ErrorCode.cancel) }

    package func ping() { session.ping() }

    /// Says goodbye (GOAWAY); open streams go on, and when all are done `wantsClose` turns true.
    package func shutdown() {
        isGoingAway = true
        session.goAway(code: HTTP2ErrorCode.noError, data: [], lastStream: 0)
    }

    /// Moves what waits to go out to the end of `output`.
    package func drain(into output: inout ByteQueue) throws(HTTP2Error) { try session.drain(into: &output) }

    package var openStreams: Int { session.openStreams }

    /// True when neither side has anything left to say: close the connection.
    package var wantsClose: Bool { session.wantsClose }
}
