import PushBytes
import Testing

@testable import PushCourier

struct SubscriptionTests {
    private let token = [UInt8](repeating: 0xAB, count: 32)

    private var full: CourierSubscription {
        CourierSubscription(
            index: 0x0102_0304,
            changes: [
                .init(
                    topic: "com.example.app",
                    joined: [
                        CourierChannel(id: [1, 2, 3], lastMessageNanoseconds: .max),
                        CourierChannel(id: Array(repeating: 9, count: CourierChannel.idBytesMax)),
                    ], left: [CourierChannel(id: [0])]),
                .init(topic: "com.example.ü"),
            ], replaces: true, baseToken: token)
    }

    @Test func subscriptionsComeBackAsTheyWere() throws {
        for message in [full, CourierSubscription(index: 0, changes: [], baseToken: [])] {
            let frame = try #require(try decode(bytes(of: message)).first)
            #expect(try CourierSubscription(frame) == message)
        }
    }

    @Test func fieldsHaveTheNumbersOfTheProtocol() throws {
        let message = CourierSubscription(
            index: 5,
            changes: [.init(topic: "a", joined: [CourierChannel(id: [7], lastMessageNanoseconds: 300)])],
            replaces: true, baseToken: [8])
        let body: [UInt8] = [
            0x08, 1,  // 1: version 1
            0x12, 11, 0x0A, 1, 0x61, 0x12, 6, 0x0A, 1, 7, 0x10, 0xAC, 0x02,  // 2: topic, channel {id, 300}
            0x18, 1,  // 3: replaces
        ]
        #expect(
            bytes(of: message)
                == frameBytes(0x1D, itemBytes(1, [0, 0, 0, 5]) + itemBytes(2, body) + itemBytes(3, [8])))
    }

    @Test func answersAreReadUnderEitherCommand() throws {
        let answer = CourierSubscriptionResponse(index: 9, token: token, status: 2)
        for command in [CourierCommand.subscription, CourierCommand.subscriptionResponse] {
            var queue = ByteQueue()
            answer.write(under: command, into: &queue)
            let frame = try #require(try decode(queue.bytes).first)
            #expect(frame.command == command)
            #expect(try CourierSubscriptionResponse(frame) == answer)
        }
        #expect(throws: CourierError.self) { try CourierSubscriptionResponse(try CourierFrame(command: 0x12)) }
    }

    @Test func aFrameSplitAtEveryByteIsTheSameFrame() throws {
        let whole = bytes(of: full)
        for split in 0...whole.count {
            var decoder = CourierDecoder()
            decoder.receive(whole.span.extracting(0..<split))
            if split < whole.count { #expect(try decoder.next() == nil) }
            decoder.receive(whole.span.extracting(split..<whole.count))
            let frame = try #require(try decoder.next())
            #expect(try CourierSubscription(frame) == full)
        }
    }

    @Test func aBodyCutAnywhereIsReadOrRefusedNeverBeyondItsEnd() throws {
        let frame = try #require(try decode(bytes(of: full)).first)
        let body = Array(frame.item(2)!)
        for end in body.indices {
            let cut = itemBytes(1, [0, 0, 0, 1]) + itemBytes(2, Array(body[..<end])) + itemBytes(3, token)
            let message = try? CourierSubscription(CourierFrame(command: 0x1D, payload: cut))
            // Only between two fields of the outer message is a shorter body a message.
            if let message { #expect(full.changes.starts(with: message.changes)) }
        }
    }

    @Test func randomBodiesNeverTrap() throws {
        var random = SeededRandom(seed: testSeed())
        var accepted = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &random)
            let body = (0..<count).map { _ in UInt8.random(in: 0...31, using: &random) }
            let frame = try CourierFrame(
                command: 0x1D, payload: itemBytes(1, [0, 0, 0, 1]) + itemBytes(2, body) + itemBytes(3, token))
            do {
                _ = try CourierSubscription(frame)
                accepted += 1
            } catch {
                #expect(error == .malformedItem(command: 0x1D, item: 2))
            }
        }
        #expect(accepted > 0)
    }

    @Test func everyFlippedBitOfABodyIsReadOrRefused() throws {
        let frame = try #require(try decode(bytes(of: full)).first)
        let body = Array(frame.item(2)!)
        for position in body.indices {
            for bit in 0..<8 {
                var damaged = body
                damaged[position] ^= 1 << bit
                let payload = itemBytes(1, [0, 0, 0, 1]) + itemBytes(2, damaged) + itemBytes(3, token)
                _ = try? CourierSubscription(CourierFrame(command: 0x1D, payload: payload))
            }
        }
    }

    struct Malformed: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: [UInt8]

        init(_ what: String, _ head: [UInt8], _ filler: UInt8 = 0, _ count: Int = 0, _ tail: [UInt8] = []) {
            testDescription = what
            body = head + [UInt8](repeating: filler, count: count) + tail
        }
    }

    static let malformed: [Malformed] = [
        Malformed("number without an end", [0x08, 0x80]),
        Malformed("number of more than 64 bits", [0x08], 0xFF, 9, [0x02]),
        Malformed("number of eleven bytes", [0x08], 0x80, 10, [0x00]),
        Malformed("field 0", [0x00, 0x01]),
        Malformed("a group", [0x0B, 0x0C]),
        Malformed("a length beyond the end", [0x12, 0x02, 0x00]),
        Malformed("a length of 2 to the 63", [0x12], 0x80, 9, [0x01]),
        Malformed("a fixed number cut short", [0x0D, 1, 2, 3]),
        Malformed("a change without a topic", [0x12, 0x00]),
        Malformed("a channel without an id", [0x12, 5, 0x0A, 1, 0x61, 0x12, 0]),
        Malformed("a topic that is not UTF-8", [0x12, 3, 0x0A, 1, 0xFF]),
    ]

    @Test(arguments: malformed)
    func aMalformedBodyIsRefused(_ malformed: Malformed) throws {
        let frame = try CourierFrame(
            command: 0x1D, payload: itemBytes(1, [0, 0, 0, 1]) + itemBytes(2, malformed.body) + itemBytes(3, token))
        #expect(throws: CourierError.malformedItem(command: 0x1D, item: 2)) {
            try CourierSubscription(frame)
        }
    }

    @Test func unknownFieldsAreSkipped() throws {
        let body: [UInt8] = [0x0D, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8, 0x7A, 1, 0, 0x18, 0]
        let frame = try CourierFrame(
            command: 0x1D, payload: itemBytes(1, [0, 0, 0, 1]) + itemBytes(2, body) + itemBytes(3, token))
        #expect(try CourierSubscription(frame) == CourierSubscription(index: 1, changes: [], baseToken: token))
    }

    @Test func aFrameNamesABoundedNumberOfChannels() throws {
        func message(_ count: Int) throws -> CourierFrame {
            let channels = (0..<count).map { CourierChannel(id: [UInt8($0 & 0xFF)]) }
            let message = CourierSubscription(
                index: 1, changes: [.init(topic: "a", joined: channels)], baseToken: token)
            return try #require(try decode(bytes(of: message)).first)
        }
        // The topic and its name count, too.
        #expect(try CourierSubscription(message(CourierSubscription.entriesMax - 2)).changes[0].joined.count == 1022)
        #expect(throws: CourierError.malformedItem(command: 0x1D, item: 2)) {
            try CourierSubscription(message(CourierSubscription.entriesMax - 1))
        }
    }

    @Test func aBroadcastTellsItsChannelInItem29() throws {
        var message = CourierNotification(token: token, topicHash: [UInt8](0..<20), messageID: 1)
        message.broadcastChannel = CourierChannel(id: [7], lastMessageNanoseconds: 300)
        let frame = try #require(try decode(bytes(of: message)).first)
        #expect(frame.item(29) == [0x0A, 1, 7, 0x10, 0xAC, 0x02])
        #expect(try CourierNotification(frame) == message)
        let broken = try CourierFrame(command: 0x0A, payload: frame.payload + itemBytes(30, []))
        #expect(try CourierNotification(broken) == message)
    }
}
