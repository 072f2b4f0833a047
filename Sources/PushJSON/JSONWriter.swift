package import PushBytes

extension JSONValue {
    /// Appends the value without any white space. A number that JSON cannot write (infinite, not a number) becomes
    /// `null`.
    package func write(into queue: inout ByteQueue) {
        JSONWriter(indents: false).write(self, level: 0, into: &queue)
    }

    /// The value as text, without any white space.
    package var text: String { text(indents: false) }

    /// The value as text, two spaces for each level, without a line feed at the end.
    package func pretty() -> String { text(indents: true) }

    private func text(indents: Bool) -> String {
        var queue = ByteQueue()
        JSONWriter(indents: indents).write(self, level: 0, into: &queue)
        return queue.withReadable { String(decoding: $0, as: UTF8.self) }
    }
}

/// Writes values; recursion is as deep as the value.
private struct JSONWriter {
    let indents: Bool

    func write(_ value: JSONValue, level: Int, into queue: inout ByteQueue) {
        switch value {
        case .null: queue.append("null" as StaticString)
        case .bool(let value): queue.append(value ? "true" : "false" as StaticString)
        case .int(let value): queue.append(value.description)
        case .double(let value): queue.append(value.isFinite ? value.description : "null")
        case .string(let text): write(text, into: &queue)
        case .array(let values):
            list(values, "[", "]", level, &queue) { write($0, level: level + 1, into: &$1) }
        case .object(let members):
            list(members, "{", "}", level, &queue) { member, queue in
                write(member.name, into: &queue)
                queue.append(indents ? ": " : ":" as StaticString)
                write(member.value, level: level + 1, into: &queue)
            }
        }
    }

    private func list<Element>(
        _ elements: [Element], _ open: StaticString, _ close: StaticString, _ level: Int, _ queue: inout ByteQueue,
        _ body: (Element, inout ByteQueue) -> Void
    ) {
        queue.append(open)
        var isFirst = true
        for element in elements {
            if !isFirst { queue.append("," as StaticString) }
            isFirst = false
            breakLine(level + 1, &queue)
            body(element, &queue)
        }
        if !isFirst { breakLine(level, &queue) }
        queue.append(close)
    }

    private func breakLine(_ level: Int, _ queue: inout ByteQueue) {
        guard indents else { return }
        queue.append("\n" as StaticString)
        for _ in 0..<level { queue.append("  " as StaticString) }
    }

    /// Escapes what RFC 8259 section 7 says must be; everything else goes out as it is, in runs.
    private func write(_ text: String, into queue: inout ByteQueue) {
        queue.append("\"" as StaticString)
        var copy = text
        copy.withUTF8 {
            let bytes = UnsafeRawBufferPointer($0)
            var start = 0
            for index in bytes.indices where Self.needsEscape(bytes[index]) {
                queue.append(UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
                escape(bytes[index], into: &queue)
                start = index + 1
            }
            queue.append(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
        queue.append("\"" as StaticString)
    }

    private static func needsEscape(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5C }

    private func escape(_ byte: UInt8, into queue: inout ByteQueue) {
        switch byte {
        case 0x22: queue.append(#"\""# as StaticString)
        case 0x5C: queue.append(#"\\"# as StaticString)
        case 0x08: queue.append(#"\b"# as StaticString)
        case 0x09: queue.append(#"\t"# as StaticString)
        case 0x0A: queue.append(#"\n"# as StaticString)
        case 0x0C: queue.append(#"\f"# as StaticString)
        case 0x0D: queue.append(#"\r"# as StaticString)
        default:
            queue.append(#"\u00"# as StaticString)
            queue.append(Hex.digit(byte >> 4, uppercase: false))
            queue.append(Hex.digit(byte & 0x0F, uppercase: false))
        }
    }
}
