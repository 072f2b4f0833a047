import PushBytes
import PushCourier
import Testing

struct MessageTests {
    private let token = [UInt8](repeating: 0xAB, count: 32)
    private let hash = [UInt8](0..<20)

    @Test func everyMessageComesBackWithEverythingSet() throws {
        var connect = CourierConnect()
        connect.baseToken = token
        connect.state = 1
        connect.presenceFlags = 0x41
        connect.interface = 1
        connect.carrier = "WiFi"
        connect.systemVersion = "17.4"
        connect.systemBuild = "21E219"
        connect.hardwareModel = "ü"
        connect.certificate = Array(repeating: 3, count: 900)
        connect.nonce = Array(0..<17)
        connect.signature = [1, 1] + Array(repeating: 9, count: 256)
        connect.protocolVersion = 11
        try comesBack(connect)

        var response = CourierConnectResponse(status: 2, baseToken: token, serverTimeMilliseconds: 1_700_000_000_123)
        response.badNonceTimeMilliseconds = .max
        response.largeMessageBytesMax = 5120
        try comesBack(response)

        var filter = CourierFilter(baseToken: token, enabled: [hash, hash.reversed()], paused: [hash])
        filter.ignored = [hash]
        filter.opportunistic = [hash, hash]
        filter.nonWaking = [hash.reversed()]
        try comesBack(filter)

        try comesBack(fullNotification)
        try comesBack(CourierUpstream(topicHash: hash, baseToken: token, payload: Array("{}".utf8), messageID: 1))
        try comesBack(CourierAcknowledgement(messageID: 0xFFFF_FFFF, status: 3, token: token))
        try comesBack(CourierTokenRequest(baseToken: token, topicHash: hash, appID: 7, topicName: "com.example.app"))
        try comesBack(CourierTokenResponse(status: 1, token: token, topicHash: hash, appID: 7))
        try comesBack(CourierKeepAlive())
        try comesBack(CourierKeepAliveResponse())
        try comesBack(CourierNoStorage(token: token))
        try comesBack(CourierActiveInterval(interval: 600))
        try comesBack(CourierActiveState(state: 1))
    }

    @Test func everyMessageComesBackWithOptionsUnset() throws {
        try comesBack(CourierConnect())
        var response = CourierConnectResponse(baseToken: nil, serverTimeMilliseconds: 0)
        response.messageBytesMax = nil
        response.capabilities = nil
        try comesBack(response)
        try comesBack(CourierFilter(baseToken: token))
        try comesBack(CourierNotification(token: token, topicHash: hash, messageID: 0))
        try comesBack(CourierAcknowledgement(messageID: 0))
        try comesBack(CourierTokenRequest(baseToken: [], topicHash: hash))
        try comesBack(CourierTokenResponse(token: token, topicHash: hash))
        try comesBack(CourierActiveState(state: 0, interval: nil))
    }

    @Test func theBytesOfAFilterAreThoseOfTheProtocol() {
        let expected: [UInt8] =
            [0x09, 0, 0, 0, 58, 1, 0, 32] + token + [2, 0, 20] + hash
        #expect(bytes(of: CourierFilter(baseToken: token, enabled: [hash])) == expected)
    }

    @Test func theBytesOfANotificationAreThoseOfTheProtocol() {
        var message = CourierNotification(token: token, topicHash: hash, payload: [0x7B, 0x7D], messageID: 0x0102_0304)
        message.expirySeconds = 5
        message.timestampNanoseconds = 6
        message.storageFlags = [.fromStorage, .lastStored]
        message.priority = 10
        let expected: [UInt8] =
            [0x0A, 0, 0, 0, 96, 1, 0, 32] + token + [2, 0, 20] + hash + [3, 0, 2, 0x7B, 0x7D, 4, 0, 4, 1, 2, 3, 4]
            + [5, 0, 4, 0, 0, 0, 5, 6, 0, 8, 0, 0, 0, 0, 0, 0, 0, 6, 7, 0, 1, 3, 13, 0, 1, 10]
        #expect(bytes(of: message) == expected)
    }

    @Test func theBytesOfAnAcceptingAnswerAreThoseOfTheProtocol() {
        let expected: [UInt8] =
            [0x08, 0, 0, 0, 67, 1, 0, 1, 0, 3, 0, 32] + token
            + [4, 0, 2, 0x10, 0, 5, 0, 2, 0, 2, 6, 0, 4, 0, 0, 0, 0, 10, 0, 8, 0, 0, 0, 0, 0, 0, 1, 0]
        #expect(bytes(of: CourierConnectResponse(baseToken: token, serverTimeMilliseconds: 256)) == expected)
    }

    @Test func aKeepAliveIsFiveBytes() {
        #expect(bytes(of: CourierKeepAlive()) == [0x0C, 0, 0, 0, 0])
        #expect(bytes(of: CourierKeepAliveResponse()) == [0x0D, 0, 0, 0, 0])
    }

    @Test func anUpstreamMessageHasTopicAndTokenSwapped() throws {
        let up = CourierUpstream(topicHash: hash, baseToken: token, payload: [1], messageID: 9)
        let frame = try #require(try decode(bytes(of: up)).first)
        #expect(frame.command == CourierCommand.notification)
        #expect(frame.item(1)?.count == 20 && frame.item(2)?.count == 32)
        #expect(throws: CourierError.wrongWidth(command: 0x0A, item: 2, bytes: 32)) { try CourierNotification(frame) }
    }

    @Test func aPayloadThatLivesElsewhereIsWrittenInPlaceOfTheStoredOne() throws {
        var queue = ByteQueue()
        fullNotification.write(payload: [7, 8].span, into: &queue)
        var expected = fullNotification
        expected.payload = [7, 8]
        #expect(try CourierNotification(try #require(try decode(queue.bytes).first)) == expected)
    }

    @Test func unknownItemsAreSkippedAndTheFirstOfTwoCounts() throws {
        let frame = try CourierFrame(
            command: CourierCommand.acknowledgement,
            payload: itemBytes(0xF0, [1]) + itemBytes(4, [0, 0, 0, 1]) + itemBytes(4, [0, 0, 0, 2]))
        #expect(try CourierAcknowledgement(frame) == CourierAcknowledgement(messageID: 1))
    }

    @Test func whatOnlyDescribesADeviceIsNoReasonToRefuseIt() throws {
        let frame = try CourierFrame(
            command: CourierCommand.connect,
            payload: itemBytes(2, [0, 1]) + itemBytes(8, [0xFF]) + itemBytes(9, Array("17".utf8)))
        var expected = CourierConnect()
        expected.systemVersion = "17"
        #expect(try CourierConnect(frame) == expected)
    }

    @Test func theTokenWithoutStoreIsTakenUnderBothIds() throws {
        for id: UInt8 in [1, 3] {
            let frame = try CourierFrame(command: CourierCommand.noStorage, payload: itemBytes(id, token))
            #expect(try CourierNoStorage(frame).token == token)
        }
        #expect(throws: CourierError.missingItem(command: 0x0E, item: 3)) {
            try CourierNoStorage(CourierFrame(command: CourierCommand.noStorage))
        }
    }

    @Test func aMessageReadFromAnotherCommandIsRefused() throws {
        let frame = try CourierFrame(command: CourierCommand.keepAlive)
        #expect(throws: CourierError.wrongCommand(command: 0x0C, expected: 0x0B)) {
            try CourierAcknowledgement(frame)
        }
        #expect(throws: CourierError.wrongCommand(command: 0x0C, expected: 0x0D)) {
            try CourierKeepAliveResponse(frame)
        }
    }

    @Test func aNotificationWithOneDefectIsRefused() throws {
        let frame = try #require(try decode(bytes(of: fullNotification)).first)
        let refusals: [(item: UInt8, value: [UInt8]?, CourierError)] = [
            (1, nil, .missingItem(command: 0x0A, item: 1)), (2, nil, .missingItem(command: 0x0A, item: 2)),
            (3, nil, .missingItem(command: 0x0A, item: 3)), (4, nil, .missingItem(command: 0x0A, item: 4)),
            (2, Array(0..<19), .wrongWidth(command: 0x0A, item: 2, bytes: 19)),
            (4, [1], .wrongWidth(command: 0x0A, item: 4, bytes: 1)),
            (5, [], .wrongWidth(command: 0x0A, item: 5, bytes: 0)),
            (6, [1, 2, 3, 4], .wrongWidth(command: 0x0A, item: 6, bytes: 4)),
            (7, [0, 1], .wrongWidth(command: 0x0A, item: 7, bytes: 2)),
            (13, [0, 10], .wrongWidth(command: 0x0A, item: 13, bytes: 2)),
            (0xE1, [0xC3], .invalidText(command: 0x0A, item: 0xE1)),
            (0xE5, [0xFF], .invalidText(command: 0x0A, item: 0xE5)),
        ]
        for (id, value, error) in refusals {
            let payload = frame.items.flatMap { item in
                item.id == id ? value.map { itemBytes(id, $0) } ?? [] : itemBytes(item.id, Array(item.value))
            }
            let defective = try CourierFrame(command: frame.command, payload: payload)
            #expect(throws: error) { try CourierNotification(defective) }
        }
    }

    @Test func aFilterWithAHashOfWrongWidthIsRefused() throws {
        for id: UInt8 in 2...6 {
            let frame = try CourierFrame(
                command: CourierCommand.filter, payload: itemBytes(1, token) + itemBytes(id, hash) + itemBytes(id, [1]))
            #expect(throws: CourierError.wrongWidth(command: 0x09, item: id, bytes: 1)) { try CourierFilter(frame) }
        }
    }

    @Test func anErrorNamesTheFrameAndTheItem() {
        let error = CourierError.wrongWidth(command: 10, item: 4, bytes: 1)
        #expect(error.description == "item 4 of courier frame 10 is 1 bytes wide")
    }

    private var fullNotification: CourierNotification {
        var message = CourierNotification(token: token, topicHash: hash, payload: Array("{}".utf8), messageID: 77)
        message.expirySeconds = .max
        message.timestampNanoseconds = 1_700_000_000_000_000_000
        message.storageFlags = .fromStorage
        message.priority = 5
        message.pushID = Array(0..<16)
        message.channel = "apns"
        message.taskID = "task-ü"
        message.vendorMessageID = "m"
        message.collapseID = ""
        message.pushType = "alert"
        return message
    }

    private func comesBack<Message: CourierMessage>(
        _ message: Message, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let frames = try decode(bytes(of: message))
        #expect(frames.map(\.command) == [Message.command], sourceLocation: location)
        #expect(try frames.map { try Message($0) } == [message], sourceLocation: location)
    }
}
