internal import PushCrypto
internal import PushJSON

/// `certs key`
enum SigningKeyCommand {
    private static let keyID = Option.value(
        "key-id", .text("KEY"), "Its id, the kid of tokens; ten characters at Apple. Required.")
    private static let team = Option.value(
        "team", .text("TEAM"), "The team it belongs to, the iss of tokens. Required.")
    private static let topics = Option.value(
        "topics", .topics, "Make a topic-specific key: for these bundle ids, or topics with a suffix, only.")
    private static let related = Option.value(
        "related-key", .text("KEY"), "The key that may follow it on an open connection; for topic-specific keys.")
    private static let environment = Option.value(
        "environment", .choice(["sandbox", "production", "both"]), default: "both", "Where it may be used.")
    private static let out = Option.value(
        "out", .file(), "Write the private key here, as a .p8 file. Required; the file may not exist.")

    static let declaration: Command = Command(
        name: "key",
        summary: "makes a signing key and registers it with the running server",
        discussion: [
            "The server gets the public half only. It keeps the key until it is deleted through the control API, or the "
                + "workspace is reset."
        ],
        options: [
            keyID.declaration, team.declaration, topics.declaration, related.declaration, environment.declaration,
            out.declaration,
        ],
        commonOptions: CommonOption.client,
        examples: [
            .init("localpush certs key --key-id TEAMKEY001 --team LOCALTEAM1 --out key.p8", "For all apps of a team."),
            .init(
                "localpush certs key --key-id APPKEY0001 --team LOCALTEAM1 --topics com.example.app --out app.p8",
                "For one app."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) throws -> ExitCode {
        guard let id = arguments[keyID] else { throw CommandFailure.usage("--key-id is missing") }
        guard let team = arguments[team] else { throw CommandFailure.usage("--team is missing") }
        guard let path = arguments[out] else { throw CommandFailure.usage("--out is missing") }
        let key = try ES256PrivateKey()
        var members: [JSONMember] = [
            JSONMember("id", .string(id)), JSONMember("team", .string(team)),
            JSONMember("pem", .string(key.publicKey.pem)), JSONMember("environment", .string(arguments[environment])),
        ]
        if let topics = arguments[topics] {
            members.append(JSONMember("topics", .array(topics.map { .string($0) })))
        }
        if let related = arguments[related] { members.append(JSONMember("relatedKey", .string(related))) }
        var request = ControlRequest("POST", "keys")
        request.body = .object(members)
        // The file first: a key that is registered and lost would be of no use to anybody.
        try Files.create(path, key.pem, isSecret: true)
        let reply: JSONValue
        do throws(CommandFailure) {
            reply = try register(request, arguments)
        } catch {
            Files.remove(path)
            throw error
        }
        if arguments[CommonOption.json] {
            guard case .object(let shown) = reply else { return .done }
            Terminal.outLine(JSONText.line(.object(shown + [JSONMember("path", .string(Files.absolute(path)))])))
            return .done
        }
        let lines = TextFields.lines([
            ("signing key", "\(path), id \(id), team \(team)"), ("environment", arguments[environment]),
            ("topics", arguments[topics].map { $0.joined(separator: ", ") } ?? "all of the team's"),
            ("related key", arguments[related]),
        ])
        for line in lines { Terminal.outLine(line) }
        return .done
    }

    private static func register(
        _ request: ControlRequest, _ arguments: Arguments
    ) throws(CommandFailure) -> JSONValue {
        let client: ControlClient
        do {
            client = try ControlClient(arguments)
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure("\(error)")
        }
        return try client.value(request)
    }
}
