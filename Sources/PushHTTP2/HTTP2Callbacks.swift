internal import CPushNGHTTP2

/// The C functions nghttp2 calls: each unwraps, finds its object and calls one method.
enum HTTP2Callbacks {
    static func makeSession(
        _ role: HTTP2Session.Role, for owner: HTTP2Session, acknowledgementsMax: Int
    ) throws(HTTP2Error) -> OpaquePointer {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        try check(nghttp2_session_callbacks_new(&callbacks))
        defer { nghttp2_session_callbacks_del(callbacks) }
        try check(nghttp2_option_new(&option))
        defer { nghttp2_option_del(option) }
        register(in: callbacks)
        // Closed streams are only kept for RFC 7540 priorities, which nobody here looks at.
        nghttp2_option_set_no_closed_streams(option, 1)
        nghttp2_option_set_max_outbound_ack(option, acknowledgementsMax)
        nghttp2_option_set_max_reserved_remote_streams(option, 0)
        // A field with a blank at its end should reach the rules and get an answer, not vanish here.
        nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1)

        var made: OpaquePointer?
        let userData = Unmanaged.passUnretained(owner).toOpaque()
        switch role {
        case .server: try check(nghttp2_session_server_new2(&made, callbacks, userData, option))
        case .client: try check(nghttp2_session_client_new2(&made, callbacks, userData, option))
        }
        return made!
    }

    private static func register(in callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, userData in
            withSession(userData) { $0.headersBegan(frame!) }
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, userData in
            withSession(userData) { $0.received(frame!.pointee.hd.stream_id, name!, nameCount, value!, valueCount) }
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, data, count, userData in
            withSession(userData) { $0.receivedData(id, data!, count) }
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, userData in
            withSession(userData) { $0.received(frame!) }
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, code, userData in
            withSession(userData) { $0.refused(frame!, code) }
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, userData in
            withSession(userData) { $0.streamClosed(id, code) }
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, userData in
            withSession(userData) { $0.notSent(frame!) }
        }
    }

    /// Where nghttp2 fetches a body from, frame by frame; the source is the stream's record.
    static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
        // Safe: the session holds the record for as long as nghttp2 knows its address.
        let stream = Unmanaged<HTTP2Stream>.fromOpaque(source!.pointee.ptr).takeUnretainedValue()
        return stream.read(into: buffer!, atMost: length, flags: flags!)
    }

    private static func check(_ code: Int32) throws(HTTP2Error) {
        if code != 0 { throw HTTP2Error(nghttp2: code) }
    }
}

private func withSession(_ userData: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Int32) -> Int32 {
    // Safe: our session deletes nghttp2's in its deinit, so it outlives every callback; hence no retain either.
    Unmanaged<HTTP2Session>.fromOpaque(userData!)._withUnsafeGuaranteedRef(body)
}

extension HTTP2Error {
    init(nghttp2 code: Int32) { self.init(code: code, reason: String(cString: nghttp2_strerror(code))) }
}

extension HTTP2Stream {
    /// Copies the next part of the body to where nghttp2 builds the frame.
    func read(
        into buffer: UnsafeMutablePointer<UInt8>, atMost length: Int, flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        let count = min(length, body.count - bodySent)
        body.withUnsafeBufferPointer { buffer.update(from: $0.baseAddress! + bodySent, count: count) }
        bodySent += count
        if bodySent == body.count { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }
}
