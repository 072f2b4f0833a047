import PushHTTP1
import PushJSON

/// An answer that says no: status, a code for programs, a message and a hint for people.
struct ControlError: Error {
    let status: Int
    let code: String
    let message: String
    let hint: String?
    /// Anything else the body should hold.
    var extra: [JSONMember] = []
    /// Headers that go with the status (RFC 9110, sections 15.5.2 and 15.5.6).
    var headers: [(name: String, value: String)] = []

    init(_ status: Int, _ code: String, _ message: String, hint: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
    }

    static func unknownDevice(_ label: String) -> ControlError {
        ControlError(
            404, "unknown_device", "There is no device \(label).", hint: "GET /localpush/v1/devices lists them.")
    }

    static var unknownToken: ControlError {
        ControlError(
            404, "unknown_token", "No device has this token.", hint: "GET /localpush/v1/devices lists tokens.")
    }

    static func unknownPush(_ id: String) -> ControlError {
        ControlError(404, "unknown_push", "There is no push \(id).", hint: "GET /localpush/v1/pushes lists them.")
    }

    static func unknownApp(_ bundle: String) -> ControlError {
        ControlError(
            404, "unknown_app", "There is no app \(bundle).",
            hint: "POST /localpush/v1/apps with {\"bundle\":\"\(bundle)\"} makes it.")
    }

    static func badField(_ name: String, _ must: String) -> ControlError {
        ControlError(400, "bad_field", "\(name) \(must).")
    }

    var body: JSONValue {
        var error: [JSONMember] = [
            JSONMember("code", .string(code)), JSONMember("message", .string(message)),
        ]
        if let hint { error.append(JSONMember("hint", .string(hint))) }
        return .object([JSONMember("error", .object(error))] + extra)
    }

    var response: HTTP1Response {
        var response = HTTP1Response.json(status, Array(body.text.utf8))
        response.headers += headers
        return response
    }
}

/// The result of a control call.
struct ControlAnswer {
    let status: Int
    let body: JSONValue

    init(_ status: Int = 200, _ body: JSONValue) {
        self.status = status
        self.body = body
    }

    var response: HTTP1Response { .json(status, Array(body.text.utf8)) }
}
