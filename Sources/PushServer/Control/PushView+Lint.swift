import PushCore
import PushJSON
import PushStore

extension PushView {
    /// The push with all there is to say about it: what `json` has, and the linter's warnings.
    func detailedJSON(parser: JSONParser) -> JSONValue {
        guard case .object(var members) = json(parser: parser) else { preconditionFailure("a push is an object") }
        let warnings = warnings(parser: parser).map { warning -> JSONValue in
            ["path": .string(warning.path), "message": .string(warning.message)]
        }
        members.append(JSONMember("warnings", .array(warnings)))
        return .object(members)
    }

    /// What a device would not do as the sender meant it. A push that was refused has a reason instead, and of its
    /// headers only what gave offence was kept.
    private func warnings(parser: JSONParser) -> [LintWarning] {
        let record = push.record
        guard record.reason == nil else { return [] }
        var subject = LintSubject(
            payload: try? parser.parse(push.payload.span), payloadBytes: push.payload.count, receivedAt: record.at)
        subject.pushType = record.pushType
        subject.isBroadcast = record.broadcast != nil
        if let topic = record.topic { subject.suffix = TopicSuffix.split(topic).suffix }
        subject.priority = record.priority
        subject.expiration = record.expiration
        return PayloadLint.warnings(subject)
    }
}
