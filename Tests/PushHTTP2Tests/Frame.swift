import PushBytes

@testable import PushHTTP2

/// One HTTP/2 frame, taken apart or put together by hand (RFC 9113, section 4.1).
struct Frame: Equatable {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7

    static let endStream: UInt8 = 1
    static let endHeaders: UInt8 = 4

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    var type: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let length = payload.count
        let start = [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags]
        return start + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) } + payload
    }

    /// Cuts bytes into frames; the bytes must hold whole frames.
    static func all(in bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            frames.append(
                Frame(
                    type: head[3], flags: head[4], stream: stream, payload: Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }

    /// A header block of literals without indexing and without compression (RFC 7541, section 6.2.2).
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            block += [0, UInt8(name.utf8.count)]
            block += Array(name.utf8)
            block.append(UInt8(value.utf8.count))
            block += Array(value.utf8)
        }
        return block
    }

    static let request = block([
        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", "/3/device/00"),
    ])
}

extension HTTP2ServerEngine {
    func receive(_ frames: Frame...) throws { for frame in frames { try receive(frame.bytes) } }

    func receive(_ bytes: [UInt8]) throws { try receive(bytes.span) }

    /// An engine that has seen the preface, with its own first frames out of the way.
    static func started(_ limits: Limits = Limits()) throws -> HTTP2ServerEngine {
        let server = try HTTP2ServerEngine(limits: limits)
        try server.receive(Frame.preface)
        try server.receive(Frame(type: Frame.settings))
        _ = try server.frames()
        return server
    }

    /// What waits to go out.
    func frames() throws -> [Frame] {
        var output = ByteQueue()
        try drain(into: &output)
        return Frame.all(in: output.bytes)
    }
}

extension HTTP2ClientEngine {
    func receive(_ frames: Frame...) throws { for frame in frames { try receive(frame.bytes) } }

    func receive(_ bytes: [UInt8]) throws { try receive(bytes.span) }

    /// What waits to go out, after the preface if this is the first time.
    func frames(withPreface: Bool = false) throws -> [Frame] {
        var output = ByteQueue()
        try drain(into: &output)
        return Frame.all(in: Array(output.bytes.dropFirst(withPreface ? Frame.preface.count : 0)))
    }
}
