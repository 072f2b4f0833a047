internal import PushCrypto
internal import PushJSON
internal import PushServer

/// `certs client`
enum ClientCertificateCommand {
    private static let bundle = Option.value("bundle", .bundle, "The app it is for. Required.")
    private static let environment = Option.value(
        "environment", .choice(["sandbox", "production", "both"]), default: "both",
        "Where it may be used. Where it may not, the server ends the connection.")
    private static let topics = Option.value(
        "topics", .topics,
        "The topics it lists, instead of the app's bundle id alone. With several, pushes must name their apns-topic.")
    private static let voip = Option.flag(
        "voip", "Make a VoIP certificate: the app's .voip topic is one of its topics.")
    private static let out = Option.value(
        "out", .file("PREFIX"), "Write PREFIX.pem, the certificate, and PREFIX.key. Required; neither may exist.")

    static let declaration: Command = Command(
        name: "client",
        summary: "makes a client certificate for providers that use one in place of tokens",
        discussion: [
            "It is like the ones Apple gives out, but signed by the local authority, so that only a LocalPush with the "
                + "same data directory takes it. A connection with a certificate needs no authorization header, and one "
                + "that is sent is not looked at."
        ],
        options: [
            bundle.declaration, environment.declaration, topics.declaration, voip.declaration, out.declaration,
            CommonOption.data.declaration,
        ],
        commonOptions: CommonOption.printing,
        examples: [
            .init("localpush certs client --bundle com.example.app --out push", "push.pem and push.key, for one app."),
            .init(
                "localpush certs client --bundle a.b --topics a.b,a.b.complication --out push",
                "For two topics: pushes name theirs."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) throws -> ExitCode {
        guard let bundle = arguments[bundle] else { throw CommandFailure.usage("--bundle is missing") }
        guard let prefix = arguments[out] else { throw CommandFailure.usage("--out is missing") }
        var purpose = PushExtensions(bundle: bundle)
        purpose.isForDevelopment = arguments[environment] != "production"
        purpose.isForProduction = arguments[environment] != "sandbox"
        purpose.isForVoIP = arguments[voip]
        purpose.listed = arguments[topics].map { $0.map { PushExtensions.Topic($0) } }
        let made: (certificate: Certificate, key: ES256PrivateKey)
        do throws(IdentityError) {
            made = try LocalIdentity.issueClient(
                directory: arguments[CommonOption.data], purpose: purpose, now: LocalClock.wallMilliseconds / 1000)
        } catch {
            throw CommandFailure(TextQuote.plain(error.description))
        }
        let paths = (certificate: prefix + ".pem", key: prefix + ".key")
        try Files.create(paths.key, made.key.pem, isSecret: true)
        do throws(CommandFailure) {
            try Files.create(paths.certificate, made.certificate.pem, isSecret: false)
        } catch {
            Files.remove(paths.key)
            throw error
        }
        let notAfter = made.certificate.notAfter * 1000
        if arguments[CommonOption.json] {
            Terminal.outLine(
                JSONText.line([
                    "certificate": .string(Files.absolute(paths.certificate)),
                    "key": .string(Files.absolute(paths.key)),
                    "environment": .string(arguments[environment]),
                    "topics": .array(purpose.topics.map { .string($0) }), "notAfter": .int(notAfter),
                ]))
            return .done
        }
        let lines = TextFields.lines([
            ("certificate", "\(paths.certificate), until \(LocalClock.iso(notAfter))"), ("key", paths.key),
            ("environment", arguments[environment]), ("topics", purpose.topics.joined(separator: ", ")),
        ])
        for line in lines { Terminal.outLine(line) }
        return .done
    }
}
