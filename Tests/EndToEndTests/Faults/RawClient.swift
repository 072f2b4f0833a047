import Foundation
import PushBytes
import PushTLS

/// A client that does what it is told, also what is wrong: a plain blocking socket, with or without TLS.
final class RawClient {
    private(set) var fd: Int32
    private var engine: TLSEngine?
    private var outgoing = ByteQueue()
    private(set) var isEnded = false

    struct Failure: Error {
        let text: String
    }

    /// In clear.
    init(port: UInt16) throws {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard fd >= 0, result == 0 else { throw Failure(text: "cannot connect: errno \(errno)") }
        // Writes to a server that is gone answer with an error, and a hang ends.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(fd, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// With TLS: returns when the handshake is done.
    convenience init(port: UInt16, context: TLSContext) throws {
        try self.init(port: port)
        let engine = try TLSEngine(client: context, host: "127.0.0.1")
        try engine.start()
        self.engine = engine
        while !engine.isEstablished && !isEnded {
            try sendCipher()
            _ = try receive()
        }
        try sendCipher()
        guard engine.isEstablished else { throw Failure(text: "the server ended the handshake") }
    }

    deinit { close() }

    /// What a TLS client says first.
    static func hello(_ context: TLSContext) throws -> [UInt8] {
        let engine = try TLSEngine(client: context, host: "127.0.0.1")
        try engine.start()
        var bytes = ByteQueue()
        engine.drain(into: &bytes)
        return bytes.bytes
    }

    /// Blocks until the kernel has taken all; throws when the server has closed.
    func send(_ bytes: [UInt8]) throws {
        if let engine {
            try bytes.withUnsafeBufferPointer { try engine.send($0.span) }
        } else {
            outgoing.append(bytes)
        }
        try sendCipher()
    }

    private func sendCipher() throws {
        engine?.drain(into: &outgoing)
        while !outgoing.isEmpty {
            let count = outgoing.withReadable { Glibc.send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Failure(text: "cannot send: errno \(errno)") }
            outgoing.consume(count)
        }
    }

    /// Waits for something; empty when it was the end (`isEnded`) or TLS's own business.
    func receive(waits: Bool = true) throws -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(fd, &chunk, chunk.count, waits ? 0 : Int32(MSG_DONTWAIT))
        if count < 0 && errno == EAGAIN {
            if waits { throw Failure(text: "the server says nothing") }
            return []
        }
        guard count > 0 else {
            isEnded = true
            return []
        }
        guard let engine else { return Array(chunk[..<count]) }
        var plain = ByteQueue()
        try chunk.withUnsafeBufferPointer { try engine.receive($0.span.extracting(0..<count), into: &plain) }
        return plain.bytes
    }

    /// Everything up to the end. What breaks TLS ends it too.
    func receiveAll() throws -> [UInt8] {
        var all: [UInt8] = []
        while !isEnded { all += try receive() }
        return all
    }

    /// With RST when `linger` is false.
    func close(linger: Bool = true) {
        guard fd >= 0 else { return }
        if !linger {
            var option = Glibc.linger(l_onoff: 1, l_linger: 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<Glibc.linger>.size))
        }
        Glibc.close(fd)
        fd = -1
    }
}
