/// A host name or address literal with a TCP port, as in `127.0.0.1:5223` or `[::1]:5223`.
struct HostAndPort: Sendable, Equatable, CustomStringConvertible {
    /// Without brackets.
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// `nil` unless both parts are there, the port is from 1 to 65535 and an IPv6 literal stands in brackets.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        let isPlain = host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
        guard !host.isEmpty, isPlain else { return nil }
        self.init(host: String(host), port: port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
