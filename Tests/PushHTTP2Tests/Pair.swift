import PushBytes

@testable import PushHTTP2

/// A client engine and a server engine whose bytes cross in memory, and everything the client heard.
final class Pair {
    struct Answer: Equatable {
        var stream: Int32
        var status: String?
        var fields: [String]
        var body: [UInt8]
    }

    let client: HTTP2ClientEngine
    let server: HTTP2ServerEngine
    /// What the server does with a request; default: it answers 200.
    var serve: (HTTP2ServerEngine, HTTP2Message, _ bodyTooLarge: Bool) -> Void = { server, request, _ in
        server.respond(to: request.streamID, fields: .status(200))
    }
    /// Bytes that cross at a time.
    var piece = Int.max

    private(set) var answers: [Answer] = []
    private(set) var requests: [[String]] = []
    private(set) var requestBodies: [[UInt8]] = []
    private(set) var closed: [Int32: UInt32] = [:]
    private(set) var goAways: [(lastStream: Int32, code: UInt32, data: [UInt8])] = []
    private(set) var streamsMaxHeard: [UInt32] = []
    private(set) var streamsReset: [Int32] = []
    private(set) var clientPings = 0
    private(set) var serverPings = 0
    private var toServer = ByteQueue()
    private var toClient = ByteQueue()

    init(limits: HTTP2ServerEngine.Limits = .init()) throws {
        client = try HTTP2ClientEngine()
        server = try HTTP2ServerEngine(limits: limits)
    }

    @discardableResult
    func send(_ fields: HTTP2FieldList = .push(), body: [UInt8] = []) throws -> Int32 {
        try client.submit(fields: fields, body: body)
    }

    /// Lets bytes cross until neither side has any.
    func settle() throws {
        repeat {
            try client.drain(into: &toServer)
            try deliver(&toServer) { try server.receive($0) }
            hearServer()
            try server.drain(into: &toClient)
            try deliver(&toClient) { try client.receive($0) }
            hearClient()
            try client.drain(into: &toServer)
        } while !toServer.isEmpty
    }

    /// Lets the client's bytes reach the server, and nothing come back.
    func carryToServer() throws {
        try client.drain(into: &toServer)
        try deliver(&toServer) { try server.receive($0) }
        hearServer()
    }

    private func deliver(_ queue: inout ByteQueue, _ receive: (Span<UInt8>) throws -> Void) throws {
        while !queue.isEmpty {
            let count = min(piece, queue.count)
            try queue.withSpan { try receive($0.extracting(0..<count)) }
            queue.consume(count)
        }
    }

    private func hearServer() {
        while let event = server.nextEvent() {
            switch event {
            case .request(let request, let bodyTooLarge):
                requests.append(request.texts)
                requestBodies.append(request.body)
                serve(server, request, bodyTooLarge)
                server.recycle(request)
            case .streamReset(let stream): streamsReset.append(stream)
            case .goAwayReceived: break
            case .pingAcknowledged: serverPings += 1
            }
        }
    }

    private func hearClient() {
        while let event = client.nextEvent() {
            switch event {
            case .response(let response):
                answers.append(
                    Answer(
                        stream: response.streamID, status: response.text(of: ":status"), fields: response.texts,
                        body: response.body))
                client.recycle(response)
            case .streamClosed(let stream, let code): closed[stream] = code
            case .goAway(let lastStream, let code, let data): goAways.append((lastStream, code, data))
            case .settings(let count): streamsMaxHeard.append(count)
            case .pingAcknowledged: clientPings += 1
            }
        }
    }
}

extension HTTP2FieldList {
    static func push(path: String = "/3/device/00", _ more: (String, String)...) -> HTTP2FieldList {
        var fields = HTTP2FieldList()
        fields.append(":method", "POST")
        fields.append(":scheme", "https")
        fields.append(":authority", "localhost:2197")
        fields.append(":path", path)
        for (name, value) in more { fields.append(name, value) }
        return fields
    }

    static func status(_ code: Int, _ more: (String, String)...) -> HTTP2FieldList {
        var fields = HTTP2FieldList()
        fields.append(name: ":status", decimal: code)
        for (name, value) in more { fields.append(name, value) }
        return fields
    }
}

extension HTTP2Message {
    /// All fields as "name: value".
    var texts: [String] {
        fields.map {
            String(decoding: bytes[$0.name], as: UTF8.self) + ": " + String(decoding: bytes[$0.value], as: UTF8.self)
        }
    }
}
