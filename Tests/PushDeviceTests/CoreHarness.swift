import PushBytes
import PushCourier
import PushCrypto
import Testing

@testable import PushDevice

let exampleTopic = "com.example.app"
let exampleHash = SHA1.digest(Array(exampleTopic.utf8))
let exampleBaseToken = [UInt8](repeating: 0xB0, count: 32)
let exampleAppToken = [UInt8](repeating: 0xA0, count: 32)

extension CourierMessage {
    /// The message as a decoder on the other side would give it out.
    var frame: CourierFrame {
        get throws {
            var queue = ByteQueue()
            write(into: &queue)
            var decoder = CourierDecoder()
            queue.withSpan { decoder.receive($0) }
            return try #require(try decoder.next())
        }
    }
}

/// A core with a clock that only moves when told.
struct CoreHarness {
    var core: DeviceCore
    var nanoseconds: Int64 = 1_000_000_000
    var wallMilliseconds: Int64 = 1_700_000_000_000

    init(
        timing: DeviceTiming = DeviceTiming(), limits: DeviceLimits = DeviceLimits(),
        topics: [DeviceTopic] = [DeviceTopic(exampleTopic)], baseToken: [UInt8]? = nil, unconsumed: Int = 0
    ) {
        core = DeviceCore(
            timing: timing, limits: limits, topics: topics, baseToken: baseToken, unconsumed: unconsumed, seed: 1)
    }

    mutating func step(_ input: DeviceCore.Input) -> [DeviceCore.Output] {
        var outputs: [DeviceCore.Output] = []
        let now = DeviceCore.Moment(nanoseconds: nanoseconds, wallMilliseconds: wallMilliseconds)
        core.step(input, now: now, into: &outputs)
        return outputs
    }

    mutating func advance(_ duration: Duration) {
        let whole = duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
        nanoseconds += whole
        wallMilliseconds += whole / 1_000_000
    }

    /// Lets time pass up to the next deadline and fires the timer.
    mutating func timer() throws -> [DeviceCore.Output] {
        let deadline = try #require(core.nextDeadline)
        nanoseconds = max(nanoseconds, deadline)
        return step(.timer)
    }

    mutating func receive(_ message: some CourierMessage) throws -> [DeviceCore.Output] {
        step(.frame(try message.frame))
    }

    /// Connects and is accepted; the answer holds everything from the server's yes on.
    @discardableResult
    mutating func goOnline(token: [UInt8]? = exampleBaseToken) throws -> [DeviceCore.Output] {
        switch core.phase {
        case .stopped: _ = step(.start)
        case .waiting: _ = try timer()
        case .connecting, .awaitingResponse, .online: break
        }
        _ = step(.connected)
        return try receive(CourierConnectResponse(baseToken: token, serverTimeMilliseconds: 0))
    }

    mutating func notify(_ id: UInt32, payload: [UInt8] = [1], pushID: [UInt8]? = nil) throws -> [DeviceCore.Output] {
        var message = CourierNotification(
            token: exampleAppToken, topicHash: exampleHash, payload: payload, messageID: id)
        message.pushID = pushID
        return try receive(message)
    }
}

extension [DeviceCore.Output] {
    var writes: [DeviceCore.Outgoing] { compactMap { if case .write(let message) = $0 { message } else { nil } } }
    var events: [DeviceEvent] { compactMap { if case .event(let event) = $0 { event } else { nil } } }
    var arrivals: [Arrival] { compactMap { if case .store(let arrival) = $0 { arrival } else { nil } } }
    var acknowledgements: [CourierAcknowledgement] {
        writes.compactMap { if case .acknowledgement(let answer) = $0 { answer } else { nil } }
    }
    var tokenRequests: [String?] {
        writes.compactMap { if case .tokenRequest(let request) = $0 { request.topicName } else { nil } }
    }
    /// Kind of the disconnect, if there was one.
    var lost: DisconnectReason.Kind? {
        for case .disconnected(let reason, _) in events { return reason.kind }
        return nil
    }
    var retryDelay: Duration? {
        for case .disconnected(_, let delay) in events { return delay }
        return nil
    }
}
