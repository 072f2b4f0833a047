/// Breaks prose into lines.
enum TextWrap {
    /// At least one line; a word longer than `columns` gets a line of its own.
    static func wrap(_ text: String, columns: Int) -> [String] {
        precondition(columns > 0, "a line has room for something")
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if line.isEmpty {
                line = String(word)
            } else if line.count + 1 + word.count <= columns {
                line += " \(word)"
            } else {
                lines.append(line)
                line = String(word)
            }
        }
        lines.append(line)
        return lines
    }
}

/// Text that strangers wrote, made safe for a terminal: control characters become visible escapes.
enum TextQuote {
    static func plain(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars { safe += isHarmless(scalar) ? String(scalar) : escape(scalar) }
        return safe
    }

    static func quoted(_ text: String) -> String { "'\(plain(text))'" }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            // Zero-width joiner and variation selectors belong to emoji.
            scalar.value == 0x200D
        default: true
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\t": "\\t"
        case "\r": "\\r"
        default: "\\u{\(String(scalar.value, radix: 16))}"
        }
    }
}
