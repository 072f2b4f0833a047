enum CertsCommand {
    private static let runtime = Option.value(
        "runtime", .choice(TrustText.runtimes), "Only for this runtime; all of them otherwise.")

    static let declaration: Command = Command(
        name: "certs",
        summary: "deals with the local authority and the certificates it signed",
        commonOptions: CommonOption.plain,
        subcommands: [trust])

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

    private static func runTrust(_ arguments: Arguments) throws -> ExitCode {
        let ca = Files.absolute(Files.join(arguments[CommonOption.data], "ca.pem"))
        guard Files.exists(ca) else {
            throw CommandFailure(
                "there is no \(TextQuote.plain(ca))",
                remedy: "'localpush serve' makes it when it first starts; --data names another directory")
        }
        let wanted = arguments[runtime]
        let recipes = TrustText.recipes(ca: ca).filter { wanted == nil || wanted == $0.runtime }
        if arguments[CommonOption.json] {
            Terminal.outLine(JSONText.line(TrustText.json(recipes, ca: ca)))
        } else {
            Terminal.out(TrustText.text(recipes))
        }
        return .done
    }
}
