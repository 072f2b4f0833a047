/// Rows in columns for people; machines take `--json`.
struct TextTable {
    private let header: [String]
    private var rows: [[String]] = []

    init(_ header: [String]) { self.header = header }

    var isEmpty: Bool { rows.isEmpty }

    /// Cells may hold anything; control characters come out visible.
    mutating func append(_ row: [String]) {
        precondition(row.count == header.count, "a row has one cell for each column")
        rows.append(row.map { TextQuote.plain($0) })
    }

    /// Two blanks between columns, none at the end of a line.
    var text: String {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        let lines = all.map { row in
            var line = ""
            var gap = 0
            for (cell, width) in zip(row, widths) where !(cell.isEmpty && width == 0) {
                if !cell.isEmpty { line += String(repeating: " ", count: gap) + cell }
                gap = cell.isEmpty ? gap + width + 2 : width - cell.count + 2
            }
            return line
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
