internal import PushJSON

/// JSON in and out of the command line.
enum JSONText {
    static func parse(_ text: String) throws(JSONError) -> JSONValue { try JSONParser().parse(text) }

    static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue { try JSONParser().parse(bytes.span) }

    /// One line, for machines.
    static func line(_ value: JSONValue) -> String { value.text }

    /// An object of the members that are there, in that order.
    static func object(_ members: [(name: String, value: JSONValue?)]) -> JSONValue {
        .object(members.compactMap { member in member.value.map { JSONMember(member.name, $0) } })
    }
}
