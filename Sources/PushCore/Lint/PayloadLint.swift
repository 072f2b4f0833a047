internal import PushJSON

/// Reads a push for what APNs accepts and a device ignores or takes differently. Pure, and for people who look at a
/// push: nothing here runs while pushes are received.
///
/// Its files: `+Headers`, `+Aps`, `+Alert` and `+LiveActivity`, each for what its name says.
package struct PayloadLint {
    /// More are not told: nobody reads on, and a payload can hold a thousand unknown keys.
    package static let warningsMax = 50
    /// A name longer than this is cut in what is told.
    static let nameCharactersMax = 64
    /// Fewer bytes left than this are told: one more sentence in the alert may go over the limit.
    package static let bytesLeftMin = 256

    let subject: LintSubject
    private(set) var warnings: [LintWarning] = []

    private init(_ subject: LintSubject) { self.subject = subject }

    /// What is to be said about the push, headers first; empty when all is well.
    package static func warnings(_ subject: LintSubject) -> [LintWarning] {
        var lint = PayloadLint(subject)
        lint.checkHeaders()
        lint.checkPayload()
        return lint.warnings
    }

    mutating func warn(_ path: String, _ message: String) {
        guard warnings.count < Self.warningsMax else { return }
        warnings.append(LintWarning(path, message))
    }

    static func path(_ parent: String, _ name: String) -> String {
        let cut = name.count > nameCharactersMax ? "\(name.prefix(nameCharactersMax))…" : name
        let shown = cut.isEmpty ? "\"\"" : cut
        return parent.isEmpty ? shown : "\(parent).\(shown)"
    }

    private mutating func checkPayload() {
        let left = subject.payloadBytesMax - subject.payloadBytes
        if left < 0 {
            warn("payload", "has \(-left) bytes more than the \(subject.payloadBytesMax) that APNs takes.")
        } else if left < Self.bytesLeftMin {
            warn("payload", "leaves \(left) of \(subject.payloadBytesMax) bytes: a longer text will not fit.")
        }
        guard let payload = subject.payload else {
            warn("payload", "is not JSON, and no app can read it.")
            return
        }
        guard let members = payload.objectValue else {
            warn("payload", "must be a dictionary at the top, not \(Self.kind(payload)).")
            return
        }
        checkDuplicates(payload, path: "")
        if subject.effectiveType == .mdm {
            if payload["mdm"]?.stringValue == nil { warn("mdm", "must hold the push magic of the device as text.") }
            return
        }
        checkStrays(members)
        guard let aps = payload["aps"] else {
            if payload["mdm"] == nil {
                warn("aps", "is missing: devices show nothing, which is right for Wallet passes only.")
            }
            return
        }
        guard aps.objectValue != nil else {
            warn("aps", "must be a dictionary, not \(Self.kind(aps)).")
            return
        }
        checkAps(aps)
    }

    /// Names that stand twice: readers differ in which one they take.
    private mutating func checkDuplicates(_ value: JSONValue, path: String) {
        guard warnings.count < Self.warningsMax else { return }
        switch value {
        case .object(let members):
            var seen: Set<String> = []
            var told: Set<String> = []
            for member in members {
                let place = Self.path(path, member.name)
                if !seen.insert(member.name).inserted && told.insert(member.name).inserted {
                    warn(place, "stands more than once in the same dictionary, and readers differ in which they take.")
                }
                checkDuplicates(member.value, path: place)
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() { checkDuplicates(element, path: "\(path)[\(index)]") }
        default: return
        }
    }

    /// Keys that belong inside `aps` and stand beside it, where they are custom data.
    private mutating func checkStrays(_ members: [JSONMember]) {
        let telling: Set = [
            "alert", "badge", "sound", "content-available", "mutable-content", "thread-id", "interruption-level",
            "content-state", "content-changed",
        ]
        for member in members where telling.contains(member.name) {
            warn(member.name, "stands beside aps, where it is custom data; the system reads it inside aps only.")
        }
    }

    /// What a value is, as the end of a sentence.
    static func kind(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "a Boolean"
        case .int, .double: "a number"
        case .string: "text"
        case .array: "an array"
        case .object: "a dictionary"
        }
    }
}
