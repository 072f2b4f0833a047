internal import PushCore

enum ExplainCommand {
    static let declaration: Command = Command(
        name: "explain",
        summary: "tells what a reason of APNs means and what to do about it",
        discussion: [
            "Knows every reason of the provider API and of broadcasts and channels. Without a word it lists them all. "
                + "No server is needed."
        ],
        operands: [
            .one(
                "REASON", .text("REASON"), isRequired: false,
                "The reason as it came in the answer, in any letter case: BadDeviceToken.")
        ],
        commonOptions: CommonOption.printing,
        examples: [
            .init("localpush explain BadDeviceToken", "What is wrong with the token?"),
            .init("localpush explain", "All reasons, with their status."),
            .init("localpush explain TooManyRequests --json", "One row of the table, for a script."),
        ],
        run: run)

    private static func run(_ arguments: Arguments) throws -> ExitCode {
        guard let word = arguments.operands.first else {
            Terminal.out(arguments[CommonOption.json] ? ReasonText.jsonLines() : ReasonText.table())
            return .done
        }
        guard let row = ReasonGuide.row(word) else {
            let guess = ReasonText.nearest(word).map { ", did you mean \($0)?" } ?? ""
            throw CommandFailure(
                "APNs has no reason \(TextQuote.quoted(word))\(guess)", remedy: "'localpush explain' lists all")
        }
        if arguments[CommonOption.json] {
            Terminal.outLine(JSONText.line(ReasonText.json(row)))
        } else {
            Terminal.out(ReasonText.page(row))
        }
        return .done
    }
}
