enum CompletionsCommand {
    static let declaration: Command = Command(
        name: "completions",
        summary: "prints the completion script for a shell",
        operands: [.one("SHELL", .choice(Completions.shells), "The shell: bash, zsh or fish.")],
        commonOptions: CommonOption.plain,
        examples: [
            .init("source <(localpush completions bash)", "Complete in this bash."),
            .init("localpush completions zsh > ~/.zsh/functions/_localpush", "Install for zsh."),
            .init(
                "localpush completions fish > ~/.config/fish/completions/localpush.fish", "Install for fish."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) -> ExitCode {
        Terminal.out(Completions.script(for: arguments.operands[0], root: Root.declaration))
        return .done
    }
}
