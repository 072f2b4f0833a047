import PushHTTP1
import PushJSON

/// The fields of a request's JSON body. Names that a call does not know are errors: they are typos.
struct ControlBody {
    private let members: [JSONMember]

    init(_ request: HTTP1Request, parser: JSONParser, allowed: [String]) throws(ControlError) {
        guard !request.body.isEmpty else {
            members = []
            return
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try parser.parse(request.body.span)
        } catch {
            throw ControlError(400, "bad_json", "The body is not JSON: \(error).")
        }
        guard case .object(let members) = value else {
            throw ControlError(400, "bad_json", "The body must be a JSON object.")
        }
        if let unknown = members.first(where: { !allowed.contains($0.name) }) {
            throw ControlError(
                400, "unknown_field", "The body has a field \"\(unknown.name)\" that this call does not know.",
                hint: allowed.isEmpty ? "This call takes no fields." : "It knows \(allowed.joined(separator: ", ")).")
        }
        self.members = members
    }

    private func value(_ name: String) -> JSONValue? {
        guard let found = members.last(where: { $0.name == name })?.value, !found.isNull else { return nil }
        return found
    }

    func text(_ name: String) throws(ControlError) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.stringValue else { throw .badField(name, "must be a string") }
        return text
    }

    func requiredText(_ name: String) throws(ControlError) -> String {
        guard let text = try text(name), !text.isEmpty else { throw .badField(name, "is missing") }
        return text
    }

    func flag(_ name: String) throws(ControlError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let flag = value.boolValue else { throw .badField(name, "must be true or false") }
        return flag
    }

    func texts(_ name: String) throws(ControlError) -> [String]? {
        guard let value = value(name) else { return nil }
        guard let values = value.arrayValue else { throw .badField(name, "must be an array of strings") }
        let texts = values.compactMap(\.stringValue)
        guard texts.count == values.count else { throw .badField(name, "must be an array of strings") }
        return texts
    }

    func environment(_ name: String) throws(ControlError) -> String? {
        guard let text = try text(name) else { return nil }
        guard text == "sandbox" || text == "production" else { throw .badField(name, "must be sandbox or production") }
        return text
    }
}

/// The query of a request. Unknown names are errors here, too.
struct ControlQuery {
    private let pairs: [(name: String, value: String)]

    init(_ request: HTTP1Request, allowed: [String]) throws(ControlError) {
        pairs = request.query
        if let unknown = pairs.first(where: { !allowed.contains($0.name) }) {
            throw ControlError(
                400, "unknown_field", "The query has a field \"\(unknown.name)\" that this call does not know.",
                hint: allowed.isEmpty ? "This call takes no query." : "It knows \(allowed.joined(separator: ", ")).")
        }
    }

    func text(_ name: String) -> String? { pairs.last { $0.name == name }?.value }

    func texts(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }

    func number(_ name: String, _ range: ClosedRange<Int64>) throws(ControlError) -> Int64? {
        guard let text = text(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw .badField(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// "5s", "250ms", "2m" or plain seconds, as milliseconds.
    func milliseconds(_ name: String, max: Int64) throws(ControlError) -> Int64? {
        guard let text = text(name) else { return nil }
        let units: [(String, Double)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("", 1000)]
        for (unit, factor) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number >= 0, number * factor <= Double(max) else {
                break
            }
            return Int64(number * factor)
        }
        throw .badField(name, "must be a duration such as 5s, 250ms or 2m, at most \(max / 60_000)m")
    }
}
