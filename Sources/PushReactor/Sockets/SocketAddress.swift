internal import CPushLibevent
internal import Glibc

/// An IPv4 or IPv6 address with its port, as the kernel takes it.
struct SocketAddress: Sendable {
    private var storage = sockaddr_storage()
    private var length: socklen_t

    /// Copies what `getaddrinfo` found.
    init(_ info: addrinfo) {
        length = info.ai_addrlen
        precondition(Int(length) <= MemoryLayout<sockaddr_storage>.size, "an address fits its storage")
        withUnsafeMutableBytes(of: &storage) {
            $0.baseAddress!.copyMemory(from: info.ai_addr, byteCount: Int(info.ai_addrlen))
        }
    }

    /// Nil when `fill` (getsockname, getpeername) fails.
    init?(_ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { fill($0, &length) }
        }
        self.length = length
        if result != 0 { return nil }
    }

    /// The addresses of a host. Numeric ones (IPv6 with or without brackets) are only parsed; for names this asks the
    /// system's resolver and blocks, so the loop lets a thread of the resolver do it.
    static func resolve(
        host: String, port: UInt16, numericOnly: Bool = false, passive: Bool = false
    ) throws(ReactorError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = push_sock_stream()
        hints.ai_flags = AI_NUMERICSERV | (numericOnly ? AI_NUMERICHOST : 0) | (passive ? AI_PASSIVE : 0)
        var found: UnsafeMutablePointer<addrinfo>?
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        let code = getaddrinfo(bare, String(port), &hints, &found)
        if code != 0 { throw ReactorError(operation: "resolve \(host)", resolver: code) }
        defer { freeaddrinfo(found) }
        var addresses: [SocketAddress] = []
        var next = found
        while let info = next?.pointee {
            addresses.append(SocketAddress(info))
            next = info.ai_next
        }
        return addresses
    }

    var family: Int32 { Int32(storage.ss_family) }

    var port: UInt16 {
        // Both families keep the port, in network order, right after the family.
        withUnsafeBytes(of: storage) { UInt16($0[2]) << 8 | UInt16($0[3]) }
    }

    /// The numeric host, without brackets.
    var host: String {
        with { address, length in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { buffer in
                let code = getnameinfo(
                    address, length, buffer.baseAddress, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
                return code == 0 ? String(cString: buffer.baseAddress!) : "?"
            }
        }
    }

    /// `127.0.0.1:5223` or `[::1]:5223`.
    var text: String { HostPort.text(host: host, port: port) }

    func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

/// Addresses as people write them.
package enum HostPort {
    /// A host and port as written in addresses: IPv6 literals get brackets.
    package static func text(host: String, port: UInt16) -> String {
        host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
