import Foundation
import PushBytes
import PushHTTP2

/// A raw HTTP/2 client: what it sends is what the test says, and all that came back can be looked at.
final class CaseClient {
    typealias Fields = [(name: String, value: String)]

    struct Answer {
        let stream: Int32
        let fields: Fields
        let body: String

        subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        var status: Int { Int(self[":status"] ?? "") ?? 0 }
        /// The `reason` of the body, when the body is just as the service writes it.
        var reason: String? {
            body.wholeMatch(of: /\{"reason":"(\w+)"(,"timestamp":\d+)?\}/).map { String($0.output.1) }
        }
    }

    struct GoAway: Equatable {
        let lastStream: Int32
        let code: UInt32
        let text: String
    }

    /// A frame as it came, for what the engine does not tell.
    struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: Int32
        let payload: [UInt8]

        var endsStream: Bool { (type == 0 || type == 1) && flags & 1 != 0 }
        /// Of a SETTINGS frame: identifier and value, in order.
        var settings: [[UInt32]] {
            guard type == 4, flags & 1 == 0 else { return [] }
            return stride(from: 0, to: payload.count - 5, by: 6).map { at in
                [
                    UInt32(payload[at]) << 8 | UInt32(payload[at + 1]),
                    payload[at + 2...at + 5].reduce(0) { $0 << 8 | UInt32($1) },
                ]
            }
        }
    }

    let wire: CaseWire
    private let engine: HTTP2ClientEngine
    private var unframed: [UInt8] = []
    private(set) var frames: [Frame] = []
    private(set) var answers: [Int32: Answer] = [:]
    /// Streams that ended without an answer, with the code of RST_STREAM (or 7 after a GOAWAY).
    private(set) var resets: [Int32: UInt32] = [:]
    private(set) var goAways: [GoAway] = []
    /// Values of MAX_CONCURRENT_STREAMS, in the order in which they came.
    var streamLimits: [UInt32] { frames.flatMap(\.settings).filter { $0[0] == 3 }.map { $0[1] } }
    private(set) var pingsAcknowledged = 0
    var isAtEnd: Bool { wire.isAtEnd }

    init(_ wire: CaseWire) throws {
        self.wire = wire
        engine = try HTTP2ClientEngine()
        try flush()
    }

    /// Sends a request without looking at what the server has said meanwhile.
    @discardableResult
    func send(_ fields: Fields, body: [UInt8]) throws -> Int32 {
        let stream = try submit(fields, body: body)
        try flush()
        return stream
    }

    /// Queues a request; the next `flush` sends it together with others.
    func submit(_ fields: Fields, body: [UInt8]) throws -> Int32 {
        var list = HTTP2FieldList()
        for field in fields { list.append(field.name, field.value) }
        return try engine.submit(fields: list, body: body)
    }

    func ping() throws {
        engine.ping()
        try flush()
    }

    /// Sends a request and waits for its answer; throws when the stream ends otherwise.
    func request(_ fields: Fields, body: [UInt8]) throws -> Answer { try answer(to: send(fields, body: body)) }

    func answer(to stream: Int32, seconds: Double = 10) throws -> Answer {
        try wait("an answer on stream \(stream)", seconds: seconds) {
            $0.answers[stream] != nil || $0.resets[stream] != nil
        }
        guard let answer = answers[stream] else {
            throw CaseFailure("stream \(stream) ended with code \(resets[stream] ?? 0); GOAWAYs \(goAways)")
        }
        return answer
    }

    /// Takes what comes until the condition holds; throws at the end of time, or of the connection.
    func wait(_ what: String, seconds: Double = 10, until isDone: (CaseClient) -> Bool) throws {
        let end = Date() + seconds
        while !isDone(self) {
            guard !wire.isAtEnd else { throw CaseFailure("the connection ended before \(what)") }
            guard Date() < end else { throw CaseFailure("waited in vain for \(what)") }
            try take(milliseconds: 20)
        }
    }

    /// Takes what comes within a time.
    func listen(milliseconds: Int) throws {
        let end = Date() + Double(milliseconds) / 1000
        while !wire.isAtEnd && Date() < end { try take(milliseconds: 10) }
    }

    func frames(of stream: Int32) -> [Frame] { frames.filter { $0.stream == stream } }

    func flush() throws {
        var output = ByteQueue()
        try engine.drain(into: &output)
        if !output.isEmpty { try wire.send(output.bytes) }
    }

    private func take(milliseconds: Int) throws {
        let bytes = try wire.receive(milliseconds: milliseconds)
        guard !bytes.isEmpty else { return }
        note(bytes)
        try? engine.receive(bytes.span)
        while let event = engine.nextEvent() { note(event) }
        try? flush()
    }

    private func note(_ event: HTTP2ClientEngine.Event) {
        switch event {
        case .response(let message):
            let fields = message.fields.map { field in
                (
                    name: String(decoding: message.bytes[field.name], as: UTF8.self),
                    value: String(decoding: message.bytes[field.value], as: UTF8.self)
                )
            }
            answers[message.streamID] = Answer(
                stream: message.streamID, fields: fields, body: String(decoding: message.body, as: UTF8.self))
            engine.recycle(message)
        case .streamClosed(let stream, let code): resets[stream] = code
        case .goAway(let last, let code, let data):
            goAways.append(GoAway(lastStream: last, code: code, text: String(decoding: data, as: UTF8.self)))
        case .settings: break
        case .pingAcknowledged: pingsAcknowledged += 1
        }
    }

    private func note(_ bytes: [UInt8]) {
        unframed += bytes
        while let frame = Frame(takenFrom: &unframed) { frames.append(frame) }
    }
}

extension CaseClient.Frame {
    /// Takes the first whole frame away from `bytes`; `nil` when there is none.
    init?(takenFrom bytes: inout [UInt8]) {
        guard bytes.count >= 9 else { return nil }
        let length = bytes[0..<3].reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= 9 + length else { return nil }
        type = bytes[3]
        flags = bytes[4]
        stream = Int32(bytes[5..<9].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF)
        payload = Array(bytes[9..<9 + length])
        bytes.removeFirst(9 + length)
    }
}
