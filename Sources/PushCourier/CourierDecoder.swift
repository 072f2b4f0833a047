import PushBytes

/// Cuts a stream of bytes into courier frames.
///
/// A plain value that knows no socket and no clock. Feed it with `receive`, then call `next` until it answers
/// `nil`; what it holds is then less than one frame. After an error it stays failed: it drops what comes and
/// throws the same error again, since nothing after a broken frame can be found.
package struct CourierDecoder: Sendable {
    /// Default limit of one payload: room for the largest message (4 KiB) and its items, for a certificate, and for
    /// a filter of 700 topics.
    package static let payloadBytesMaxDefault = 16 * 1024
    /// A buffer that has grown beyond this is given back when it falls empty, so that idle connections stay small.
    private static let idleBytesMax = 4 * 1024
    private static let headerBytes = 5

    /// Longest payload taken, in bytes; a frame that announces more is refused as soon as its header is there.
    package let payloadBytesMax: Int
    private var buffer = ByteQueue()
    private var failure: CourierError?

    package init(frameBytesMax: Int = CourierDecoder.payloadBytesMaxDefault) {
        precondition(frameBytesMax >= 0 && frameBytesMax <= Int(UInt32.max), "the limit fits the length field")
        payloadBytesMax = frameBytesMax
    }

    /// Bytes that have come and are not yet part of a frame given out.
    package var bufferedBytes: Int { buffer.count }

    /// Appends what came from the peer.
    package mutating func receive(_ bytes: Span<UInt8>) {
        if failure == nil { buffer.append(bytes) }
    }

    /// The next whole frame, or `nil` when more bytes are needed.
    package mutating func next() throws(CourierError) -> CourierFrame? {
        var frame = try CourierFrame(command: 0)
        return try next(into: &frame) ? frame : nil
    }

    /// Like `next()`, but refills `frame`, so that a loop over frames allocates nothing once it is warm.
    /// Answers false, and leaves `frame` alone, when more bytes are needed.
    package mutating func next(into frame: inout CourierFrame) throws(CourierError) -> Bool {
        if let failure { throw failure }
        guard buffer.count >= Self.headerBytes else {
            releaseIdleBuffer()
            return false
        }
        let command = buffer[0]
        let announced = (1...4).reduce(UInt32(0)) { $0 << 8 | UInt32(buffer[$1]) }
        guard announced <= UInt32(payloadBytesMax) else {
            throw fail(
                .frameTooLarge(command: command, payloadBytes: announced, payloadBytesMax: payloadBytesMax))
        }
        let end = Self.headerBytes + Int(announced)
        guard buffer.count >= end else { return false }
        do {
            try frame.refill(command: command, from: buffer, Self.headerBytes..<end)
        } catch {
            throw fail(error)
        }
        buffer.consume(end)
        return true
    }

    private mutating func fail(_ error: CourierError) -> CourierError {
        failure = error
        buffer = ByteQueue()
        return error
    }

    private mutating func releaseIdleBuffer() {
        if buffer.isEmpty && buffer.capacity > Self.idleBytesMax { buffer = ByteQueue() }
    }
}
