internal import PushDevice
internal import PushReactor

enum PhoneCommand {
    private static let name = Option.value("name", .text("NAME"), default: "phone", "The device's name.")
    private static let stateDirectory = Option.value(
        "state-dir", .directory,
        "Where the phone keeps its key, token and messages; without it each run is a new phone.")
    private static let count = Option.value(
        "count", .integer("N", 1...1_000_000_000),
        "End after so many messages; the exit code is 1 if the time limit comes first.")
    private static let channels = Option.value(
        "channels", .text("IDS"), "Broadcast channels to subscribe to: ids with commas between them.")
    private static let exitAfter = Option.value("exit-after", .duration, "End after this time.")

    static let declaration: Command = Command(
        name: "phone",
        summary: "is one simulated phone with one app, and prints what happens to it",
        discussion: [
            "Connects like a device, gets a token, and prints each message. Runs until it is interrupted; in a "
                + "terminal, q ends it too. With --json each line is an object, its kind under 'event'."
        ],
        options: [
            CourierOptions.app.declaration, name.declaration, stateDirectory.declaration, channels.declaration,
            count.declaration,
            exitAfter.declaration,
        ] + CourierOptions.declarations,
        commonOptions: CommonOption.client,
        examples: [
            .init("localpush phone", "A phone with the default app, on the server on this machine."),
            .init("localpush phone --app com.example.shop --state-dir ~/phone1", "One that survives a restart."),
            .init("localpush phone --json --count 1 --exit-after 5s", "In a script: wait for one message."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) throws -> ExitCode {
        let target = try CourierOptions.target(arguments)
        var configuration = target.configuration(topics: [arguments[CourierOptions.app]])
        configuration.name = arguments[name]
        configuration.stateDirectory = arguments[stateDirectory]
        let text = PhoneText(isJSON: arguments[CommonOption.json], time: LocalClock.local)
        var plan = PhoneSession.Plan(
            configuration: configuration, messagesMax: arguments[count], exitAfter: arguments[exitAfter], text: text)
        plan.channels = (arguments[channels] ?? "").split(separator: ",").map(String.init)
        return try PhoneSession(loop: EventLoop(), plan: plan).run()
    }
}
