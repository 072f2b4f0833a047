internal import PushBytes
internal import PushCore
internal import PushJSON

/// Rows of the table of reasons, for people and for machines.
enum ReasonText {
    private static let columns = 78

    /// All about one reason.
    static func page(_ row: ReasonGuide) -> String {
        let fields = [
            ("meaning", row.meaning), ("here", row.here), ("do", row.remedy), ("retry", "\(row.retry.text)."),
            ("on", "\(row.surfaces.text)."), ("source", "\(row.source.text)."),
        ]
        let width = fields.map(\.0.count).max() ?? 0
        let indent = String(repeating: " ", count: width + 2)
        var lines = ["\(row.status) \(row.word)", ""]
        for (name, text) in fields {
            let wrapped = TextWrap.wrap(text, columns: columns)
            lines.append(name + String(repeating: " ", count: width - name.count + 2) + wrapped[0])
            lines += wrapped.dropFirst().map { indent + $0 }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// All reasons, a line each.
    static func table() -> String {
        var table = TextTable(["STATUS", "REASON", "RETRY", "MEANING"])
        for row in ReasonGuide.all { table.append(["\(row.status)", row.word, row.retry.rawValue, row.meaning]) }
        return table.text
    }

    /// All reasons, an array on one line.
    static func jsonLines() -> String {
        JSONText.line(.array(ReasonGuide.all.map(json))) + "\n"
    }

    static func json(_ row: ReasonGuide) -> JSONValue {
        [
            "reason": .string(row.word), "status": .int(Int64(row.status)), "surfaces": .string(row.surfaces.rawValue),
            "meaning": .string(row.meaning), "here": .string(row.here), "remedy": .string(row.remedy),
            "retry": .string(row.retry.rawValue), "source": .string(row.source.rawValue),
        ]
    }

    /// The reason that was probably meant, whatever its letter case.
    static func nearest(_ word: String) -> String? {
        let known = ReasonGuide.all.map { (name: $0.word, folded: $0.word.lowercased()) }
        guard let found = NearestMatch.find(word.lowercased(), in: known.map(\.folded)) else { return nil }
        return known.first { $0.folded == found }?.name
    }
}
