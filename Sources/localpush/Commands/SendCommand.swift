internal import PushJSON
internal import PushProvider
internal import PushReactor

enum SendCommand {
    private static let app = Option.value("app", .text("BUNDLE"), default: "com.example.app", "The app to send to.")
    private static let token = Option.value(
        "token", .text("TOKEN"), "The device token; otherwise that of the newest device with the app.")
    private static let channel = Option.value(
        "channel", .text("ID"), "Broadcast to the devices that listen to this channel, in place of one device.")
    private static let title = Option.value("title", .anyText("TEXT"), "Title of the alert.")
    private static let body = Option.value("body", .anyText("TEXT"), "Text of the alert.")
    private static let payload = Option.value(
        "payload", .file("FILE"), "Send these bytes as they are; - reads standard input.")
    private static let pushType = Option.value(
        "push-type",
        .choice(
            [
                "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity",
                "pushtotalk", "widgets", "controls",
            ], placeholder: "KIND"), default: "alert", "The kind of push; the topic follows from it.")
    private static let topic = Option.value(
        "topic", .text("TOPIC"), "A topic that does not follow from app and push type.")
    private static let priority = Option.value("priority", .choice(["1", "5", "10"]), "How urgent it is.")
    private static let expiration = Option.value(
        "expiration", .expiration, "Until when the server may keep it: unix seconds, or a time from now; 0 tries once.")
    private static let collapseID = Option.value(
        "collapse-id", .text("ID"), "A later push with the same id replaces it.")
    private static let count = Option.value("count", .integer("N", 1...10_000_000), default: "1", "How many.")
    private static let rate = Option.value(
        "rate", .positiveNumber("R"), "So many a second; otherwise as fast as possible.")
    private static let via = Option.value(
        "via", .choice(["apns", "getui", "jpush"]), default: "apns", "The provider surface to send through.")

    static let declaration: Command = Command(
        name: "send",
        summary: "sends a push through the provider surface, as a back end would",
        discussion: [
            "Asks the server for its ports, authority and signing key, and sends over HTTP/2. Prints a line for each push: "
                + "its id, the status and the reason. The exit code is 1 if any was not accepted."
        ],
        options: [
            app.declaration, token.declaration, channel.declaration, title.declaration, body.declaration,
            payload.declaration,
            pushType.declaration, topic.declaration, priority.declaration, expiration.declaration,
            collapseID.declaration, count.declaration, rate.declaration, via.declaration,
        ],
        commonOptions: CommonOption.client,
        examples: [
            .init("localpush send --title Hello", "To the newest device with the default app."),
            .init(
                "localpush send --app com.example.shop --payload push.json --expiration 1h", "A payload of your own."),
            .init("localpush send --channel ID --payload update.json", "To all that listen to a channel."),
            .init("localpush send --count 10000 --rate 500 --json", "Load, at a steady pace."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments[via] == "apns" else {
            throw CommandFailure("this server has no \(arguments[via]) surface yet", remedy: "send with --via apns")
        }
        var draft = PushDraft()
        draft.app = arguments[app]
        draft.topic = arguments[topic]
        draft.pushType = arguments[pushType]
        draft.title = arguments[title]
        draft.body = arguments[body]
        if let file = arguments[payload] {
            if draft.title != nil || draft.body != nil {
                throw CommandFailure.usage(
                    "--payload goes without --title and --body", remedy: "put them into the file")
            }
            draft.payload = try Files.read(file)
        }
        let client = try ControlClient(arguments)
        let info = try client.info()
        let plan = SendSession.Plan(
            configuration: try configuration(info), message: try message(draft, client, arguments),
            count: arguments[count],
            rate: arguments[rate], report: report(isJSON: arguments[CommonOption.json]))
        let start = LocalClock.wallMilliseconds
        let tally = try SendSession(loop: EventLoop(), plan: plan).run()
        if plan.count > 1 { Terminal.errorLine(tally.text(milliseconds: LocalClock.wallMilliseconds - start)) }
        return tally.accepted == plan.count ? .done : .no
    }

    private static func message(
        _ draft: PushDraft, _ client: ControlClient, _ arguments: Arguments
    ) throws(CommandFailure) -> SendSession.Message {
        guard let channel = arguments[channel] else {
            if let token = arguments[token] { return .push(notification(draft, arguments), token: token) }
            return .push(notification(draft, arguments), token: try newestToken(client, app: draft.app))
        }
        if arguments[token] != nil || arguments[topic] != nil || arguments[collapseID] != nil {
            throw .usage("--channel goes without --token, --topic and --collapse-id")
        }
        var draft = draft
        draft.pushType = "liveactivity"
        return .broadcast(
            .broadcast(
                app: draft.app, channel: channel, payload: draft.resolvedPayload,
                priority: priority(arguments) ?? .immediate, expirationSeconds: expiration(arguments) ?? 0))
    }

    private static func priority(_ arguments: Arguments) -> APNsNotification.Priority? {
        arguments[priority].flatMap { Int($0) }.flatMap { APNsNotification.Priority(rawValue: $0) }
    }

    private static func expiration(_ arguments: Arguments) -> Int64? {
        arguments[expiration]?.seconds(nowMilliseconds: LocalClock.wallMilliseconds)
    }

    static func configuration(_ info: ServerInfo) throws(CommandFailure) -> APNsConfiguration {
        let credentials = APNsConfiguration.TokenCredentials(
            privateKeyPEM: try Files.requiredText(info.keyPath), keyID: info.keyID, teamID: info.teamID)
        return APNsConfiguration(
            host: info.apns.host, port: info.apns.port, trust: .authorities(pem: try Files.requiredText(info.ca)),
            credentials: credentials)
    }

    private static func notification(_ draft: PushDraft, _ arguments: Arguments) -> APNsNotification {
        APNsNotification(
            payload: draft.resolvedPayload, topic: draft.resolvedTopic,
            pushType: draft.pushType.map { APNsNotification.PushType(rawValue: $0) },
            priority: arguments[priority].flatMap { Int($0) }.flatMap { APNsNotification.Priority(rawValue: $0) },
            expirationSeconds: arguments[expiration]?.seconds(nowMilliseconds: LocalClock.wallMilliseconds),
            collapseID: arguments[collapseID])
    }

    private static func newestToken(_ client: ControlClient, app: String) throws(CommandFailure) -> String {
        let devices = DeviceSelection.devices(try client.value(ControlRequest("GET", "devices")))
        if let token = DeviceSelection.newestToken(devices, app: app) { return token }
        if !DeviceSelection.filter(devices, app: app).isEmpty {
            throw CommandFailure(
                "\(TextQuote.plain(app)) is no longer registered on any device, or its tokens have expired",
                remedy: "name a --token to see what a provider is told; 'localpush devices list' has them")
        }
        throw CommandFailure(
            "no device has \(TextQuote.plain(app))", remedy: "start one with 'localpush phone', or name a --token")
    }

    private static func report(isJSON: Bool) -> (SendResult) -> Void {
        { result in
            Terminal.outLine(isJSON ? JSONText.line(result.json) : result.line(time: LocalClock.iso))
        }
    }
}
