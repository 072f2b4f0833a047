import Foundation
import PushBytes
import PushTLS

/// A TLS connection over a blocking socket, for one test: bytes out, bytes in, with a time limit.
final class CaseWire {
    private let descriptor: Int32
    private let tls: TLSEngine?
    private var incoming = ByteQueue()
    private(set) var isAtEnd = false

    /// `authority` is PEM; `nil` speaks in clear. `protocols` are offered by ALPN; none offers nothing.
    init(
        port: UInt16, authority: String?, serverName: String? = nil, protocols: [String] = ["h2"],
        certificateChain: String? = nil, privateKey: String? = nil
    ) throws {
        descriptor = try Self.connect(port)
        guard let authority else {
            tls = nil
            return
        }
        let context = try TLSContext.client(
            trust: .authorities(pem: authority), applicationProtocols: protocols, certificateChain: certificateChain,
            privateKey: privateKey)
        let tls = try TLSEngine(client: context, host: "127.0.0.1", serverName: serverName)
        self.tls = tls
        try tls.start()
        try flush()
        let end = Date() + 10
        while !tls.isEstablished && !isAtEnd && Date() < end { try take(milliseconds: 100) }
        guard tls.isEstablished else { throw CaseFailure("the handshake did not end") }
    }

    deinit { close(descriptor) }

    var applicationProtocol: String? { tls?.applicationProtocol }

    func send(_ bytes: [UInt8]) throws {
        guard let tls else { return try write(bytes) }
        try tls.send(bytes.span)
        try flush()
    }

    /// What has arrived by now, after waiting for `milliseconds` at most; empty when nothing came.
    func receive(milliseconds: Int) throws -> [UInt8] {
        if !isAtEnd && incoming.isEmpty { try take(milliseconds: milliseconds) }
        defer { incoming.removeAll() }
        return incoming.bytes
    }

    /// Everything up to the end of the connection.
    func receiveAll(seconds: Double = 10) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let end = Date() + seconds
        while !isAtEnd && Date() < end { bytes += try receive(milliseconds: 100) }
        guard isAtEnd else { throw CaseFailure("the connection did not end") }
        return bytes
    }

    private func take(milliseconds: Int) throws {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, Int32(milliseconds)) > 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else {
            isAtEnd = true
            return
        }
        guard let tls else {
            incoming.append(Array(buffer[..<count]).span)
            return
        }
        try tls.receive(Array(buffer[..<count]).span, into: &incoming)
        if tls.peerClosed { isAtEnd = true }
        try flush()
    }

    private func flush() throws {
        var cipher = ByteQueue()
        tls?.drain(into: &cipher)
        try write(cipher.bytes)
    }

    private func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                isAtEnd = true
                return
            }
            sent += count
        }
    }

    private static func connect(_ port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw CaseFailure("cannot connect to port \(port)") }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }
}

struct CaseFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
