internal import CPushNGHTTP2

/// Messages and stream records out of use, kept for the next request.
///
/// One pool serves all engines of a thread, so an idle connection holds none of them. Not Sendable.
package final class HTTP2Pool {
    @exclusivity(unchecked) private var messages: [HTTP2Message] = []
    @exclusivity(unchecked) private var streams: [HTTP2Stream] = []
    private let countMax: Int
    /// Scratch for handing fields to nghttp2, which copies them before the call returns.
    @exclusivity(unchecked) var vectors: [nghttp2_nv] = []

    /// Bodies with more room than this are given back to the system: a pool of the largest ones would be waste.
    private static let bodyBytesKept = 16 * 1024

    /// `countMax`: messages and stream records kept at most, each; default 2048, two full connections' worth.
    package init(countMax: Int = 2048) {
        precondition(countMax >= 0, "a count is not negative")
        self.countMax = countMax
    }

    /// Messages that lie ready.
    package var idleMessages: Int { messages.count }

    func takeMessage(stream: Int32) -> HTTP2Message {
        let message = messages.popLast() ?? HTTP2Message()
        message.streamID = stream
        return message
    }

    func putBack(_ message: HTTP2Message) {
        guard messages.count < countMax else { return }
        message.clear(bodyBytesKept: Self.bodyBytesKept)
        messages.append(message)
    }

    func takeStream(id: Int32) -> HTTP2Stream {
        let stream = streams.popLast() ?? HTTP2Stream()
        stream.id = id
        return stream
    }

    func putBack(_ stream: HTTP2Stream) {
        guard streams.count < countMax else { return }
        stream.clear()
        streams.append(stream)
    }
}

/// What we know of one open stream; nghttp2 keeps its address beside the stream.
final class HTTP2Stream {
    @exclusivity(unchecked) var id: Int32 = 0
    /// Where it stands in the session's list of open streams.
    @exclusivity(unchecked) var position = 0
    /// What is being received; nil once it was handed out.
    @exclusivity(unchecked) var message: HTTP2Message?
    /// What is sent, from `bodySent` on.
    @exclusivity(unchecked) var body: [UInt8] = []
    @exclusivity(unchecked) var bodySent = 0
    /// Server: a response was submitted. Client: the whole response was handed out.
    @exclusivity(unchecked) var isAnswered = false
    /// We reset it; nothing more about it is told.
    @exclusivity(unchecked) var isAbandoned = false

    func clear() {
        precondition(message == nil, "the message went out or back before its stream")
        id = 0
        body = []
        bodySent = 0
        isAnswered = false
        isAbandoned = false
    }
}
