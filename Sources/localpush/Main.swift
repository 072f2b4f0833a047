import Glibc
internal import PushServer

@main
struct Main {
    static func main() {
        // A reader that went away is seen as EPIPE where we write.
        _ = signal(SIGPIPE, SIG_IGN)
        TerminationSignal.unblock()
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    static func run(_ words: [String]) -> ExitCode {
        let parser = ArgumentParser(root: Root.declaration, environment: Environment.read())
        var title = "localpush"
        do {
            switch try parser.parse(words) {
            case .version:
                Terminal.outLine("localpush \(LocalPushVersion.number)")
                return .done
            case .help(let path):
                Terminal.out(HelpText.text(for: path, in: Root.declaration))
                return .done
            case .topic(let topic):
                Terminal.out(topic.text())
                return .done
            case .run(let command, let arguments, let path):
                title = (["localpush"] + path).joined(separator: " ")
                guard let run = command.run else { preconditionFailure("the parser returns commands that run") }
                return try run(arguments)
            }
        } catch let failure as CommandFailure {
            if !failure.path.isEmpty { title = (["localpush"] + failure.path).joined(separator: " ") }
            Terminal.errorLine("\(title): \(failure)")
            if failure.exitCode == .usage { Terminal.errorLine("'\(title) --help' tells more.") }
            return failure.exitCode
        } catch {
            Terminal.errorLine("\(title): \(error)")
            return .no
        }
    }
}
