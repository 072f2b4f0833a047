/// Apple runs two separate services; tokens, keys and connections belong to one of them.
package enum PushEnvironment: UInt8, Sendable, CaseIterable {
    case sandbox = 1
    case production = 2

    package var text: String { "\(self)" }

    package init?(text: String) {
        guard let match = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = match
    }

    /// The environment a host name stands for: Apple's names tell, any other name (localhost, an address) means
    /// `local`, the server's own setting.
    package static func named(by host: String, local: PushEnvironment) -> PushEnvironment {
        let name = host.split(separator: ":", maxSplits: 1).first.map(String.init)?.lowercased() ?? ""
        guard name.hasSuffix("push.apple.com") else { return local }
        return name.contains("sandbox.push") || name.contains("development.push") ? .sandbox : .production
    }
}
