internal import PushJSON

/// The doctor's findings, for people and for machines.
enum DoctorText {
    static func text(_ findings: [Finding]) -> String {
        let width = findings.map(\.subject.count).max() ?? 0
        var lines: [String] = []
        for finding in findings {
            let verdict = finding.verdict.rawValue
            let head = verdict + String(repeating: " ", count: 6 - verdict.count)
            let gap = String(repeating: " ", count: width - finding.subject.count + 2)
            lines.append("\(head)\(finding.subject)\(gap)\(finding.message)")
            if let remedy = finding.remedy {
                lines.append("\(String(repeating: " ", count: 6 + width + 2))-> \(remedy)")
            }
        }
        let bad = findings.filter { $0.verdict == .bad }.count
        lines.append(
            bad == 0 ? "All is well." : bad == 1 ? "One thing needs doing." : "\(bad) things need doing.")
        return lines.joined(separator: "\n") + "\n"
    }

    static func json(_ findings: [Finding]) -> JSONValue {
        let rows = findings.map { finding in
            var members = [
                JSONMember("subject", .string(finding.subject)),
                JSONMember("verdict", .string(finding.verdict.rawValue)),
                JSONMember("message", .string(finding.message)),
            ]
            if let remedy = finding.remedy { members.append(JSONMember("remedy", .string(remedy))) }
            return JSONValue.object(members)
        }
        return ["ok": .bool(!findings.contains { $0.verdict == .bad }), "findings": .array(rows)]
    }
}
