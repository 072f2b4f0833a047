/// Header fields that go out, pseudo fields first.
///
/// Made once and reused: `removeAll` keeps the memory, so a warm list appends without allocating. Names are lower
/// case (RFC 9113, section 8.2.1). A plain value, not tied to a thread.
package struct HTTP2FieldList {
    struct Entry {
        var nameStart: Int
        var valueStart: Int
        var end: Int
        var isRemembered: Bool
    }

    /// All names and values, one after the other.
    private(set) var bytes: [UInt8] = []
    private(set) var entries: [Entry] = []

    package init() {}

    package var count: Int { entries.count }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }

    package mutating func append(_ name: StaticString, _ value: StaticString) {
        let start = bytes.count
        append(name)
        let middle = bytes.count
        append(value)
        close(start, middle, isRemembered: true)
    }

    /// Appends a field whose value was computed.
    ///
    /// `isRemembered` (default true) lets the compression keep the field for later ones; pass false for a value that
    /// never comes again, such as an id, which would only push useful ones out of the table.
    package mutating func append(_ name: StaticString, _ value: [UInt8], isRemembered: Bool = true) {
        let start = bytes.count
        append(name)
        let middle = bytes.count
        bytes.append(contentsOf: value)
        close(start, middle, isRemembered: isRemembered)
    }

    /// The same for a value that is lent.
    package mutating func append(_ name: StaticString, _ value: Span<UInt8>, isRemembered: Bool = true) {
        let start = bytes.count
        append(name)
        let middle = bytes.count
        value.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        close(start, middle, isRemembered: isRemembered)
    }

    package mutating func append(_ name: StaticString, _ value: String, isRemembered: Bool = true) {
        let start = bytes.count
        append(name)
        let middle = bytes.count
        append(value)
        close(start, middle, isRemembered: isRemembered)
    }

    package mutating func append(_ name: String, _ value: String) {
        let start = bytes.count
        append(name)
        let middle = bytes.count
        append(value)
        close(start, middle, isRemembered: true)
    }

    /// Appends a field whose value is a number, without making a string of it.
    package mutating func append(name: StaticString, decimal: Int) {
        precondition(decimal >= 0, "lengths and status codes are not negative")
        let start = bytes.count
        append(name)
        let middle = bytes.count
        var rest = decimal
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        bytes[middle...].reverse()
        close(start, middle, isRemembered: true)
    }

    private mutating func append(_ text: String) {
        var copy = text
        copy.withUTF8 { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func close(_ nameStart: Int, _ valueStart: Int, isRemembered: Bool) {
        precondition(valueStart > nameStart, "a field has a name")
        entries.append(
            Entry(nameStart: nameStart, valueStart: valueStart, end: bytes.count, isRemembered: isRemembered))
    }
}
