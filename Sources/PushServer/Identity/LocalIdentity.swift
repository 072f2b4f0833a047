package import PushCrypto

/// Who the server is on this machine: its own authority, a certificate for all the hosts it stands in for, and a
/// provider key that it believes.
///
/// All of it is made on first use, in milliseconds, and loaded afterwards. A plain value; making it touches files.
package struct LocalIdentity: Sendable {
    /// The id of the provider key made here.
    package static let keyID = "LOCALPUSH1"
    /// The team that the provider key belongs to.
    package static let teamID = "LOCALTEAM1"

    static let day: Int64 = 24 * 60 * 60
    /// Ten years: whoever trusts the authority once is done.
    static let authoritySeconds = 3650 * day
    /// 397 days: the longest that strict clients accept.
    static let serverSeconds = 397 * day
    /// A server certificate is renewed this long before its end, so that a long run does not meet it.
    static let renewalSeconds = 30 * day

    /// Absolute path of the directory.
    package let directory: String
    package let authority: Certificate
    /// PEM: the server's certificate, then the authority's.
    package let serverChain: String
    /// PEM, PKCS#8.
    package let serverKey: String
    package let providerKey: ES256PrivateKey

    /// What clients have to trust.
    package var authorityPath: String { directory + "/" + File.authority.rawValue }
    /// The provider key, as a `.p8` file for unmodified clients.
    package var providerKeyPath: String { directory + "/" + File.providerKey.rawValue }

    /// Loads the identity in `path`, after making what is missing and renewing what runs out.
    ///
    /// The authority and the provider key are never replaced once they exist, since clients were told to trust them.
    /// - Parameters:
    ///   - path: made when missing (0700). With nothing kept, give a fresh one: clients need the authority as a file.
    ///   - now: unix seconds of the real clock, since clients check against theirs.
    ///   - names: what the server certificate names; others than before mean a new one.
    package static func open(
        directory path: String, now: Int64, names: [String] = LocalHostNames.all
    ) throws(IdentityError) -> LocalIdentity {
        precondition(!path.isEmpty && !names.isEmpty, "there is a directory, and there are names")
        let directory = try IdentityDirectory.open(path)
        let authority = try Authority.open(in: directory, now: now)
        let server = try authority.server(in: directory, names: names, now: now)
        return LocalIdentity(
            directory: directory.path == "/" ? "" : directory.path, authority: authority.certificate,
            serverChain: server.chain, serverKey: server.key, providerKey: try openProviderKey(in: directory))
    }

    /// Makes a client certificate as Apple gives them to providers, signed by the authority in `path`, which is made when
    /// missing. Valid as long as a server certificate.
    package static func issueClient(
        directory path: String, purpose: PushExtensions, now: Int64
    ) throws(IdentityError) -> (certificate: Certificate, key: ES256PrivateKey) {
        precondition(!path.isEmpty, "there is a directory")
        let directory = try IdentityDirectory.open(path)
        return try Authority.open(in: directory, now: now).client(in: directory, purpose: purpose, now: now)
    }

    enum File: String, CaseIterable {
        case authority = "ca.pem"
        case authorityKey = "ca.key"
        case server = "server.pem"
        case serverKey = "server.key"
        case providerKey = "AuthKey_LOCALPUSH1.p8"

        var isSecret: Bool {
            switch self {
            case .authority, .server: false
            case .authorityKey, .serverKey, .providerKey: true
            }
        }
    }

    private static func openProviderKey(in directory: borrowing IdentityDirectory) throws(IdentityError)
        -> ES256PrivateKey
    {
        if let text = try directory.read(.providerKey) {
            return try directory.attempt(.providerKey, "delete it to get a new one") { try ES256PrivateKey(pem: text) }
        }
        let key = try directory.attempt(.providerKey, "try again") { try ES256PrivateKey() }
        try directory.write(key.pem, to: .providerKey)
        return key
    }
}

extension IdentityDirectory {
    func read(_ file: LocalIdentity.File) throws(IdentityError) -> String? {
        try read(file.rawValue, isSecret: file.isSecret)
    }

    func write(_ text: String, to file: LocalIdentity.File) throws(IdentityError) {
        try write(text, to: file.rawValue, isSecret: file.isSecret)
    }

    /// Turns what OpenSSL says about a file into an error that names it.
    func attempt<Result>(
        _ file: LocalIdentity.File, _ remedy: String, _ body: () throws -> Result
    ) throws(IdentityError) -> Result {
        do { return try body() } catch {
            throw IdentityError(path: path(of: file.rawValue), problem: "\(error)", remedy: remedy)
        }
    }
}
