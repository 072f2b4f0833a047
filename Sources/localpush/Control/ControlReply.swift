internal import PushJSON

/// What the control API answered.
struct ControlReply: Sendable {
    let status: Int
    let body: JSONValue

    var isSuccess: Bool { (200...299).contains(status) }

    /// The body of a success; a failure is thrown as what the server said.
    func value() throws(CommandFailure) -> JSONValue {
        if isSuccess { return body }
        throw failure
    }

    var failure: CommandFailure {
        let message = body[path: "error.message"]?.stringValue ?? "the server answered \(status)"
        if status == 401 {
            return CommandFailure(
                TextQuote.plain(message), remedy: "give its token with --control-token or LOCALPUSH_CONTROL_TOKEN")
        }
        return CommandFailure(
            TextQuote.plain(message), remedy: body[path: "error.hint"]?.stringValue.map { TextQuote.plain($0) },
            exitCode: status == 400 ? .usage : .no)
    }
}
