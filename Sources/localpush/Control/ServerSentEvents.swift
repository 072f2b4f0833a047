/// Reads an event stream (WHATWG HTML, "Server-sent events") however it is cut.
struct ServerSentEvents {
    struct Event: Equatable {
        var id: String?
        var name = "message"
        var data = ""
    }

    /// A longer line is dropped: no event of ours comes near.
    static let lineBytesMax = 1 << 20

    private var line: [UInt8] = []
    private var isTooLong = false
    private var afterReturn = false
    private var event = Event()
    private var hasData = false

    /// The events that `bytes` completed, in order.
    mutating func receive(_ bytes: [UInt8]) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            let isNewline = byte == 0x0A
            defer { afterReturn = byte == 0x0D }
            if isNewline && afterReturn { continue }
            if isNewline || byte == 0x0D {
                if let done = endLine() { events.append(done) }
            } else if line.count < Self.lineBytesMax {
                line.append(byte)
            } else {
                isTooLong = true
            }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        defer {
            line.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if isTooLong { return nil }
        if line.isEmpty {
            defer {
                event = Event(id: event.id)
                hasData = false
            }
            return hasData ? event : nil
        }
        let text = String(decoding: line, as: UTF8.self)
        let name = text.prefix { $0 != ":" }
        var value = text.dropFirst(name.count + 1)
        if value.first == " " { value = value.dropFirst() }
        switch name {
        case "id": event.id = String(value)
        case "event": event.name = String(value)
        case "data":
            event.data += hasData ? "\n\(value)" : String(value)
            hasData = true
        default: break
        }
        return nil
    }
}
