package import PushBytes

/// Asks for the token of one app on this device: the one that a provider puts into its requests.
package struct CourierTokenRequest: CourierMessage {
    package static let command = CourierCommand.tokenRequest

    package var baseToken: [UInt8]
    /// 20 bytes.
    package var topicHash: [UInt8]
    package var appID: UInt16?
    /// Our own addition: the topic in clear.
    package var topicName: String?

    package init(baseToken: [UInt8], topicHash: [UInt8], appID: UInt16? = nil, topicName: String? = nil) {
        self.baseToken = baseToken
        self.topicHash = topicHash
        self.appID = appID
        self.topicName = topicName
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.TokenRequest
        baseToken = try frame.required(ID.baseToken)
        topicHash = try frame.requiredHash(ID.topicHash)
        appID = try frame.optionalInteger(ID.appID)
        topicName = try frame.optionalText(ID.topicName)
    }

    package func write(into queue: inout ByteQueue) {
        typealias ID = CourierItemID.TokenRequest
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(ID.baseToken, baseToken, in: &queue)
        writer.item(ID.topicHash, topicHash, in: &queue)
        writer.item(ID.appID, integer: appID, in: &queue)
        writer.item(ID.topicName, topicName, in: &queue)
        writer.end(in: &queue)
    }
}

/// Answer to `CourierTokenRequest`. Token and hash are there even when the request failed: known clients insist.
package struct CourierTokenResponse: CourierMessage {
    package static let command = CourierCommand.tokenResponse

    /// 0 is success.
    package var status: UInt8
    /// 32 bytes.
    package var token: [UInt8]
    /// 20 bytes.
    package var topicHash: [UInt8]
    package var appID: UInt16?

    package init(status: UInt8 = 0, token: [UInt8], topicHash: [UInt8], appID: UInt16? = nil) {
        self.status = status
        self.token = token
        self.topicHash = topicHash
        self.appID = appID
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.TokenResponse
        status = try frame.requiredInteger(ID.status)
        token = try frame.required(ID.token)
        topicHash = try frame.requiredHash(ID.topicHash)
        appID = try frame.optionalInteger(ID.appID)
    }

    package func write(into queue: inout ByteQueue) {
        typealias ID = CourierItemID.TokenResponse
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(ID.status, integer: status, in: &queue)
        writer.item(ID.token, token, in: &queue)
        writer.item(ID.topicHash, topicHash, in: &queue)
        writer.item(ID.appID, integer: appID, in: &queue)
        writer.end(in: &queue)
    }
}
