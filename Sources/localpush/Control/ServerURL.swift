/// Where the control API is: `http://HOST[:PORT][/PREFIX]`.
struct ServerURL: Sendable, Equatable {
    let text: String
    let host: String
    let port: UInt16
    /// Without a slash at the end; usually empty.
    let prefix: String

    /// Throws a usage failure that says how a URL should look.
    init(_ text: String) throws(CommandFailure) {
        let shown = TextQuote.quoted(text)
        guard !text.hasPrefix("https://") else {
            throw .usage("--server takes an http URL, not \(shown)", remedy: "the control API has a plain http port")
        }
        guard text.hasPrefix("http://") else { throw Self.malformed(shown) }
        let rest = text.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" }
        var path = rest.dropFirst(authority.count)
        while path.hasSuffix("/") { path = path.dropLast() }
        let hasPort = authority.hasSuffix("]") ? false : authority.contains(":")
        guard let address = HostAndPort(hasPort ? String(authority) : "\(authority):80"),
            path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        else { throw Self.malformed(shown) }
        self.text = text
        host = address.host
        port = address.port
        prefix = String(path)
    }

    private static func malformed(_ shown: String) -> CommandFailure {
        .usage("--server takes a URL such as http://127.0.0.1:7580, not \(shown)")
    }
}
