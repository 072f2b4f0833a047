internal import PushJSON

/// The answer of `wait`, for people.
struct WaitText {
    let pushes: PushText

    /// One line for each.
    func deliveries(_ body: JSONValue) -> String {
        (body["deliveries"]?.arrayValue ?? []).map { pushes.line($0) + "\n" }.joined()
    }

    /// Why not, and the push that came nearest.
    func miss(_ body: JSONValue) -> String {
        let failure = ControlReply(status: 408, body: body).failure
        var lines = ["\(failure)"]
        if let nearest = body["nearest"], !nearest.isNull { lines.append("nearest: \(pushes.line(nearest))") }
        return lines.joined(separator: "\n") + "\n"
    }
}
