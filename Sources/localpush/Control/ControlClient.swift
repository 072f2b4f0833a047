internal import PushHTTP1
internal import PushJSON
internal import PushReactor

/// Asks a running server. Loop-bound; each call turns the loop until it is answered.
final class ControlClient {
    /// An error in place of a stream is read whole up to this; the server's are a few hundred bytes.
    private static let errorBytesMax = 65_536

    let url: ServerURL
    private let token: String?
    private let loop: EventLoop

    init(loop: EventLoop, url: ServerURL, token: String?) {
        self.loop = loop
        self.url = url
        self.token = token
    }

    /// For a command that declares `CommonOption.client`.
    convenience init(_ arguments: Arguments) throws {
        try self.init(
            loop: EventLoop(), url: ServerURL(arguments[CommonOption.server]),
            token: arguments[CommonOption.controlToken])
    }

    func call(_ request: ControlRequest) throws(CommandFailure) -> ControlReply {
        let response = try exchange(request, onChunk: nil)
        if response.body.isEmpty { return ControlReply(status: response.status, body: .null) }
        do {
            return ControlReply(status: response.status, body: try JSONText.parse(response.body))
        } catch {
            throw CommandFailure(
                "\(url.text) does not speak LocalPush's control API (status \(response.status))",
                remedy: "name the server with --server")
        }
    }

    /// The body of a success; what the server objects to is thrown.
    func value(_ request: ControlRequest) throws(CommandFailure) -> JSONValue { try call(request).value() }

    func info() throws(CommandFailure) -> ServerInfo {
        try ServerInfo(value(ControlRequest("GET", "info")), serverHost: url.host)
    }

    /// Follows an event stream until the server ends it or a signal ends us; `onEvent` is called on the loop.
    func follow(
        _ request: ControlRequest, onEvent: @escaping (ServerSentEvents.Event) -> Void
    ) throws(CommandFailure) {
        var reader = ServerSentEvents()
        var head: [UInt8] = []
        let response = try exchange(request) { bytes in
            if head.count < Self.errorBytesMax { head += bytes }
            for event in reader.receive(bytes) { onEvent(event) }
        }
        if response.status != 200 {
            let body = try? JSONText.parse(head)
            throw ControlReply(status: response.status, body: body ?? .null).failure
        }
    }

    private func exchange(
        _ request: ControlRequest, onChunk: (([UInt8]) -> Void)?
    ) throws(CommandFailure) -> HTTP1Response {
        var headers = [("Accept", onChunk == nil ? "application/json" : "text/event-stream")]
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        var body: [UInt8] = []
        if let value = request.body {
            headers.append(("Content-Type", "application/json"))
            body = Array(value.text.utf8)
        }
        var outcome: Result<HTTP1Response, HTTP1Error>?
        HTTP1Client.send(
            loop: loop, host: url.host, port: url.port, method: request.method,
            target: request.target(prefix: url.prefix), headers: headers, body: body,
            timeout: onChunk == nil ? request.timeout : nil, onChunk: onChunk
        ) { outcome = $0 }
        while true {
            if let outcome { return try unwrap(outcome) }
            loop.turn(wait: .seconds(1))
        }
    }

    private func unwrap(_ outcome: Result<HTTP1Response, HTTP1Error>) throws(CommandFailure) -> HTTP1Response {
        switch outcome {
        case .success(let response): return response
        case .failure(let error):
            throw CommandFailure(
                "no LocalPush answers at \(url.text) (\(error))",
                remedy: "start one with 'localpush serve', or name another with --server",
                exitCode: .unreachable)
        }
    }
}
