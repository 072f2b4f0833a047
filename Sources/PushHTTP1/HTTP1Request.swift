/// A whole request as it arrived, body included. A plain value.
package struct HTTP1Request: Sendable {
    /// `GET`, `POST`, `PUT`, `PATCH`, `DELETE`, `HEAD` or `OPTIONS`.
    package var method: String
    /// The path as sent, percent signs and all; `pathSegments` has it decoded.
    package var path: String
    /// The query's pairs in their order, decoded (`+` is a space); a name without `=` has an empty value.
    package var query: [(name: String, value: String)]
    /// The headers in their order, repeated ones repeated, names as sent.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(
        method: String, path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// The first header of this name, in any case.
    package func header(_ name: String) -> String? {
        headers.first { ASCIICase.equal($0.name, name) }?.value
    }

    /// The last query pair of this name; names are case-sensitive.
    package func queryValue(_ name: String) -> String? {
        query.last { $0.name == name }?.value
    }

    /// The path's parts, each percent-decoded after splitting, so that `%2F` is a slash within a part. Empty parts
    /// (`//`, a slash at the end) are left out.
    package var pathSegments: [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { PercentCode.decode($0, plusIsSpace: false) }
    }

    /// The pairs of an `application/x-www-form-urlencoded` text, which a query is too.
    package static func pairs(_ text: String) -> [(name: String, value: String)] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? PercentCode.decode(parts[1], plusIsSpace: true) : ""
            return (PercentCode.decode(parts[0], plusIsSpace: true), value)
        }
    }
}

/// A whole response. A plain value.
package struct HTTP1Response: Sendable {
    package var status: Int
    /// `Content-Length` and `Date` are added when sent. A header whose name or value could not stand on its line
    /// (line breaks) is left out.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        precondition((200...599).contains(status), "a final status")
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A response with the type `application/json`.
    package static func json(_ status: Int, _ bytes: [UInt8]) -> HTTP1Response {
        HTTP1Response(status: status, headers: [("Content-Type", "application/json")], body: bytes)
    }

    /// The first header of this name, in any case.
    package func header(_ name: String) -> String? {
        headers.first { ASCIICase.equal($0.name, name) }?.value
    }
}

/// What RFC 3986 section 2.1 escapes.
enum PercentCode {
    /// Decodes `%41`; a percent sign without two hex digits stands for itself. Ill-formed UTF-8 is repaired.
    static func decode(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace:
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap(hexValue)
                if digits.count == 2 {
                    bytes.append(digits[0] << 4 | digits[1])
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            default:
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Header names are compared without case (RFC 9110 section 5.1), which for them means ASCII.
enum ASCIICase {
    static func equal(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lower($0) == lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
