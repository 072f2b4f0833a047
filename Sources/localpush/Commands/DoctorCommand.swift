enum DoctorCommand {
    private static let host = Option.value(
        "host", .text("ADDRESS"), default: "127.0.0.1", "The IPv4 address on which ports are tried.")

    static let declaration: Command = Command(
        name: "doctor",
        summary: "checks whether the server can run here, and says what to do",
        discussion: [
            "Looks at the default ports and who holds them, the clock, the limit of open files, the data directory, its "
                + "certificates, and the libraries. The exit code is 1 if something needs doing."
        ],
        options: [CommonOption.data.declaration, host.declaration],
        commonOptions: CommonOption.printing,
        examples: [
            .init("localpush doctor", "Check this machine and the data directory in the current directory."),
            .init("localpush doctor --data /srv/push --json", "The same for another directory, for a script."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) -> ExitCode {
        let facts = MachineSurvey.facts(dataDirectory: arguments[CommonOption.data], host: arguments[host])
        let findings = DoctorRules.findings(facts)
        if arguments[CommonOption.json] {
            Terminal.outLine(JSONText.line(DoctorText.json(findings)))
        } else {
            Terminal.out(DoctorText.text(findings))
        }
        return findings.contains { $0.verdict == .bad } ? .no : .done
    }
}
