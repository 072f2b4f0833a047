internal import CPushOpenSSL
internal import PushBytes

/// Where OpenSSL reads and writes records: a BIO that reads from bytes lent for one call and writes into a queue.
///
/// Compared with OpenSSL's memory BIOs it saves one copy each way, and two buffers for each connection.
final class TLSWire {
    /// Bytes lent by `TLSEngine.receive` for the time of that call.
    private var source = UnsafeRawBufferPointer(start: nil, count: 0)
    var outgoing = ByteQueue()

    /// How many lent bytes OpenSSL has not taken.
    var unread: Int { source.count }

    /// A new BIO on this wire, owned by the caller. It does not keep the wire alive: the owner of both does.
    func makeBIO() -> OpaquePointer? {
        guard let bio = BIO_new(Self.method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    func lend(_ bytes: UnsafeRawBufferPointer) { source = bytes }

    func endLending() { source = UnsafeRawBufferPointer(start: nil, count: 0) }

    fileprivate func read(into target: UnsafeMutablePointer<CChar>?, _ count: Int32) -> Int32 {
        let taken = min(Int(count), source.count)
        guard taken > 0, let target, let start = source.baseAddress else { return -1 }
        UnsafeMutableRawPointer(target).copyMemory(from: start, byteCount: taken)
        source = UnsafeRawBufferPointer(rebasing: source[taken...])
        return Int32(taken)
    }

    fileprivate func write(_ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
        outgoing.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        return count
    }

    private static func of(_ bio: OpaquePointer?) -> TLSWire {
        Unmanaged<TLSWire>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
    }

    /// Made once for the process and never changed, so it may be shared between threads.
    nonisolated(unsafe) private static let method: OpaquePointer = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire") else {
            fatalError("memory for a BIO method")
        }
        BIO_meth_set_read(method) { bio, target, count in
            BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            let taken = TLSWire.of(bio).read(into: target, count)
            if taken < 0 { BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY) }
            return taken
        }
        BIO_meth_set_write(method) { bio, bytes, count in TLSWire.of(bio).write(bytes, count) }
        BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return method
    }()
}
