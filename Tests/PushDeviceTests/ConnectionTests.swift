import Foundation
import PushBytes
import PushCourier
import PushCrypto
import PushReactor
import PushSQLite
import PushTLS
import Testing

@testable import PushDevice

/// One identity for all tests: an RSA key takes long to make.
let sharedIdentity: DeviceIdentity = try! DeviceIdentity(
    name: "test-device", key: RSAPrivateKey(), serial: [1, 2, 3], unixSeconds: Int64(Date().timeIntervalSince1970))

/// A courier and a device on one loop and one thread.
final class Rig: DeviceConnectionHandler {
    let loop: EventLoop
    let courier: TestCourier
    let deviceLoop: DeviceLoop
    var connection: DeviceConnection!
    var messages: [(sequence: Int64, payload: [UInt8])] = []
    var events: [DeviceEvent] = []

    init(identity: TestAuthority? = nil) throws {
        loop = try EventLoop()
        courier = try TestCourier(loop: loop, try identity ?? TestAuthority())
        deviceLoop = DeviceLoop(loop)
    }

    /// Short waits, so that reconnects do not slow the tests down.
    static var timing: DeviceTiming {
        var timing = DeviceTiming()
        timing.backoffBase = .milliseconds(5)
        timing.backoffMax = .milliseconds(20)
        return timing
    }

    func connect(
        trusting authority: String, host: String = "127.0.0.1", serverName: String? = nil,
        timing: DeviceTiming = Rig.timing, limits: DeviceLimits = DeviceLimits(), file: FileInbox? = nil
    ) throws {
        let server = try DeviceConnection.Server(
            host: host, port: courier.port, serverName: serverName, trust: .authorities(pem: authority))
        let core = DeviceCore(
            timing: timing, limits: limits, topics: [DeviceTopic(exampleTopic)], baseToken: try file?.baseToken(),
            unconsumed: try file?.unconsumed().count ?? 0, seed: 1)
        connection = DeviceConnection(
            on: deviceLoop, server: server, identity: sharedIdentity,
            inbox: file.map { .file($0) } ?? .memory(MemoryInbox(seenMax: 100)), core: core, handler: self)
        connection.start()
    }

    /// Turns the loop until `condition` holds. Gives up, which is a failure, only after far longer than it can take.
    func turn(_ what: Comment, until condition: () throws -> Bool) throws {
        let end = Date().addingTimeInterval(60)
        while try !condition() {
            try #require(Date() < end, what)
            loop.turn(wait: .milliseconds(50))
        }
    }

    var payloads: [[UInt8]] { messages.map(\.payload) }

    func count(_ kind: DisconnectReason.Kind) -> Int {
        events.count { if case .disconnected(let reason, _) = $0 { reason.kind == kind } else { false } }
    }

    var lastReason: DisconnectReason? {
        events.compactMap { if case .disconnected(let reason, _) = $0 { reason } else { nil } }.last
    }

    func finish() throws {
        connection.stop()
        courier.close()
        try turn("sockets close") { loop.openSockets == 0 }
    }

    func deviceDidReceive(_ connection: DeviceConnection, _ message: InboxMessage, sequence: Int64) {
        messages.append((sequence, message.payload))
    }

    func deviceDidChange(_ connection: DeviceConnection, _ event: DeviceEvent) {
        events.append(event)
    }
}

@Suite struct ConnectionTests {
    let identity: TestAuthority
    let rig: Rig

    init() throws {
        identity = try TestAuthority()
        rig = try Rig(identity: identity)
    }

    @Test func messagesArriveInOrderAndAreAcknowledged() throws {
        rig.courier.push([1])
        try rig.connect(trusting: identity.authority)
        try rig.turn("stored message") { rig.messages.count == 1 }
        for number in 2...50 { rig.courier.push([UInt8(number)]) }
        try rig.turn("live messages") { rig.courier.acknowledged.count == 50 }
        #expect(rig.payloads == (1...50).map { [UInt8($0)] })
        #expect(rig.courier.hellos.map(\.isProven) == [true])
        #expect(rig.connection.token(for: exampleTopic)?.count == 32)
        try rig.finish()
    }

    @Test func largestPayloadArrivesWhole() throws {
        try rig.connect(trusting: identity.authority)
        let payload = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
        rig.courier.push(payload)
        try rig.turn("message") { rig.messages.count == 1 }
        #expect(rig.payloads == [payload])
        try rig.finish()
    }

    @Test func messagesSentTwiceArriveOnce() throws {
        rig.courier.stutters = true
        try rig.connect(trusting: identity.authority)
        for number in 1...20 { rig.courier.push([UInt8(number)]) }
        try rig.turn("acknowledgements") { rig.courier.waiting.isEmpty }
        #expect(rig.payloads == (1...20).map { [UInt8($0)] })
        try rig.finish()
    }

    @Test(arguments: TestCourier.Ending.allCases)
    func everyKindOfEndLeadsBackWithTheSameToken(ending: TestCourier.Ending) throws {
        try rig.connect(trusting: identity.authority)
        for round in 1...3 {
            try rig.turn("online") { rig.connection.isOnline && rig.courier.filters.count == round }
            rig.courier.push([UInt8(round)])
            try rig.turn("message") { rig.messages.count == round }
            rig.courier.end(ending)
            try rig.turn("offline") { !rig.connection.isOnline }
        }
        try rig.turn("online again") { rig.connection.isOnline }
        #expect(rig.count(ending == .reset ? .connectionFailed : .closedByServer) == 3)
        let token = Certificate.fingerprint(of: sharedIdentity)
        #expect(rig.courier.hellos.map(\.token) == [nil, token, token, token])
        try rig.finish()
    }

    @Test func silenceAfterTheFirstFrameEndsTheConnection() throws {
        rig.courier.manner = .mute
        var timing = Rig.timing
        timing.responseDeadline = .milliseconds(20)
        try rig.connect(trusting: identity.authority, timing: timing)
        try rig.turn("given up") { rig.count(.noResponse) >= 2 }
        rig.courier.manner = .good
        try rig.turn("online") { rig.connection.isOnline }
        try rig.finish()
    }

    @Test func silenceOnAKeepAliveEndsTheConnection() throws {
        rig.courier.manner = .noKeepAlive
        var timing = Rig.timing
        timing.keepAliveInterval = .milliseconds(10)
        timing.keepAliveDeadline = .milliseconds(20)
        try rig.connect(trusting: identity.authority, timing: timing)
        try rig.turn("given up") { rig.count(.keepAliveUnanswered) >= 2 }
        try rig.finish()
    }

    @Test func aListenerThatNeverSpeaksTLSIsGivenUp() throws {
        var accepted: [Int32] = []
        let listener = try Listener(loop: rig.loop, host: "127.0.0.1", port: 0) { accepted.append($0) }
        defer { for descriptor in accepted { Glibc.close(descriptor) } }
        var timing = Rig.timing
        timing.connectDeadline = .milliseconds(30)
        let server = try DeviceConnection.Server(
            host: "127.0.0.1", port: listener.port, trust: .authorities(pem: identity.authority))
        let core = DeviceCore(timing: timing, topics: [], seed: 1)
        rig.connection = DeviceConnection(
            on: rig.deviceLoop, server: server, identity: sharedIdentity, inbox: .memory(MemoryInbox(seenMax: 1)),
            core: core, handler: rig)
        rig.connection.start()
        try rig.turn("given up") { rig.count(.connectionFailed) >= 2 }
        #expect(accepted.count >= 2)
        try rig.finish()
    }

    @Test func refusedTokenLeadsBackWithoutIt() throws {
        let directory = try TemporaryDirectory()
        let file = try FileInbox(path: directory.file("device.db"), seenMax: 10)
        var change = DeviceInbox.Change()
        change.baseToken = .some([1, 2, 3])
        _ = try file.commit(change)
        rig.courier.refusals = [CourierConnectResponse(status: 2, baseToken: nil, serverTimeMilliseconds: 0)]
        try rig.connect(trusting: identity.authority, file: file)
        try rig.turn("online") { rig.connection.isOnline }
        #expect(rig.courier.hellos.map(\.token) == [[1, 2, 3], nil])
        #expect(rig.count(.refused) == 1)
        rig.loop.turn(wait: .zero)
        #expect(try file.baseToken() == Certificate.fingerprint(of: sharedIdentity))
        try rig.finish()
    }

    // MARK: Trust

    @Test func serverOfAnotherAuthorityIsRefusedWithTheReason() throws {
        try rig.connect(trusting: TestAuthority().authority)
        try rig.turn("refused") { rig.count(.untrusted) >= 1 }
        let reason = try #require(rig.lastReason)
        #expect(reason.detail.contains("not trusted"))
        #expect(rig.courier.hellos.isEmpty)
        try rig.finish()
    }

    @Test func serverOfAnotherNameIsRefusedWithTheReason() throws {
        let other = try TestAuthority(names: ["push.example.com"])
        let rig = try Rig(identity: other)
        try rig.connect(trusting: other.authority)
        try rig.turn("refused") { rig.count(.wrongHostName) >= 1 }
        #expect(rig.courier.hellos.isEmpty)
        try rig.finish()
    }

    @Test func serverNameMayDifferFromTheHost() throws {
        try rig.connect(trusting: identity.authority, serverName: "courier.push.apple.com")
        try rig.turn("online") { rig.connection.isOnline }
        #expect(rig.courier.hellos.first?.serverName == "courier.push.apple.com")
        try rig.finish()
    }

    @Test func hostMayBeAName() throws {
        try rig.connect(trusting: identity.authority, host: "localhost")
        try rig.turn("online") { rig.connection.isOnline }
        #expect(rig.courier.hellos.first?.serverName == "localhost")
        try rig.finish()
    }

    @Test(arguments: [[0x0A, 0xFF, 0xFF, 0xFF, 0xFF], [0x0A, 0, 0, 0, 2, 3, 9]] as [[UInt8]])
    func brokenFramesEndTheConnectionAndItComesBack(bytes: [UInt8]) throws {
        try rig.connect(trusting: identity.authority)
        try rig.turn("online") { rig.connection.isOnline }
        rig.courier.send(bytes)
        try rig.turn("refused") { rig.count(.protocolViolation) == 1 }
        try rig.turn("online again") { rig.connection.isOnline }
        rig.courier.push([1])
        try rig.turn("message") { rig.payloads == [[1]] }
        try rig.finish()
    }

    @Test func aPeerThatSpeaksNoTLSIsAViolation() throws {
        final class Plain: SocketHandler {
            func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
                socket.output.append("HTTP/1.1 400 Bad Request\r\n\r\n")
                socket.wantsFlush()
            }
            func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) {}
        }
        let plain = Plain()
        let listener = try Listener(loop: rig.loop, host: "127.0.0.1", port: 0) { [rig] descriptor in
            _ = Socket(loop: rig.loop, accepted: descriptor, handler: plain)
        }
        let server = try DeviceConnection.Server(host: "127.0.0.1", port: listener.port, trust: .system)
        rig.connection = DeviceConnection(
            on: rig.deviceLoop, server: server, identity: sharedIdentity, inbox: .memory(MemoryInbox(seenMax: 1)),
            core: DeviceCore(timing: Rig.timing, topics: [], seed: 1), handler: rig)
        rig.connection.start()
        try rig.turn("refused") { rig.count(.protocolViolation) >= 1 }
        try rig.finish()
    }

    @Test func nobodyListeningLeadsToTryingAgain() throws {
        let port = rig.courier.port
        rig.courier.close()
        try rig.connect(trusting: identity.authority)
        try rig.turn("failures") { rig.count(.connectionFailed) >= 3 }
        #expect(rig.lastReason?.detail.contains("\(port)") == true)
        rig.connection.stop()
    }

    // MARK: Inbox

    @Test func failedCommitsAcknowledgeNothingAndNothingIsLost() throws {
        let directory = try TemporaryDirectory()
        let file = try FileInbox(path: directory.file("device.db"), seenMax: 100)
        try rig.connect(trusting: identity.authority, file: file)
        try rig.turn("online") { rig.connection.isOnline }
        var step = 0
        // Every seventh step fails for a while, whatever it is.
        file.injectedFailure = { _ in
            step += 1
            return step < 200 && step.isMultiple(of: 7)
                ? SQLiteError(code: 13, message: "full", operation: "test") : nil
        }
        for number in 1...40 {
            rig.courier.push([UInt8(number)])
            rig.loop.turn(wait: .zero)
        }
        try rig.turn("everything") { rig.courier.waiting.isEmpty }
        #expect(rig.count(.storageFailed) > 0)
        #expect(rig.payloads == (1...40).map { [UInt8($0)] })
        file.injectedFailure = nil
        #expect(try file.unconsumed().map(\.message.payload) == rig.payloads)
        try rig.finish()
    }

    @Test func slowAppHoldsTheServerBackAndLosesNothing() throws {
        var limits = DeviceLimits()
        limits.unconsumedMax = 5
        try rig.connect(trusting: identity.authority, limits: limits)
        for number in 1...30 { rig.courier.push([UInt8(number)]) }
        try rig.turn("full") { rig.events.contains(.inboxFull) && rig.courier.acknowledged.count == 5 }
        #expect(rig.messages.count == 5)
        var consumed = 0
        while consumed < 30 {
            try rig.turn("next message") { rig.messages.count > consumed }
            rig.connection.consume(sequence: rig.messages[consumed].sequence)
            consumed += 1
        }
        #expect(rig.payloads == (1...30).map { [UInt8($0)] })
        try rig.turn("acknowledged") { rig.courier.waiting.isEmpty }
        #expect(rig.count(.catchingUp) >= 5)
        try rig.finish()
    }

    @Test func aServerThatDoesNotReadIsLeft() throws {
        var limits = DeviceLimits()
        limits.outputBytesMax = 4000
        try rig.connect(trusting: identity.authority, limits: limits)
        try rig.turn("online") { rig.connection.isOnline }
        // A hundred acknowledgements in one turn are more than may wait.
        for number in 1...100 { rig.courier.push([UInt8(number)]) }
        try rig.turn("left") { rig.lastReason?.detail.contains("does not read") == true }
        // They are durable nevertheless.
        #expect(rig.messages.count == 100)
        try rig.finish()
    }

    @Test func manyDevicesShareALoop() throws {
        try rig.connect(trusting: identity.authority)
        let server = try DeviceConnection.Server(
            host: "127.0.0.1", port: rig.courier.port, trust: .authorities(pem: identity.authority))
        let devices = (0..<100).map { number in
            DeviceConnection(
                on: rig.deviceLoop, server: server, identity: sharedIdentity,
                inbox: .memory(MemoryInbox(seenMax: 10)),
                core: DeviceCore(timing: Rig.timing, topics: [DeviceTopic(exampleTopic)], seed: UInt64(number)),
                handler: rig)
        }
        for device in devices { device.start() }
        try rig.turn("all online") { devices.allSatisfy { $0.token(for: exampleTopic) != nil } }
        rig.courier.push([1])
        try rig.turn("all served") { rig.messages.count == 101 }
        for device in devices { device.stop() }
        try rig.finish()
    }

    @Test func aCutIsMendedWithoutLoss() throws {
        try rig.connect(trusting: identity.authority)
        for number in 1...50 {
            rig.courier.push([UInt8(number)])
            rig.loop.turn(wait: .zero)
            if number.isMultiple(of: 5) { rig.connection.cut() }
        }
        try rig.turn("everything") { rig.courier.waiting.isEmpty }
        #expect(rig.payloads == (1...50).map { [UInt8($0)] })
        try rig.finish()
    }
}

extension Certificate {
    static func fingerprint(of identity: DeviceIdentity) -> [UInt8] { identity.certificate.fingerprint }
}
