import PushCore
import PushHTTP2

/// An answer that waits for the commit of its turn.
struct ProviderAnswer {
    let connection: ProviderConnection
    let stream: Int32
    /// The provider's own id, or one made by the server.
    let id: APNsID
    /// Given in the sandbox only, for accepted pushes.
    let uniqueID: APNsID?
    let failure: APNsReason.Failure?

    /// Puts the answer into the connection's engine. Shape: HEADERS that end the stream for 200; HEADERS and exactly one
    /// DATA with compact JSON otherwise.
    func send(failure: APNsReason.Failure?, fields: inout HTTP2FieldList) {
        fields.removeAll()
        connection.noteAnswer(failure?.reason)
        guard let failure else {
            fields.append(":status", "200")
            fields.append("apns-id", id.text.span, isRemembered: false)
            if let uniqueID { fields.append("apns-unique-id", uniqueID.text.span, isRemembered: false) }
            connection.engine.respond(to: stream, fields: fields)
            return
        }
        Self.refuse(stream, of: connection, failure, idField: "apns-id", id, &fields)
    }

    /// A refusal of any part of the API; `idField` is the name under which its id is known there.
    static func refuse(
        _ stream: Int32, of connection: ProviderConnection, _ failure: APNsReason.Failure, idField: StaticString,
        _ id: APNsID,
        _ fields: inout HTTP2FieldList
    ) {
        fields.append(name: ":status", decimal: failure.reason.status)
        fields.append(idField, id.text.span, isRemembered: false)
        fields.append("content-type", "application/json")
        connection.engine.respond(
            to: stream, fields: fields, body: body(failure.reason, timestamp: failure.timestamp))
    }

    static func body(_ reason: APNsReason, timestamp: Int64?) -> [UInt8] {
        guard let timestamp else { return Array("{\"reason\":\"\(reason.text)\"}".utf8) }
        return Array("{\"reason\":\"\(reason.text)\",\"timestamp\":\(timestamp)}".utf8)
    }
}
