internal import PushJSON

enum WaitCommand {
    private static let push = Option.value("push", .text("ID"), "The push with this id (apns-id).")
    private static let token = Option.value("token", .text("TOKEN"), "Pushes to this token.")
    private static let app = Option.value("app", .text("BUNDLE"), "Pushes to this app.")
    private static let match = Option.list(
        "match", .text("PATH=VALUE"), "Only if the payload has this value there, as in aps.alert.title=Hello.")
    private static let state = Option.value(
        "state", .text("STATE"), default: "acknowledged", "How far they must have come.")
    private static let count = Option.value("count", .integer("N", 1...1000), default: "1", "How many.")
    private static let timeout = Option.value("timeout", .duration, default: "5s", "Longest time to wait.")

    static let declaration: Command = Command(
        name: "wait",
        summary: "waits until a push has come as far as asked for",
        discussion: [
            "Counts what has happened already. If it does not happen in time, or cannot happen any more, prints why and "
                + "the push that came nearest; the exit code is then 1."
        ],
        options: [
            push.declaration, token.declaration, app.declaration, match.declaration, state.declaration,
            count.declaration, timeout.declaration,
        ],
        commonOptions: CommonOption.client,
        examples: [
            .init("localpush wait --app com.example.app", "Has any push arrived?"),
            .init(
                "localpush wait --app com.example.app --match aps.alert.title=Hello --count 2 --timeout 10s",
                "Two pushes with this title."),
            .init("localpush wait --push 6F1A3C1E-0000-0000-0000-000000000000 --state sent", "One push by its id."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.has(push) || arguments.has(token) || arguments.has(app) || arguments.has(match)
        else {
            throw CommandFailure.usage("it is not said what to wait for: --push, --token, --app or --match")
        }
        for condition in arguments[match] where !condition.contains("=") {
            throw CommandFailure.usage("--match takes PATH=VALUE, not \(TextQuote.quoted(condition))")
        }
        var request = ControlRequest("GET", "wait")
        request.ask("push", arguments[push])
        request.ask("token", arguments[token])
        request.ask("app", arguments[app])
        for condition in arguments[match] { request.ask("match", condition) }
        request.ask("state", arguments[state])
        request.ask("count", String(arguments[count]))
        request.ask("timeout", DurationText.text(arguments[timeout]))
        request.timeout = arguments[timeout] + .seconds(10)
        let reply = try ControlClient(arguments).call(request)
        guard reply.isSuccess || reply.status == 408 else { throw reply.failure }
        let text = WaitText(pushes: PushText(time: LocalClock.local))
        if arguments[CommonOption.json] {
            Terminal.outLine(JSONText.line(reply.body))
        } else if reply.isSuccess {
            Terminal.out(text.deliveries(reply.body))
        } else {
            Terminal.out(text.miss(reply.body))
        }
        return reply.isSuccess ? .done : .no
    }
}
