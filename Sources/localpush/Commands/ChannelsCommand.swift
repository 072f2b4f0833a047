internal import PushJSON
internal import PushProvider
internal import PushReactor

enum ChannelsCommand {
    static let declaration: Command = Command(
        name: "channels",
        summary: "manages broadcast channels through the provider surface, as a back end would",
        commonOptions: CommonOption.plain,
        subcommands: [create, list, show, delete])

    private static let app = Option.value(
        "app", .bundle, default: "com.example.app", "The app whose channels they are.")
    private static let environment = Option.value(
        "environment", .choice(["sandbox", "production"]),
        "Where the channel lives; otherwise where clients with a local name are.")
    private static let store = Option.flag("store", "Keep the newest broadcast for devices that come later.")

    private static let create: Command = Command(
        name: "create",
        summary: "makes a channel and prints its id",
        options: [app.declaration, environment.declaration, store.declaration],
        commonOptions: CommonOption.client,
        examples: [.init("localpush channels create --store", "One that keeps its newest broadcast.")],
        run: { arguments in try run(.create(app: arguments[app], storesNewest: arguments[store]), arguments) })

    private static let list: Command = Command(
        name: "list",
        summary: "lists the ids of an app's channels",
        options: [app.declaration, environment.declaration],
        commonOptions: CommonOption.client,
        examples: [.init("localpush channels list --app com.example.app", "Which are there?")],
        run: { arguments in try run(.list(app: arguments[app]), arguments) })

    private static let show: Command = Command(
        name: "show",
        summary: "tells whether a channel keeps its newest broadcast",
        operands: [.one("ID", .text("ID"), "The channel's id, as 'channels list' prints it.")],
        options: [app.declaration, environment.declaration],
        commonOptions: CommonOption.client,
        examples: [.init("localpush channels show dHN0LXNyY2gtY2hubA==", "What does it keep?")],
        run: { arguments in try run(.read(app: arguments[app], channel: arguments.operands[0]), arguments) })

    private static let delete: Command = Command(
        name: "delete",
        summary: "deletes a channel; its id never comes back",
        operands: [.one("ID", .text("ID"), "The channel's id, as 'channels list' prints it.")],
        options: [app.declaration, environment.declaration],
        commonOptions: CommonOption.client,
        examples: [.init("localpush channels delete dHN0LXNyY2gtY2hubA==", "Gone for good.")],
        run: { arguments in try run(.delete(app: arguments[app], channel: arguments.operands[0]), arguments) })

    private static func run(_ call: APNsChannelCall, _ arguments: Arguments) throws -> ExitCode {
        let info = try ControlClient(arguments).info()
        let isProduction = (arguments[environment] ?? info.environment) == "production"
        guard let address = isProduction ? info.productionChannels : info.sandboxChannels else {
            throw CommandFailure("the server has no port for channels", remedy: "is it another version of LocalPush?")
        }
        var configuration = try SendCommand.configuration(info)
        configuration.host = address.host
        configuration.port = address.port
        let response = try ask(call, configuration)
        print(response, isJSON: arguments[CommonOption.json])
        return response.isAccepted ? .done : .no
    }

    /// One call from a thread that has no tasks of its own.
    private static func ask(
        _ call: APNsChannelCall, _ configuration: APNsConfiguration
    ) throws -> APNsResponse {
        let loop = try EventLoop()
        let client: APNsClient
        do throws(APNsError) {
            client = try APNsClient(configuration)
        } catch {
            throw CommandFailure(TextQuote.plain(error.message))
        }
        var result: Result<APNsResponse, any Error>?
        let inbox = Inbox<Result<APNsResponse, any Error>>(loop: loop) {
            result = $0
            loop.stop()
        }
        for signal in TerminationSignal.all { loop.onSignal(signal) { loop.stop() } }
        Task {
            let answer: Result<APNsResponse, any Error>
            do {
                answer = .success(try await client.perform(call))
            } catch {
                answer = .failure(error)
            }
            await client.shutdown()
            inbox.post(answer)
        }
        loop.run()
        switch result {
        case .success(let response): return response
        case .failure(let error as APNsError):
            throw CommandFailure(TextQuote.plain(error.message), exitCode: .unreachable)
        case .failure, nil: throw CommandFailure("interrupted")
        }
    }

    private static func print(_ response: APNsResponse, isJSON: Bool) {
        if isJSON {
            Terminal.outLine(
                JSONText.line(
                    JSONText.object([
                        ("status", .int(Int64(response.status))), ("request", response.apnsID.map { .string($0) }),
                        ("reason", response.reason.map { .string($0.rawValue) }),
                        ("channel", response.channelID.map { .string($0) }),
                        ("channels", response.channels.map { .array($0.map { .string($0) }) }),
                        ("storesNewest", response.storesNewest.map { .bool($0) }),
                    ])))
            return
        }
        if let reason = response.reason {
            Terminal.outLine(TextQuote.plain("\(response.status)  \(reason)"))
        } else if let id = response.channelID {
            Terminal.outLine(TextQuote.plain(id))
        } else if let ids = response.channels {
            for id in ids { Terminal.outLine(TextQuote.plain(id)) }
        } else if let storesNewest = response.storesNewest {
            Terminal.outLine(storesNewest ? "keeps the newest broadcast for 8 hours" : "keeps nothing")
        } else {
            Terminal.outLine("deleted")
        }
    }
}
