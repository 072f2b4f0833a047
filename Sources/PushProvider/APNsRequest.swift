internal import PushHTTP2
internal import PushJSON

/// One push as HTTP says it, and its answer read back.
enum APNsRequest {
    /// The mistake that HTTP itself forbids, if there is one.
    static func flaw(in notification: APNsNotification, token: String) -> APNsError? {
        let isToken = token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isToken else { return APNsError(.badRequest, "The device token holds characters a path cannot hold.") }
        let fields = [
            ("topic", notification.topic), ("push type", notification.pushType?.rawValue),
            ("collapse id", notification.collapseID), ("apns-id", notification.apnsID),
        ]
        for (name, value) in fields {
            let isField = (value ?? "").utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            guard isField else { return APNsError(.badRequest, "The \(name) holds control characters.") }
        }
        return nil
    }

    /// Writes all fields of a push, pseudo fields first.
    static func write(
        _ notification: APNsNotification, token: String, authority: String, authorization: String,
        into fields: inout HTTP2FieldList
    ) {
        fields.removeAll()
        fields.append(":method", "POST")
        fields.append(":scheme", "https")
        fields.append(":authority", authority)
        fields.append(":path", "/3/device/" + token)
        fields.append("authorization", authorization)
        fields.append("apns-topic", notification.topic)
        if let pushType = notification.pushType { fields.append("apns-push-type", pushType.rawValue) }
        if let priority = notification.priority { fields.append(name: "apns-priority", decimal: priority.rawValue) }
        if let expiration = notification.expirationSeconds { fields.append("apns-expiration", String(expiration)) }
        if let id = notification.collapseID { fields.append("apns-collapse-id", id, isRemembered: false) }
        if let id = notification.apnsID { fields.append("apns-id", id, isRemembered: false) }
    }

    /// Reads an answer; nil when it has no status.
    static func response(from message: HTTP2Message, parser: JSONParser) -> APNsResponse? {
        guard let status = message.text(of: ":status").flatMap({ Int($0) }) else { return nil }
        var response = APNsResponse(
            status: status, apnsID: message.text(of: "apns-id") ?? message.text(of: "apns-request-id"),
            apnsUniqueID: message.text(of: "apns-unique-id"))
        response.channelID = message.text(of: "apns-channel-id")
        if let body = json(in: message.body, parser: parser) {
            response.reason = body["reason"]?.stringValue.map { APNsReason(rawValue: $0) }
            response.channels = body["channels"]?.arrayValue?.compactMap(\.stringValue)
            response.storesNewest = body["message-storage-policy"]?.intValue.map { $0 == 1 }
            response.timestampMilliseconds = body["timestamp"]?.intValue.map { Int64($0) }
        }
        return response
    }

    /// The reason in a GOAWAY's data; where it is no JSON, the text itself.
    static func reason(inGoAway data: [UInt8], parser: JSONParser) -> String? {
        if data.isEmpty { return nil }
        return json(in: data, parser: parser)?["reason"]?.stringValue
            ?? String(decoding: data.prefix(200), as: UTF8.self)
    }

    private static func json(in bytes: [UInt8], parser: JSONParser) -> JSONValue? {
        do {
            return bytes.isEmpty ? nil : try parser.parse(bytes.span)
        } catch {
            return nil
        }
    }
}
