internal import CPushNGHTTP2
internal import PushBytes

/// One nghttp2 session and what its callbacks recorded: the part both engines share.
///
/// Callbacks only append to `signals` and to the stream records; nobody is called out of them.
final class HTTP2Session {
    enum Role { case server, client }

    enum Signal {
        case message(HTTP2Message, bodyTooLarge: Bool)
        case streamClosed(Int32, code: UInt32)
        case goAway(lastStream: Int32, code: UInt32, data: [UInt8])
        case settings
        case pingAcknowledged
    }

    /// PING and SETTINGS acknowledgements that may wait to go out; beyond, nghttp2 gives the connection up.
    private static let acknowledgementsMax = 1000
    /// Frames that may wait to go out beside one response for each stream: acknowledgements and resets.
    private static let framesWaitingMax = 2000

    private let role: Role
    private let bodyBytesMax: Int
    private let headerBytesMax: Int
    private let outputBytesMax: Int
    private let framesMax: Int
    let pool: HTTP2Pool
    @exclusivity(unchecked) private var session: OpaquePointer! = nil

    @exclusivity(unchecked) private var signals: [Signal] = []
    @exclusivity(unchecked) private var signalsTaken = 0
    /// SETTINGS of ours that the peer has not acknowledged yet.
    @exclusivity(unchecked) private(set) var settingsWaiting = 0
    /// What a GOAWAY says when the peer opens more streams than it may; nil leaves the words to nghttp2.
    @exclusivity(unchecked) var tooManyStreamsText: [UInt8]?
    @exclusivity(unchecked) private var hasTooManyStreams = false
    /// What `announceShutdown` has yet to say.
    @exclusivity(unchecked) private var notice: [UInt8]?
    /// Records of the open streams; each knows its place, so that leaving costs nothing.
    @exclusivity(unchecked) private var open: [HTTP2Stream] = []
    /// The message whose header block is being read; nil when its fields are not wanted (trailers).
    @exclusivity(unchecked) private var incoming: HTTP2Message?

    init(
        role: Role, pool: HTTP2Pool, bodyBytesMax: Int, headerBytesMax: Int, outputBytesMax: Int, streamsMax: Int
    ) throws(HTTP2Error) {
        precondition(bodyBytesMax >= 0 && headerBytesMax > 0 && outputBytesMax > 0, "limits are positive")
        self.role = role
        self.pool = pool
        self.bodyBytesMax = bodyBytesMax
        self.headerBytesMax = headerBytesMax
        self.outputBytesMax = outputBytesMax
        self.framesMax = 2 * streamsMax + Self.framesWaitingMax
        session = try HTTP2Callbacks.makeSession(
            role, for: self, acknowledgementsMax: Self.acknowledgementsMax)
    }

    deinit {
        if let session { nghttp2_session_del(session) }
        for stream in open { stream.message = nil }
    }

    // MARK: Bytes in and out

    func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) {
        let consumed = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(session, $0.baseAddress, $0.count) }
        if hasTooManyStreams {
            throw HTTP2Error(code: HTTP2Error.tooManyStreams, reason: "the peer opened more streams than it may")
        }
        if consumed < 0 { throw HTTP2Error(nghttp2: Int32(consumed)) }
        if nghttp2_session_get_outbound_queue_size(session) > framesMax {
            throw HTTP2Error(code: HTTP2Error.peerDoesNotRead, reason: "the peer sends and does not read our answers")
        }
    }

    func drain(into output: inout ByteQueue) throws(HTTP2Error) {
        var data: UnsafePointer<UInt8>?
        while output.count < outputBytesMax {
            let count = nghttp2_session_mem_send(session, &data)
            if count == 0 { return appendNotice(to: &output) }
            if count < 0 { throw HTTP2Error(nghttp2: Int32(count)) }
            output.append(UnsafeRawBufferPointer(start: data, count: count))
        }
    }

    var wantsClose: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    var openStreams: Int { open.count }

    var remoteStreamsMax: UInt32 {
        nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    }

    func nextSignal() -> Signal? {
        if signalsTaken == signals.count {
            if signalsTaken > 0 {
                signals.removeAll(keepingCapacity: true)
                signalsTaken = 0
            }
            return nil
        }
        signalsTaken += 1
        return signals[signalsTaken - 1]
    }

    // MARK: Frames we send

    func submitSettings(_ settings: [(nghttp2_settings_id, UInt32)]) {
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        must(nghttp2_submit_settings(session, 0, entries, entries.count))
        settingsWaiting += 1
    }

    /// Submits a request; the stream's number, or nil when this connection has no numbers left.
    func submitRequest(_ fields: borrowing HTTP2FieldList, body: [UInt8]) -> Int32? {
        let stream = pool.takeStream(id: 0)
        let id = withVectors(fields) { vectors, count in
            withProvider(of: stream, body) { provider in
                nghttp2_submit_request(session, nil, vectors, count, provider, Self.address(of: stream))
            }
        }
        if id < 0 {
            precondition(id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE.rawValue, "nghttp2 accepts a request")
            pool.putBack(stream)
            return nil
        }
        stream.id = id
        enter(stream)
        return id
    }

    /// Submits the response of `id`; does nothing when the stream is gone.
    func submitResponse(_ id: Int32, _ fields: borrowing HTTP2FieldList, body: [UInt8]) {
        guard let stream = stream(id), !stream.isAbandoned else { return }
        precondition(!stream.isAnswered, "a stream is answered once")
        stream.isAnswered = true
        let code = withVectors(fields) { vectors, count in
            withProvider(of: stream, body) { nghttp2_submit_response(session, id, vectors, count, $0) }
        }
        must(code)
    }

    func reset(_ id: Int32, code: UInt32) {
        guard let stream = role == .server ? stream(id) : open.first(where: { $0.id == id }) else { return }
        stream.isAbandoned = true
        must(nghttp2_submit_rst_stream(session, 0, id, code))
    }

    func goAway(code: UInt32, data: [UInt8], lastStream: Int32?) {
        let last = lastStream ?? nghttp2_session_get_last_proc_stream_id(session)
        must(nghttp2_submit_goaway(session, 0, last, code, data, data.count))
    }

    /// Tells the peer to open no new streams, and still takes those that are on their way.
    func announceShutdown(data: [UInt8]) { notice = data }

    /// The GOAWAY of `announceShutdown`, which nghttp2 can only send without data: RFC 9113, section 6.8. Only where
    /// nothing of nghttp2's waits, so that it never stands between HEADERS and their CONTINUATION.
    private func appendNotice(to output: inout ByteQueue) {
        guard let data = notice else { return }
        notice = nil
        output.appendBigEndian(UInt64(8 + data.count), byteCount: 3)
        output.append([UInt8(NGHTTP2_GOAWAY.rawValue), 0, 0, 0, 0, 0])
        output.appendBigEndian(UInt32(Int32.max))
        output.appendBigEndian(UInt32(NGHTTP2_NO_ERROR.rawValue))
        output.append(data)
    }

    func ping() { must(nghttp2_submit_ping(session, 0, nil)) }

    /// Only lack of memory and our own mistakes make a submission fail.
    private func must(_ code: Int32) {
        precondition(code == 0, "nghttp2 accepts what we submit: \(String(cString: nghttp2_strerror(code)))")
    }

    // MARK: Streams

    private static func address(of stream: HTTP2Stream) -> UnsafeMutableRawPointer {
        // Safe: `open` holds the record for as long as nghttp2 knows its address.
        Unmanaged.passUnretained(stream).toOpaque()
    }

    private func stream(_ id: Int32) -> HTTP2Stream? {
        guard let address = nghttp2_session_get_stream_user_data(session, id) else { return nil }
        return Unmanaged<HTTP2Stream>.fromOpaque(address).takeUnretainedValue()
    }

    private func enter(_ stream: HTTP2Stream) {
        stream.position = open.count
        open.append(stream)
    }

    private func leave(_ stream: HTTP2Stream) {
        let last = open.removeLast()
        if last !== stream {
            last.position = stream.position
            open[stream.position] = last
        }
        if let message = stream.message {
            stream.message = nil
            pool.putBack(message)
        }
        pool.putBack(stream)
    }

    /// Calls `submit` with where nghttp2 finds the body later on; with nil when there is none.
    private func withProvider(
        of stream: HTTP2Stream, _ body: [UInt8], _ submit: (UnsafePointer<nghttp2_data_provider>?) -> Int32
    ) -> Int32 {
        if body.isEmpty { return submit(nil) }
        stream.body = body
        stream.bodySent = 0
        var provider = nghttp2_data_provider()
        provider.source.ptr = Self.address(of: stream)
        provider.read_callback = HTTP2Callbacks.readBody
        return submit(&provider)
    }

    /// Calls `body` with the fields as nghttp2 wants them; it copies them before it returns.
    private func withVectors(
        _ fields: borrowing HTTP2FieldList, _ body: (UnsafePointer<nghttp2_nv>, Int) -> Int32
    ) -> Int32 {
        pool.vectors.removeAll(keepingCapacity: true)
        return fields.bytes.withUnsafeBufferPointer { bytes in
            // Safe: nghttp2 does not write through the pointers, it only lacks `const`.
            let base = UnsafeMutablePointer(mutating: bytes.baseAddress!)
            for entry in fields.entries {
                pool.vectors.append(
                    nghttp2_nv(
                        name: base + entry.nameStart, value: base + entry.valueStart,
                        namelen: entry.valueStart - entry.nameStart, valuelen: entry.end - entry.valueStart,
                        flags: entry.isRemembered ? 0 : UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)))
            }
            return pool.vectors.withUnsafeBufferPointer { body($0.baseAddress!, $0.count) }
        }
    }
}

// MARK: - What nghttp2 tells us

extension HTTP2Session {
    func headersBegan(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let id = frame.pointee.hd.stream_id
        incoming = nil
        switch frame.pointee.headers.cat {
        case NGHTTP2_HCAT_REQUEST:
            let stream = pool.takeStream(id: id)
            let message = pool.takeMessage(stream: id)
            stream.message = message
            incoming = message
            enter(stream)
            must(nghttp2_session_set_stream_user_data(session, id, Self.address(of: stream)))
        case NGHTTP2_HCAT_RESPONSE:
            guard let stream = stream(id) else { break }
            let message = pool.takeMessage(stream: id)
            stream.message = message
            incoming = message
        default:
            // Trailers are read over. After an interim answer (1xx) the real one arrives this way.
            if role == .client, let message = stream(id)?.message, message.isInterim {
                message.removeFields()
                incoming = message
            }
        }
        return 0
    }

    func received(
        _ id: Int32, _ name: UnsafePointer<UInt8>, _ nameCount: Int, _ value: UnsafePointer<UInt8>, _ valueCount: Int
    ) -> Int32 {
        guard let message = incoming else { return 0 }
        message.fieldBytesCounted += nameCount + valueCount + 32
        if message.fieldBytesCounted > headerBytesMax {
            // Every further field of the block would come here again: one reset is enough.
            incoming = nil
            nghttp2_submit_rst_stream(session, 0, id, HTTP2ErrorCode.enhanceYourCalm)
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        message.append(name, nameCount, value, valueCount)
        return 0
    }

    func receivedData(_ id: Int32, _ data: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
        guard let message = stream(id)?.message else { return 0 }
        message.appendBody(data, count, bytesMax: bodyBytesMax)
        return 0
    }

    func received(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { messageEnded(header.stream_id) }
        case NGHTTP2_SETTINGS.rawValue:
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 {
                settingsWaiting -= 1
            } else if role == .client {
                signals.append(.settings)
            }
        case NGHTTP2_PING.rawValue:
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { signals.append(.pingAcknowledged) }
        case NGHTTP2_GOAWAY.rawValue:
            let goAway = frame.pointee.goaway
            let data = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
            signals.append(
                .goAway(lastStream: goAway.last_stream_id, code: goAway.error_code, data: Array(data)))
        default: break
        }
        return 0
    }

    /// A frame that nghttp2 will not take, before it says so itself: the one it cannot word as we want is a stream too
    /// many. Failing here leaves the GOAWAY to us.
    func refused(_ frame: UnsafePointer<nghttp2_frame>, _ code: Int32) -> Int32 {
        let header = frame.pointee.hd
        guard let text = tooManyStreamsText, code == NGHTTP2_ERR_PROTO.rawValue,
            header.type == NGHTTP2_HEADERS.rawValue, header.stream_id & 1 == 1,
            open.count >= Int(nghttp2_session_get_local_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
        else { return 0 }
        hasTooManyStreams = true
        goAway(code: HTTP2ErrorCode.refusedStream, data: text, lastStream: nil)
        return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }

    private func messageEnded(_ id: Int32) {
        guard let stream = stream(id), let message = stream.message else { return }
        stream.message = nil
        incoming = nil
        if stream.isAbandoned {
            pool.putBack(message)
            return
        }
        if role == .client { stream.isAnswered = true }
        signals.append(.message(message, bodyTooLarge: message.bodyBytesSeen > bodyBytesMax))
    }

    func streamClosed(_ id: Int32, _ code: UInt32) -> Int32 {
        if let stream = stream(id) {
            nghttp2_session_set_stream_user_data(session, id, nil)
            closed(stream, code)
        }
        return 0
    }

    /// A request that was never sent: the connection is going away, or it was cancelled before its turn came.
    func notSent(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let id = frame.pointee.hd.stream_id
        guard role == .client, frame.pointee.hd.type == NGHTTP2_HEADERS.rawValue,
            let stream = open.first(where: { $0.id == id })
        else { return 0 }
        nghttp2_session_set_stream_user_data(session, id, nil)
        closed(stream, HTTP2ErrorCode.refusedStream)
        return 0
    }

    private func closed(_ stream: HTTP2Stream, _ code: UInt32) {
        // At the server, a stream is worth a word if its request was handed out and the peer took it back.
        let isTold =
            switch role {
            case .server: stream.message == nil && code != HTTP2ErrorCode.noError
            case .client: !stream.isAnswered
            }
        if isTold && !stream.isAbandoned { signals.append(.streamClosed(stream.id, code: code)) }
        if incoming === stream.message { incoming = nil }
        leave(stream)
    }
}

extension HTTP2Message {
    /// True for 1xx: the real answer is still to come (RFC 9113, section 8.1).
    fileprivate var isInterim: Bool {
        value(of: ":status").map { $0.count == 3 && bytes[$0.lowerBound] == UInt8(ascii: "1") } ?? false
    }
}
