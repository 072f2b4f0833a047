/// Any JSON value (RFC 8259).
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number written without fraction and exponent that fits; a larger one is a `double`.
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    /// Members in the order in which they came; a name may occur more than once.
    case object([JSONMember])
}

/// One name and its value in an object.
package struct JSONMember: Sendable, Equatable {
    package var name: String
    package var value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    package var isNull: Bool { self == .null }

    package var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number when it is a whole one without being rounded; `2.0` counts, `2.5` does not.
    package var intValue: Int? {
        switch self {
        case .int(let value): Int(value)
        case .double(let value): Self.whole(value)
        default: nil
        }
    }

    /// `Int(exactly:)` would pull in the mathematics library.
    private static func whole(_ value: Double) -> Int? {
        guard value >= -0x1p63, value < 0x1p63, Double(Int(value)) == value else { return nil }
        return Int(value)
    }

    /// The number, rounded to a double where it must be.
    package var doubleValue: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    package var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var arrayValue: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    package var objectValue: [JSONMember]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The member of that name, the last one if there are several; `nil` when there is none or this is no object.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The element at `index`; `nil` when there is none or this is no array.
    package subscript(_ index: Int) -> JSONValue? {
        guard case .array(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }

    /// The value at a path such as `aps.alert.title` or `rows[0].name`; `nil` when nothing is there or the path is
    /// malformed. The empty path is the value itself. Names with a dot or a bracket cannot be written this way.
    package subscript(path path: String) -> JSONValue? {
        var value = self
        var rest = Substring(path)
        while !rest.isEmpty {
            if rest.first == "[" {
                guard let close = rest.firstIndex(of: "]"),
                    let index = Int(rest[rest.index(after: rest.startIndex)..<close]), let element = value[index]
                else { return nil }
                value = element
                rest = rest[rest.index(after: close)...]
            } else {
                let name = rest.prefix { $0 != "." && $0 != "[" }
                guard !name.isEmpty, let member = value[String(name)] else { return nil }
                value = member
                rest = rest[name.endIndex...]
            }
            if rest.first == "." {
                rest.removeFirst()
                if rest.isEmpty || rest.first == "[" { return nil }
            } else if !rest.isEmpty && rest.first != "[" {
                return nil
            }
        }
        return value
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { JSONMember($0.0, $0.1) })
    }
}
