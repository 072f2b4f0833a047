internal import PushReactor
internal import PushServer

enum ServeCommand {
    private static let readyFile = Option.value(
        "ready-file", .file(), "Write the ready line here too; the file is gone before and after.")

    static let declaration: Command = Command(
        name: "serve",
        summary: "runs the server until it is interrupted",
        discussion: [
            "Prints one line of JSON on standard output when every port is open: where each surface listens, the "
                + "authority to trust and a key to sign with. Logs go to standard error. SIGINT and SIGTERM end it in "
                + "order: what was accepted is answered and stored; a second one ends it at once.",
            "How strict it is says --profile; single rules are set with --set, and 'localpush help settings' lists them "
                + "with their defaults.",
        ],
        options: ServeOptions.declarations + [readyFile.declaration],
        commonOptions: CommonOption.plain,
        examples: [
            .init("localpush serve", "On the default ports, with its state in .localpush."),
            .init(
                "localpush serve --ephemeral --apns-port 0 --broadcast-ports 0,0 --courier-port 0 --http-port 0",
                "For one test run, on free ports."),
            .init(
                "localpush serve --profile ideal --set auth.trustAnyKey=on",
                "Every push is kept, and one more rule is changed."),
            .init("localpush serve --durability disk --data /srv/push", "An accepted push survives a power cut."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) throws -> ExitCode {
        let configuration = try ServeOptions.configuration(arguments)
        let file = arguments[readyFile]
        MachineSurvey.raiseFileLimit()
        if let file { Files.remove(file) }
        // Before the ready line: whoever reads it may interrupt us at once.
        let ending = try ServerEnding()
        let server: LocalPushServer
        do {
            server = try LocalPushServer.start(configuration) { Terminal.errorLine("localpush: \($0)") }
        } catch {
            throw CommandFailure(TextQuote.plain("\(error)"))
        }
        let line = JSONText.line(server.ready.json) + "\n"
        if let file { try Files.replace(file, with: line) }
        Terminal.out(line)
        ending.wait(toStop: server)
        if let file { Files.remove(file) }
        return .done
    }
}

/// Listens for the signals that ask the process to end. Bound to the thread that makes it.
private final class ServerEnding {
    private let loop: EventLoop
    private var server: LocalPushServer?
    private var stopped: Inbox<Void>?
    private var isStopping = false

    /// From here on a signal does not kill the process.
    init() throws {
        loop = try EventLoop()
        stopped = Inbox<Void>(loop: loop) { [unowned self] in loop.stop() }
        for signal in TerminationSignal.all { loop.onSignal(signal) { [unowned self] in signalled() } }
    }

    /// Returns when a signal has come and the server has stopped.
    func wait(toStop server: LocalPushServer) {
        self.server = server
        withExtendedLifetime(self) { loop.run() }
    }

    private func signalled() {
        if isStopping { TerminationSignal.exitAtOnce() }
        guard let server, let stopped else { preconditionFailure("the loop runs when there is a server") }
        isStopping = true
        Task {
            await server.stop()
            stopped.post(())
        }
    }
}
