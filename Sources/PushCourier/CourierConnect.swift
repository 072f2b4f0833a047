package import PushBytes

/// First frame of a device: who it is, and the proof.
package struct CourierConnect: CourierMessage {
    package static let command = CourierCommand.connect

    /// Token from an earlier session, 32 bytes as a rule; absent on the first connect. Its width is not checked
    /// here: a wrong one is an unknown token, which has an answer of its own.
    package var baseToken: [UInt8]?
    /// 1 is normal.
    package var state: UInt8?
    package var presenceFlags: UInt32?
    /// 0 cellular, 1 Wi-Fi.
    package var interface: UInt8?
    package var carrier: String?
    package var systemVersion: String?
    package var systemBuild: String?
    package var hardwareModel: String?
    /// The device's certificate, DER.
    package var certificate: [UInt8]?
    /// 17 bytes: 0x00, unix milliseconds (8), random (8).
    package var nonce: [UInt8]?
    /// 0x01 0x01, then an RSA PKCS#1 v1.5 signature with SHA-1 over the nonce.
    package var signature: [UInt8]?
    package var protocolVersion: UInt16?

    package init() {}

    /// What only describes the device is taken when it is well-formed and otherwise left out: no reason to refuse.
    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.Connect
        baseToken = frame.optional(ID.baseToken)
        state = frame.integer(ID.state, as: UInt8.self)
        presenceFlags = frame.integer(ID.presenceFlags, as: UInt32.self)
        interface = frame.integer(ID.interface, as: UInt8.self)
        carrier = try? frame.optionalText(ID.carrier)
        systemVersion = try? frame.optionalText(ID.systemVersion)
        systemBuild = try? frame.optionalText(ID.systemBuild)
        hardwareModel = try? frame.optionalText(ID.hardwareModel)
        certificate = frame.optional(ID.certificate)
        nonce = frame.optional(ID.nonce)
        signature = frame.optional(ID.signature)
        protocolVersion = frame.integer(ID.protocolVersion, as: UInt16.self)
    }

    package func write(into queue: inout ByteQueue) {
        typealias ID = CourierItemID.Connect
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(ID.baseToken, baseToken, in: &queue)
        writer.item(ID.state, integer: state, in: &queue)
        writer.item(ID.presenceFlags, integer: presenceFlags, in: &queue)
        writer.item(ID.interface, integer: interface, in: &queue)
        writer.item(ID.carrier, carrier, in: &queue)
        writer.item(ID.systemVersion, systemVersion, in: &queue)
        writer.item(ID.systemBuild, systemBuild, in: &queue)
        writer.item(ID.hardwareModel, hardwareModel, in: &queue)
        writer.item(ID.certificate, certificate, in: &queue)
        writer.item(ID.nonce, nonce, in: &queue)
        writer.item(ID.signature, signature, in: &queue)
        writer.item(ID.protocolVersion, integer: protocolVersion, in: &queue)
        writer.end(in: &queue)
    }
}

/// Answer to `CourierConnect`.
package struct CourierConnectResponse: CourierMessage {
    package static let command = CourierCommand.connectResponse

    package static let accepted: UInt8 = 0
    /// Refused, for instance because of the token; the server closes and the device comes back without it.
    package static let refused: UInt8 = 2

    package var status: UInt8
    /// Given when the device had none or it changed; absent when its own was accepted.
    package var baseToken: [UInt8]?
    /// Longest payload of a message, in bytes. Default 4,096.
    package var messageBytesMax: UInt16? = 4096
    package var protocolVersion: UInt16? = 2
    package var capabilities: UInt32? = 0
    /// Server clock, unix milliseconds, when the nonce was the reason for a refusal.
    package var badNonceTimeMilliseconds: UInt64?
    package var largeMessageBytesMax: UInt16?
    /// Server clock, unix milliseconds. Always sent: known clients insist on it.
    package var serverTimeMilliseconds: UInt64?

    package init(status: UInt8 = CourierConnectResponse.accepted, baseToken: [UInt8]?, serverTimeMilliseconds: UInt64) {
        self.status = status
        self.baseToken = baseToken
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.ConnectResponse
        status = try frame.requiredInteger(ID.status)
        baseToken = frame.optional(ID.baseToken)
        messageBytesMax = try frame.optionalInteger(ID.messageBytesMax)
        protocolVersion = frame.integer(ID.protocolVersion, as: UInt16.self)
        capabilities = frame.integer(ID.capabilities, as: UInt32.self)
        badNonceTimeMilliseconds = try frame.optionalInteger(ID.badNonceTime)
        largeMessageBytesMax = try frame.optionalInteger(ID.largeMessageBytesMax)
        serverTimeMilliseconds = try frame.optionalInteger(ID.serverTime)
    }

    package func write(into queue: inout ByteQueue) {
        typealias ID = CourierItemID.ConnectResponse
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(ID.status, integer: status, in: &queue)
        writer.item(ID.baseToken, baseToken, in: &queue)
        writer.item(ID.messageBytesMax, integer: messageBytesMax, in: &queue)
        writer.item(ID.protocolVersion, integer: protocolVersion, in: &queue)
        writer.item(ID.capabilities, integer: capabilities, in: &queue)
        writer.item(ID.badNonceTime, integer: badNonceTimeMilliseconds, in: &queue)
        writer.item(ID.largeMessageBytesMax, integer: largeMessageBytesMax, in: &queue)
        writer.item(ID.serverTime, integer: serverTimeMilliseconds, in: &queue)
        writer.end(in: &queue)
    }
}
