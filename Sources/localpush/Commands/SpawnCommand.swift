internal import PushCrypto
internal import PushReactor

/// `devices spawn`
enum SpawnCommand {
    private static let behaviour = Option.value(
        "behaviour", .choice(["steady", "flaky"]), default: "steady",
        "A flaky device loses its connection every five seconds or so.")
    private static let seed = Option.value(
        "seed", .seed("N"), "Repeat the cuts of an earlier run; printed at the start.")
    private static let count = Option.value(
        "count", .integer("N", 1...1_000_000_000), "End after so many messages on all devices together.")
    private static let exitAfter = Option.value("exit-after", .duration, "End after this time.")

    static let declaration: Command = Command(
        name: "spawn",
        summary: "runs many simulated devices in this process, for load",
        discussion: [
            "Prints a line with the counts whenever they change, at most once a second. The devices keep nothing; they "
                + "end with the process."
        ],
        operands: [.one("N", .integer("N", 1...100_000), "How many devices.")],
        options: [
            CourierOptions.app.declaration, behaviour.declaration, seed.declaration, count.declaration,
            exitAfter.declaration,
        ] + CourierOptions.declarations,
        commonOptions: CommonOption.client,
        examples: [
            .init("localpush devices spawn 1000", "A thousand phones with the default app."),
            .init("localpush devices spawn 50 --behaviour flaky --exit-after 1m", "Fifty on a bad network."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) throws -> ExitCode {
        guard let devices = Int(arguments.operands[0]) else { preconditionFailure("the parser has checked the number") }
        let target = try CourierOptions.target(arguments)
        MachineSurvey.raiseFileLimit()
        let isJSON = arguments[CommonOption.json]
        let seed = arguments[seed] ?? SecureRandom.seed()
        Terminal.errorLine("seed \(seed)")
        let plan = DeviceFarm.Plan(
            target: target, app: arguments[CourierOptions.app], devices: devices,
            isFlaky: arguments[behaviour] == "flaky", seed: seed, messagesMax: arguments[count],
            exitAfter: arguments[exitAfter]
        ) { tally in
            let now = LocalClock.wallMilliseconds
            Terminal.outLine(
                isJSON ? JSONText.line(tally.json(at: now)) : "\(LocalClock.local(now))  \(tally.text)")
        }
        return try DeviceFarm(loop: EventLoop(), plan: plan).run()
    }
}
