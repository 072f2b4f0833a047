import PushCore
import PushHTTP2
import PushJSON

/// An answer of the broadcast and channel API that waits for the commit of its turn.
struct BroadcastAnswer {
    /// What was asked for has been done.
    enum Success {
        case sent(uniqueID: APNsID?)
        case created(channelID: String)
        case deleted
        /// With a body.
        case told(JSONValue)

        var status: Int {
            switch self {
            case .sent, .told: 200
            case .created: 201
            case .deleted: 204
            }
        }
    }

    let connection: ProviderConnection
    let stream: Int32
    /// `apns-request-id`: the provider's own, or one made by the server.
    let id: APNsID
    let outcome: Result<Success, APNsReason.Failure>

    /// Puts the answer into the connection's engine; `isStored` is whether the turn could be kept.
    func send(isStored: Bool, fields: inout HTTP2FieldList) {
        fields.removeAll()
        switch isStored ? outcome : .failure(.init(.serviceUnavailable)) {
        case .failure(let failure):
            connection.noteAnswer(failure.reason)
            ProviderAnswer.refuse(stream, of: connection, failure, idField: "apns-request-id", id, &fields)
        case .success(let success):
            connection.noteAnswer(nil)
            fields.append(name: ":status", decimal: success.status)
            fields.append("apns-request-id", id.text.span, isRemembered: false)
            switch success {
            case .sent(let uniqueID):
                if let uniqueID { fields.append("apns-unique-id", uniqueID.text.span, isRemembered: false) }
            case .created(let channelID): fields.append("apns-channel-id", channelID, isRemembered: false)
            case .told: fields.append("content-type", "application/json")
            case .deleted: break
            }
            if case .told(let body) = success {
                connection.engine.respond(to: stream, fields: fields, body: Array(body.text.utf8))
            } else {
                connection.engine.respond(to: stream, fields: fields)
            }
        }
    }
}
