internal import PushJSON

/// One call of the control API.
struct ControlRequest: Sendable {
    var method = "GET"
    /// Below `/localpush/v1`, each element as it is, before escaping.
    var path: [String]
    var query: [(name: String, value: String)] = []
    var body: JSONValue?
    /// Longest time until the whole answer is there. Default 10 seconds.
    var timeout: Duration = .seconds(10)

    init(_ method: String = "GET", _ path: String...) {
        self.method = method
        self.path = path
    }

    mutating func ask(_ name: String, _ value: String?) {
        if let value { query.append((name, value)) }
    }

    /// What stands in the request line.
    func target(prefix: String) -> String {
        let escaped = path.map { PercentEncoding.encode($0) }.joined(separator: "/")
        let pairs = query.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
        let question = pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
        return "\(prefix)/localpush/v1/\(escaped)\(question)"
    }
}

/// RFC 3986 section 2.1.
enum PercentEncoding {
    /// All but unreserved characters (section 2.3) are escaped.
    static func encode(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return escaped
    }
}
