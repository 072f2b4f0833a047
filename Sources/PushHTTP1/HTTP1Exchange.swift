internal import CPushLibevent
internal import PushReactor

/// One request and its answer, given now or later, exactly once, in one piece or as a stream. Loop-bound.
package final class HTTP1Exchange {
    /// Bytes of a stream that may wait for a slow reader. Policy: close the connection, for a reader that far behind
    /// will not catch up, and can ask again from where it was.
    package static let streamBytesMax = 4 << 20

    private enum State { case waiting, streaming, answered, closed }

    package let request: HTTP1Request
    /// Called once, on the loop and never from within another call, when the connection ends or the server closes
    /// before the answer was complete. Not called after `respond` or `endStream`.
    package var onClose: (() -> Void)?

    private weak var server: HTTP1Server?
    private let loop: EventLoop
    /// evhttp's request; it goes away with the answer or with the connection, whichever comes first.
    private var raw: EvhttpRequest?
    private var goneEvent: OpaquePointer?
    private var state = State.waiting

    init(server: HTTP1Server, raw: EvhttpRequest) {
        self.server = server
        self.raw = raw
        loop = server.loop
        request = EvhttpMessage.request(raw)
        let me = Unmanaged.passUnretained(self).toOpaque()
        evhttp_connection_set_closecb(evhttp_request_get_connection(raw), exchangeConnectionClosed, me)
    }

    /// Whether the peer is still there to be answered.
    package var isOpen: Bool { state == .waiting || state == .streaming }

    /// Answers in one piece. Does nothing when the peer has gone. Traps when the exchange was answered before.
    package func respond(_ response: HTTP1Response) {
        loop.preconditionOnLoop()
        precondition(state == .waiting || state == .closed, "an exchange is answered once")
        guard let raw = finish() else { return }
        let headers = evhttp_request_get_output_headers(raw)
        EvhttpMessage.add(response.headers, to: headers)
        let hasBody = response.status != 204 && response.status != 304
        if hasBody && evhttp_find_header(headers, "Content-Length") == nil {
            evhttp_add_header(headers, "Content-Length", String(response.body.count))
        }
        // evhttp would send what is in the buffer in answer to HEAD too.
        EvhttpMessage.withBuffer(hasBody && request.method != "HEAD" ? response.body : []) {
            evhttp_send_reply(raw, Int32(response.status), nil, $0)
        }
    }

    /// Answers with status and headers at once and a body that follows in pieces (chunked; to HTTP/1.0, until the
    /// connection ends). Does nothing when the peer has gone. Traps when the exchange was answered before.
    package func beginStream(status: Int, headers: [(name: String, value: String)]) {
        loop.preconditionOnLoop()
        precondition(state == .waiting || state == .closed, "an exchange is answered once")
        precondition((200...599).contains(status), "a final status")
        guard let raw, state == .waiting else { return }
        state = .streaming
        EvhttpMessage.add(headers, to: evhttp_request_get_output_headers(raw))
        // HTTP/1.0 has no chunks: the body ends with the connection, whatever the peer asked for.
        if raw.pointee.minor == 0 { evhttp_remove_header(evhttp_request_get_input_headers(raw), "Connection") }
        evhttp_send_reply_start(raw, Int32(status), nil)
        watchForEnd()
    }

    /// Bytes of a stream that the peer's side has not taken yet; 0 when the peer has gone.
    package var streamBytesWaiting: Int {
        guard let raw, state == .streaming else { return 0 }
        let buffer = evhttp_connection_get_bufferevent(evhttp_request_get_connection(raw))
        return evbuffer_get_length(bufferevent_get_output(buffer))
    }

    /// Sends a piece of a stream; empty ones are left out. Does nothing when the peer has gone.
    package func send(_ bytes: [UInt8]) {
        loop.preconditionOnLoop()
        precondition(state == .streaming || state == .closed, "a stream was begun and not ended")
        guard let raw, state == .streaming else { return }
        if streamBytesWaiting + bytes.count > Self.streamBytesMax {
            evhttp_connection_free(evhttp_request_get_connection(raw))
            return
        }
        EvhttpMessage.withBuffer(bytes) { evhttp_send_reply_chunk(raw, $0) }
    }

    /// Ends a stream. Does nothing when the peer has gone.
    package func endStream() {
        loop.preconditionOnLoop()
        precondition(state == .streaming || state == .closed, "a stream was begun and not ended")
        if let raw = finish() { evhttp_send_reply_end(raw) }
    }

    /// Drops the connection without (the rest of) an answer; `onClose` is called. Does nothing when it is complete.
    package func abort() {
        loop.preconditionOnLoop()
        guard isOpen, let raw else { return }
        evhttp_connection_free(evhttp_request_get_connection(raw))
    }

    /// From now on the peer's going is noticed; before, a peer that ends its side right after a request it gets
    /// answered at once would be taken for gone.
    func watchForEnd() {
        guard isOpen, goneEvent == nil, let raw else { return }
        let fd = bufferevent_getfd(evhttp_connection_get_bufferevent(evhttp_request_get_connection(raw)))
        let me = Unmanaged.passUnretained(self).toOpaque()
        goneEvent = event_new(loop.eventBase, fd, Int16(EV_CLOSED | EV_PERSIST), exchangePeerGone, me)
        precondition(goneEvent != nil, "an event fits into memory")
        event_add(goneEvent, nil)
    }

    /// Lets evhttp have its request back to send the answer; after that, its end is evhttp's business.
    private func finish() -> EvhttpRequest? {
        guard let raw, isOpen else { return nil }
        state = .answered
        evhttp_connection_set_closecb(evhttp_request_get_connection(raw), nil, nil)
        forget()
        return raw
    }

    private func forget() {
        if let goneEvent { event_free(goneEvent) }
        goneEvent = nil
        raw = nil
        server?.ended(self)
    }

    /// evhttp has no eyes for the peer while an answer is pending.
    fileprivate func peerGone() {
        loop.noteAwake()
        abort()
    }

    /// The connection is about to be freed. Only notes it: this comes from inside evhttp.
    fileprivate func connectionClosed() {
        guard isOpen, let raw else { return }
        state = .closed
        // evhttp has already cut a request in progress off its failed connection and leaves it to us.
        if evhttp_request_get_connection(raw) == nil { evhttp_request_free(raw) }
        forget()
        server?.lost(self)
    }

    /// Called by the server outside of evhttp.
    func tellClosed() {
        let body = onClose
        onClose = nil
        body?()
    }
}

// The context is the exchange, which its server holds until it is answered or its connection closed.
private func exchangeConnectionClosed(_ connection: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    let exchange = Unmanaged<HTTP1Exchange>.fromOpaque(context!).takeUnretainedValue()
    withExtendedLifetime(exchange) { exchange.connectionClosed() }
}

private func exchangePeerGone(_ fd: Int32, _ what: Int16, _ context: UnsafeMutableRawPointer?) {
    let exchange = Unmanaged<HTTP1Exchange>.fromOpaque(context!).takeUnretainedValue()
    withExtendedLifetime(exchange) { exchange.peerGone() }
}
