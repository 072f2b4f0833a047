import PushBytes
import PushCourier

/// Feeds all of `bytes` and takes every frame.
func decode(_ bytes: [UInt8], limit: Int = CourierDecoder.payloadBytesMaxDefault) throws -> [CourierFrame] {
    var decoder = CourierDecoder(frameBytesMax: limit)
    decoder.receive(bytes.span)
    var frames: [CourierFrame] = []
    while let frame = try decoder.next() { frames.append(frame) }
    return frames
}

/// A header with any announced length, and what follows.
func frameBytes(_ command: UInt8, announcing count: UInt32? = nil, _ payload: [UInt8] = []) -> [UInt8] {
    let count = count ?? UInt32(payload.count)
    return [command] + (0..<4).map { UInt8(truncatingIfNeeded: count >> UInt32(24 - 8 * $0)) } + payload
}

func itemBytes(_ id: UInt8, _ value: [UInt8]) -> [UInt8] {
    [id, UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
}

func bytes(of message: some CourierMessage) -> [UInt8] {
    var queue = ByteQueue()
    message.write(into: &queue)
    return queue.bytes
}
