internal import PushJSON

enum PushesCommand {
    static let declaration: Command = Command(
        name: "pushes",
        summary: "tells what providers sent and what became of it",
        commonOptions: CommonOption.plain,
        subcommands: [list, show, tail])

    private static let app = Option.value("app", .text("BUNDLE"), "Only pushes to this app.")
    private static let token = Option.value("token", .text("TOKEN"), "Only pushes to this token.")
    private static let state = Option.value("state", .text("STATE"), "Only pushes in this state.")
    private static let limit = Option.value(
        "limit", .integer("N", 1...1000), default: "20", "So many at most, the newest.")
    private static let follow = Option.flag("follow", letter: "f", "Go on with what happens from now on.")

    private static let list: Command = Command(
        name: "list",
        summary: "lists pushes, the newest last",
        options: [app.declaration, token.declaration, state.declaration, limit.declaration],
        commonOptions: CommonOption.client,
        examples: [
            .init("localpush pushes list", "The last pushes, with a sentence on each."),
            .init("localpush pushes list --state rejected --json", "What was rejected, for a script."),
        ],
        run: runList)

    private static let show: Command = Command(
        name: "show",
        summary: "tells all about one push: headers, payload, life line, and why it did or did not arrive",
        operands: [.one("ID", .text("ID"), "The push's id (apns-id), as 'pushes list' prints it.")],
        commonOptions: CommonOption.client,
        examples: [.init("localpush pushes show 6F1A3C1E-0000-0000-0000-000000000000", "Why did it not arrive?")],
        run: runShow)

    private static let tail: Command = Command(
        name: "tail",
        summary: "prints the last pushes, and with -f each event as it happens",
        options: [follow.declaration, limit.declaration],
        commonOptions: CommonOption.client,
        examples: [.init("localpush pushes tail -f", "Watch everything.")],
        run: runTail)

    private static func runList(_ arguments: Arguments) throws -> ExitCode {
        var request = ControlRequest("GET", "pushes")
        request.ask("app", arguments[app])
        request.ask("token", arguments[token])
        request.ask("state", arguments[state])
        request.ask("limit", String(arguments[limit]))
        let reply = try ControlClient(arguments).value(request)
        if arguments[CommonOption.json] {
            Terminal.outLine(JSONText.line(reply))
        } else {
            Terminal.out(PushText(time: LocalClock.local).table(reply["pushes"]?.arrayValue ?? []))
        }
        return .done
    }

    private static func runShow(_ arguments: Arguments) throws -> ExitCode {
        let push = try ControlClient(arguments).value(ControlRequest("GET", "pushes", arguments.operands[0]))
        if arguments[CommonOption.json] {
            Terminal.outLine(JSONText.line(push))
        } else {
            Terminal.out(PushText(time: LocalClock.iso).page(push))
        }
        return .done
    }

    private static func runTail(_ arguments: Arguments) throws -> ExitCode {
        let client = try ControlClient(arguments)
        let isJSON = arguments[CommonOption.json]
        var request = ControlRequest("GET", "pushes")
        request.ask("limit", String(arguments[limit]))
        let reply = try client.value(request)
        let text = PushText(time: LocalClock.local)
        for push in reply["pushes"]?.arrayValue ?? [] {
            Terminal.outLine(isJSON ? JSONText.line(push) : text.line(push))
        }
        guard arguments[follow] else { return .done }
        var events = ControlRequest("GET", "events")
        events.ask("after", JournalPosition.after(reply).map(String.init))
        try client.follow(events) { event in
            guard let data = try? JSONText.parse(event.data) else { return }
            Terminal.outLine(isJSON ? JSONText.line(data) : text.event(data))
        }
        throw CommandFailure("the server ended the stream", exitCode: .unreachable)
    }
}
