import Foundation

/// HTTP/2 by hand: frames as the test writes them, without a library that would keep to the rules.
final class RawStreams {
    private let wire: CaseWire
    private var unread: [UInt8] = []

    /// Takes over a connection on which nothing but the preface was sent.
    init(_ wire: CaseWire) { self.wire = wire }

    /// Reads the server's first SETTINGS and acknowledges them.
    func settle(acknowledging: Bool) throws {
        _ = try frames { $0.contains { !$0.settings.isEmpty } }
        if acknowledging { try send(type: 4, flags: 1, stream: 0, []) }
    }

    /// Fields uncompressed (RFC 7541, section 6.2.2).
    func headers(_ stream: Int32, _ fields: CaseClient.Fields, endsStream: Bool) throws {
        var block: [UInt8] = []
        for field in fields { block += [0] + Self.text(field.name) + Self.text(field.value) }
        try send(type: 1, flags: endsStream ? 5 : 4, stream: stream, block)
    }

    /// The last DATA of a stream.
    func data(_ stream: Int32, _ bytes: [UInt8]) throws { try send(type: 0, flags: 1, stream: stream, bytes) }

    /// What came until the condition holds for it.
    func frames(seconds: Double = 5, until isDone: ([CaseClient.Frame]) -> Bool) throws -> [CaseClient.Frame] {
        var frames: [CaseClient.Frame] = []
        let end = Date() + seconds
        while !isDone(frames) {
            guard Date() < end, !wire.isAtEnd else { throw CaseFailure("waited in vain; came: \(frames)") }
            unread += try wire.receive(milliseconds: 20)
            frames += take()
        }
        return frames
    }

    func untilEnd() throws -> [CaseClient.Frame] {
        unread += try wire.receiveAll(seconds: 5)
        return take()
    }

    private func send(type: UInt8, flags: UInt8, stream: Int32, _ payload: [UInt8]) throws {
        let length = payload.count
        let number = UInt32(stream)
        try wire.send(
            [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags]
                + [24, 16, 8, 0].map { UInt8(number >> $0 & 255) } + payload)
    }

    private func take() -> [CaseClient.Frame] {
        var frames: [CaseClient.Frame] = []
        while let frame = CaseClient.Frame(takenFrom: &unread) { frames.append(frame) }
        return frames
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        var rest = bytes.count - 127
        var length: [UInt8] = [127]
        while rest >= 128 {
            length.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }
}
