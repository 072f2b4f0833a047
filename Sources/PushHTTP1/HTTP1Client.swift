internal import CPushLibevent
internal import Glibc
package import PushReactor

/// One plain HTTP/1.1 request and its response, over evhttp; a connection of its own, closed afterwards. Loop-bound.
package final class HTTP1Client {
    /// Longest body of a response that is kept; one handed out in pieces has no limit.
    package static let responseBytesMax = 64 << 20

    private let loop: EventLoop
    private let host: String
    private let port: UInt16
    private let method: evhttp_cmd_type
    private let target: String
    private let headers: [(name: String, value: String)]
    private let body: [UInt8]
    private let onChunk: (([UInt8]) -> Void)?
    private let completion: (Result<HTTP1Response, HTTP1Error>) -> Void

    private var addresses: [String] = []
    private var connection: OpaquePointer?
    private var raw: EvhttpRequest?
    private var wasConnected = false
    private var failure: HTTP1Error?
    private var chunks: [[UInt8]] = []
    private var outcome: Result<HTTP1Response, HTTP1Error>?
    private var workTimer: Timer?
    private var deadlineTimer: Timer?
    /// The call itself, until its completion has been called.
    private var keptUntilDone: HTTP1Client?

    /// Sends a request; `completion` is called once, on the loop, never before this returns.
    /// - Parameters:
    ///   - host: numeric or a name, which is resolved without blocking; its addresses are tried one after the other.
    ///   - target: path and query, percent-encoded.
    ///   - headers: `Host`, `Connection: close` and `Content-Length` are added when missing.
    ///   - timeout: for everything from here to the end of the response; nil: none.
    ///   - onChunk: gets the body as it arrives; the response's body is then empty.
    /// - Returns: the call, for `cancel()`; it need not be kept.
    @discardableResult
    package static func send(
        loop: EventLoop, host: String, port: UInt16, method: String, target: String,
        headers: [(name: String, value: String)] = [], body: [UInt8] = [], timeout: Duration? = .seconds(30),
        onChunk: (([UInt8]) -> Void)? = nil, completion: @escaping (Result<HTTP1Response, HTTP1Error>) -> Void
    ) -> HTTP1Client {
        loop.preconditionOnLoop()
        let call = HTTP1Client(
            loop: loop, host: host, port: port, method: method, target: target, headers: headers, body: body,
            onChunk: onChunk, completion: completion)
        call.start(methodName: method, timeout: timeout)
        return call
    }

    private init(
        loop: EventLoop, host: String, port: UInt16, method: String, target: String,
        headers: [(name: String, value: String)], body: [UInt8], onChunk: (([UInt8]) -> Void)?,
        completion: @escaping (Result<HTTP1Response, HTTP1Error>) -> Void
    ) {
        self.loop = loop
        self.host = host
        self.port = port
        self.method = EvhttpMessage.methods.first { $0.name == method }?.type ?? evhttp_cmd_type(0)
        self.target = target
        self.headers = headers
        self.body = body
        self.onChunk = onChunk
        self.completion = completion
    }

    /// Gives up; the completion hears `.cancelled`. Does nothing when it is over.
    package func cancel() {
        loop.preconditionOnLoop()
        end(.failure(.cancelled))
    }

    private func start(methodName: String, timeout: Duration?) {
        keptUntilDone = self
        Evhttp.ignorePipeSignal()
        workTimer = Timer(loop: loop) { [unowned self] in work() }
        if let timeout {
            deadlineTimer = Timer(loop: loop) { [unowned self] in end(.failure(.timedOut)) }
            deadlineTimer?.schedule(after: timeout)
        }
        let breaksLine: (String) -> Bool = { $0.utf8.contains { $0 <= 0x20 && $0 != 0x20 && $0 != 0x09 || $0 == 0 } }
        if method.rawValue == 0 { return end(.failure(.badRequest("method \(methodName)"))) }
        if host.isEmpty || breaksLine(host) { return end(.failure(.badRequest("host"))) }
        if !target.hasPrefix("/") || breaksLine(target) || target.utf8.contains(0x20) {
            return end(.failure(.badRequest("target")))
        }
        if headers.contains(where: { breaksLine($0.name) || breaksLine($0.value) }) {
            return end(.failure(.badRequest("header")))
        }
        loop.resolve(host: host) { [weak self] in self?.resolved($0) }
    }

    private func resolved(_ result: Result<[String], ReactorError>) {
        if outcome != nil { return }
        switch result {
        case .success(let found):
            addresses = found
            tryNext()
        case .failure(let error):
            end(.failure(.cannotConnect(error.description)))
        }
    }

    private func tryNext() {
        freeConnection()
        wasConnected = false
        let me = Unmanaged.passUnretained(self).toOpaque()
        guard let connection = evhttp_connection_base_new(loop.eventBase, nil, addresses.removeFirst(), port),
            let raw = evhttp_request_new(clientDone, me)
        else { preconditionFailure("a request fits into memory") }
        self.connection = connection
        self.raw = raw
        // Our own timer bounds the call, to the millisecond and from its start.
        evhttp_connection_set_timeout(connection, 86_400)
        evhttp_connection_set_max_body_size(connection, onChunk == nil ? Self.responseBytesMax : -1)
        evhttp_connection_set_max_headers_size(connection, 65536)
        evhttp_connection_set_closecb(connection, clientConnectionClosed, me)
        evhttp_request_set_error_cb(raw, clientFailed)
        if onChunk != nil { evhttp_request_set_chunked_cb(raw, clientChunk) }
        fill(raw)
        if evhttp_make_request(connection, raw, method, target) != 0 {
            self.raw = nil
            end(.failure(.cannotConnect(HostPort.text(host: host, port: port))))
        }
    }

    private func fill(_ raw: EvhttpRequest) {
        let list = evhttp_request_get_output_headers(raw)
        EvhttpMessage.add(headers, to: list)
        let defaults = [
            ("Host", HostPort.text(host: host, port: port)), ("Connection", "close"),
            ("Content-Length", String(body.count)),
        ]
        for (name, value) in defaults where evhttp_find_header(list, name) == nil {
            let isForBody = name == "Content-Length"
            if isForBody && body.isEmpty && (method == EVHTTP_REQ_GET || method == EVHTTP_REQ_HEAD) { continue }
            evhttp_add_header(list, name, value)
        }
        evbuffer_add(evhttp_request_get_output_buffer(raw), body, body.count)
    }

    // MARK: - From evhttp's callbacks: record, act later

    /// evhttp frees the request after this.
    fileprivate func done(_ raw: EvhttpRequest?) {
        let code = errno
        loop.noteAwake()
        self.raw = nil
        if let raw, evhttp_request_get_response_code(raw) != 0 {
            let status = Int(evhttp_request_get_response_code(raw))
            let headers = EvhttpMessage.headers(evhttp_request_get_input_headers(raw))
            let body = EvhttpMessage.takeAll(evhttp_request_get_input_buffer(raw))
            end((200...599).contains(status) ? .success(.init(status: status, headers: headers, body: body)) : nil)
        } else if wasConnected {
            end(.failure(failure ?? .connectionLost))
        } else if addresses.isEmpty {
            let place = HostPort.text(host: host, port: port)
            // On a refusal evhttp shuts the socket down before it tells us, which overwrites the code.
            let why = String(cString: strerror(code == 0 || code == ENOTCONN ? ECONNREFUSED : code))
            end(.failure(.cannotConnect("\(place): \(why)")))
        } else {
            workTimer?.schedule(after: .zero)
        }
    }

    fileprivate func failed(_ error: evhttp_request_error) {
        switch error {
        case EVREQ_HTTP_INVALID_HEADER, EVREQ_HTTP_DATA_TOO_LONG, EVREQ_HTTP_BUFFER_ERROR: failure = .badResponse
        default: failure = .connectionLost
        }
    }

    fileprivate func chunkArrived(_ raw: EvhttpRequest) {
        loop.noteAwake()
        chunks.append(EvhttpMessage.takeAll(evhttp_request_get_input_buffer(raw)))
        workTimer?.schedule(after: .zero)
    }

    fileprivate func connectionClosed() { wasConnected = true }

    private func end(_ result: Result<HTTP1Response, HTTP1Error>?) {
        if outcome != nil { return }
        outcome = result ?? .failure(.badResponse)
        workTimer?.schedule(after: .zero)
    }

    /// Outside of evhttp: hands out chunks, tries the next address, or finishes.
    private func work() {
        let arrived = chunks
        chunks = []
        for chunk in arrived { onChunk?(chunk) }
        if let outcome {
            if keptUntilDone == nil { return }
            freeConnection()
            deadlineTimer = nil
            let me = keptUntilDone
            keptUntilDone = nil
            completion(outcome)
            _ = me
        } else if raw == nil && !addresses.isEmpty && arrived.isEmpty {
            tryNext()
        }
    }

    private func freeConnection() {
        if let raw { evhttp_cancel_request(raw) }
        raw = nil
        if let connection {
            evhttp_connection_set_closecb(connection, nil, nil)
            evhttp_connection_free(connection)
        }
        connection = nil
    }
}

// Three-line callbacks: the context is the call, which keeps itself until it has freed its connection.
private func clientDone(_ raw: EvhttpRequest?, _ context: UnsafeMutableRawPointer?) {
    Unmanaged<HTTP1Client>.fromOpaque(context!).takeUnretainedValue().done(raw)
}

private func clientFailed(_ error: evhttp_request_error, _ context: UnsafeMutableRawPointer?) {
    Unmanaged<HTTP1Client>.fromOpaque(context!).takeUnretainedValue().failed(error)
}

private func clientChunk(_ raw: EvhttpRequest?, _ context: UnsafeMutableRawPointer?) {
    Unmanaged<HTTP1Client>.fromOpaque(context!).takeUnretainedValue().chunkArrived(raw!)
}

private func clientConnectionClosed(_ connection: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    Unmanaged<HTTP1Client>.fromOpaque(context!).takeUnretainedValue().connectionClosed()
}
