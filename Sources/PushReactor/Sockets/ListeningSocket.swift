internal import CPushLibevent
internal import Glibc

/// A TCP socket that listens (SO_REUSEADDR, non-blocking), before anything watches it. Plain data: whoever has it
/// closes `fd`.
package struct ListeningSocket: Sendable {
    package let fd: Int32
    /// The port really listened on, also when 0 was asked for.
    package let port: UInt16
    /// Numeric host and port: `127.0.0.1:5223`, `[::1]:5223`.
    package let address: String

    /// Listens on the first usable address of `host` (numeric, IPv6 with or without brackets, or a name; a name is
    /// resolved with the calling thread waiting) and `port` (0: any free one).
    /// Errors name host and port: taken, not permitted, no such address.
    package init(host: String, port: UInt16, backlog: Int32 = 1024) throws(ReactorError) {
        let operation = "listen on \(HostPort.text(host: host, port: port))"
        let addresses: [SocketAddress]
        do throws(ReactorError) {
            addresses = try SocketAddress.resolve(host: host, port: port, passive: true)
        } catch {
            throw ReactorError(operation: operation, code: error.code, text: error.text)
        }
        let fd = try Self.open(addresses, backlog: backlog, operation: operation)
        self.fd = fd
        let bound = SocketAddress { getsockname(fd, $0, $1) }
        self.port = bound?.port ?? port
        address = bound?.text ?? HostPort.text(host: host, port: port)
    }

    private static func open(
        _ addresses: [SocketAddress], backlog: Int32, operation: String
    ) throws(ReactorError) -> Int32 {
        var code = EADDRNOTAVAIL
        for address in addresses {
            let type = push_sock_loop()
            let fd = socket(address.family, type, 0)
            if fd < 0 {
                code = errno
                continue
            }
            var on: Int32 = 1
            setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            if address.with({ bind(fd, $0, $1) }) == 0 && listen(fd, backlog) == 0 { return fd }
            code = errno
            close(fd)
        }
        throw ReactorError(operation: operation, errno: code)
    }
}
