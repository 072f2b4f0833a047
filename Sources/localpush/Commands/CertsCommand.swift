internal import PushCrypto
internal import PushJSON
internal import PushServer

enum CertsCommand {
    private static let runtimes: [(name: String, runtime: TrustInstructions.Runtime)] = [
        ("python", .python), ("node", .node), ("java", .java), ("go", .go), ("curl", .curl), ("system", .debian),
    ]

    private static let runtime = Option.value(
        "runtime", .choice(runtimes.map(\.name)), "Only for this runtime; all of them otherwise.")

    static let declaration: Command = Command(
        name: "certs",
        summary: "makes the local authority, certificates and signing keys",
        discussion: [
            "They are made in the data directory, as far as they are missing or run out; 'serve' does the same when it "
                + "starts. Prints where they are. The private keys stay readable for their owner only."
        ],
        options: [CommonOption.data.declaration],
        commonOptions: CommonOption.printing,
        examples: [.init("localpush certs --data /srv/push", "Prepare a directory before the first start.")],
        subcommands: [trust, ClientCertificateCommand.declaration, SigningKeyCommand.declaration],
        run: runMake)

    private static let trust: Command = Command(
        name: "trust",
        summary: "prints how to trust the local authority, for each runtime",
        discussion: [
            "The server's certificate is signed by an authority that is made in the data directory when the server "
                + "first starts. Clients that check certificates, as they should, must be told to trust it."
        ],
        options: [CommonOption.data.declaration, runtime.declaration],
        commonOptions: CommonOption.printing,
        examples: [
            .init("localpush certs trust --runtime node", "For a provider on Node."),
            .init("localpush certs trust --data /srv/push --json", "All recipes, for a script."),
        ],
        run: runTrust)

    private static func runMake(_ arguments: Arguments) throws -> ExitCode {
        let identity: LocalIdentity
        do throws(IdentityError) {
            identity = try LocalIdentity.open(
                directory: arguments[CommonOption.data], now: LocalClock.wallMilliseconds / 1000)
        } catch {
            throw CommandFailure(TextQuote.plain(error.description))
        }
        let server = try Certificate(pem: identity.serverChain)
        if arguments[CommonOption.json] {
            Terminal.outLine(
                JSONText.line([
                    "ca": .string(identity.authorityPath), "caNotAfter": .int(identity.authority.notAfter * 1000),
                    "serverNotAfter": .int(server.notAfter * 1000),
                    "serverNames": .array(server.subjectAlternativeNames.map { .string($0) }),
                    "key": [
                        "id": .string(LocalIdentity.keyID), "team": .string(LocalIdentity.teamID),
                        "path": .string(identity.providerKeyPath),
                    ],
                ]))
            return .done
        }
        let lines = TextFields.lines([
            ("authority", "\(identity.authorityPath), until \(LocalClock.iso(identity.authority.notAfter * 1000))"),
            (
                "server certificate",
                "for \(server.subjectAlternativeNames.count) names, until \(LocalClock.iso(server.notAfter * 1000))"
            ),
            ("signing key", "\(identity.providerKeyPath), id \(LocalIdentity.keyID), team \(LocalIdentity.teamID)"),
        ])
        for line in lines { Terminal.outLine(line) }
        return .done
    }

    private static func runTrust(_ arguments: Arguments) throws -> ExitCode {
        let ca = Files.absolute(Files.join(arguments[CommonOption.data], "ca.pem"))
        guard Files.exists(ca) else {
            throw CommandFailure(
                "there is no \(TextQuote.plain(ca))",
                remedy: "'localpush certs' makes it; --data names another directory")
        }
        let wanted = arguments[runtime]
        let chosen = runtimes.filter { wanted == nil || wanted == $0.name }
        if arguments[CommonOption.json] {
            let recipes = chosen.map { entry -> JSONValue in
                [
                    "runtime": .string(entry.name),
                    "text": .string(TrustInstructions.lines(for: entry.runtime, caPath: ca)),
                ]
            }
            Terminal.outLine(JSONText.line(["ca": .string(ca), "recipes": .array(recipes)]))
        } else {
            let parts = chosen.map { "\($0.name):\n\(TrustInstructions.lines(for: $0.runtime, caPath: ca))" }
            Terminal.out(parts.joined(separator: "\n"))
        }
        return .done
    }
}
