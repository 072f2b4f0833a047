internal import PushJSON

/// Where a running server can be reached, as its control API tells.
struct ServerInfo: Equatable {
    let apns: HostAndPort
    let courier: HostAndPort
    /// Where channels are managed, by environment; `nil` from a server that cannot broadcast.
    let sandboxChannels, productionChannels: HostAndPort?
    /// Path of the authority's certificate on the server's machine.
    let ca: String
    /// `sandbox` or `production`.
    let environment: String?
    let keyID: String
    let teamID: String
    /// Path of the provider's signing key on the server's machine.
    let keyPath: String

    /// `serverHost` stands in for an address that means all interfaces, which no certificate names.
    init(_ info: JSONValue, serverHost: String) throws(CommandFailure) {
        func text(_ path: String) throws(CommandFailure) -> String {
            if let value = info[path: path]?.stringValue { return value }
            throw CommandFailure(
                "the server does not tell its '\(path)'", remedy: "is it another version of LocalPush?")
        }
        func address(_ path: String) throws(CommandFailure) -> HostAndPort {
            let written = try text(path)
            guard let address = HostAndPort(written) else {
                throw CommandFailure("the server's '\(path)' is no address: \(TextQuote.quoted(written))")
            }
            let isEverywhere = ["0.0.0.0", "::"].contains(address.host)
            return isEverywhere ? HostAndPort(host: serverHost, port: address.port) : address
        }
        apns = try address("apns")
        courier = try address("courier")
        sandboxChannels = info[path: "broadcast.sandbox"] == nil ? nil : try address("broadcast.sandbox")
        productionChannels = info[path: "broadcast.production"] == nil ? nil : try address("broadcast.production")
        ca = try text("ca")
        environment = info["environment"]?.stringValue
        keyID = try text("key.id")
        teamID = try text("key.team")
        keyPath = try text("key.path")
    }
}
