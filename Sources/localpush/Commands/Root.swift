/// The program itself: all commands.
enum Root {
    static let declaration: Command = Command(
        name: "localpush",
        summary: "a whole push service on this machine",
        discussion: [
            "Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the answer is no "
                + "(rejected, timed out, not found), 2 the command line is wrong, 3 the server cannot be reached."
        ],
        commonOptions: [version.declaration, CommonOption.help.declaration],
        subcommands: [
            ServeCommand.declaration, PhoneCommand.declaration, DevicesCommand.declaration, SendCommand.declaration,
            ChannelsCommand.declaration,
            WaitCommand.declaration,
            PushesCommand.declaration, ExplainCommand.declaration, CertsCommand.declaration, DoctorCommand.declaration,
            CompletionsCommand.declaration, HelpCommand.declaration,
        ],
        topics: [SettingsTopic.declaration])

    static let version = Option.flag("version", "Print the version.")
}

/// Declared for help and completions; the parser answers it itself.
enum HelpCommand {
    static let declaration: Command = Command(
        name: "help",
        summary: "explains a command, with examples",
        operands: [
            .one(
                "COMMAND", .text("COMMAND"), isRequired: false, "One or two words, as in 'devices list', or 'settings'."
            )
        ],
        commonOptions: CommonOption.plain,
        examples: [.init("localpush help send", "What 'send' can do.")],
        run: { _ in .done })
}
