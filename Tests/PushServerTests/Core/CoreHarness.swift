import PushBytes
import PushCore
import PushCourier
import PushCrypto
import PushJSON
import Testing

@testable import PushServer

/// A core without anything around it, and its outputs as lines of text.
final class CoreHarness {
    static let start: Int64 = 1_767_225_600_000
    static let bundle = "com.example.app"
    static let key = "KEY0000001"
    static let team = "TEAM000001"

    let core: ServerCore
    /// Milliseconds since the start.
    var elapsed: Int64 = 0

    init(
        settings: RuleSettings = RuleSettings(), mode: DeviceIdentityMode = .open, secret: UInt8 = 1,
        rule: StorageRule = .ideal
    ) {
        core = ServerCore(
            settings: settings, identityMode: mode, secret: [UInt8](repeating: secret, count: 32), lastSequence: 0)
        core.addApp(bundle: Self.bundle, team: Self.team, storageRule: rule)
        core.outputs = []
    }

    var now: Moment {
        Moment(monotonicMilliseconds: 5_000_000 + elapsed, unixMilliseconds: Self.start + elapsed)
    }

    var app: App { core.registry.app(Self.bundle)! }

    func topic(_ suffix: TopicSuffix = .none) -> Topic {
        core.registry.topic(named: Array((Self.bundle + suffix.text).utf8))!
    }

    // MARK: Devices

    /// Connects and introduces a device in open mode.
    @discardableResult
    func connect(_ connection: Int, token: [UInt8]? = nil) -> Device? {
        var message = CourierConnect()
        message.baseToken = token
        return connect(connection, message)
    }

    @discardableResult
    func connect(_ connection: Int, _ message: CourierConnect, environment: PushEnvironment = .sandbox) -> Device? {
        core.deviceConnected(connection, environment: environment, now: now)
        core.received(message, from: connection, now: now)
        return core.sessions[connection]?.device
    }

    @discardableResult
    func register(_ connection: Int, _ suffix: TopicSuffix = .none) -> Registration {
        let device = core.sessions[connection]!.device!
        core.received(
            CourierTokenRequest(baseToken: device.baseToken, topicHash: topic(suffix).hash.bytes), from: connection,
            now: now)
        return device.registrations.first { $0.topic === topic(suffix) }!
    }

    func listen(_ connection: Int, _ suffixes: [TopicSuffix] = [.none]) {
        let device = core.sessions[connection]!.device!
        let hashes = suffixes.map { topic($0).hash.bytes }
        core.received(CourierFilter(baseToken: device.baseToken, enabled: hashes), from: connection, now: now)
    }

    /// A device that is there, registered and listening; the outputs of that are dropped.
    @discardableResult
    func ready(_ connection: Int = 1) -> Registration {
        connect(connection)
        let registration = register(connection)
        listen(connection)
        core.outputs = []
        return registration
    }

    func acknowledge(_ connection: Int, _ messageID: UInt32, status: UInt8 = CourierAcknowledgement.taken) {
        core.received(CourierAcknowledgement(messageID: messageID, status: status), from: connection, now: now)
    }

    // MARK: Pushes

    /// Takes in a push that passed; `seconds` is its expiration from now on, 0 tries it once.
    @discardableResult
    func push(to registration: Registration, _ suffix: TopicSuffix = .none, seconds: Int64? = nil) -> Int64 {
        var notification = APNsNotification()
        notification.expiration = seconds.map { $0 == 0 ? 0 : now.unixMilliseconds / 1000 + $0 }
        let acceptance = Acceptance(registration: registration, topic: topic(suffix), notification: notification)
        return core.accept(acceptance, now: now).sequence
    }

    func pass(_ milliseconds: Int64) {
        elapsed += milliseconds
        core.timePassed(now: now)
    }

    // MARK: Outputs

    /// What the core asked for since the last time, one line each, without the changes to be saved.
    func lines() -> [String] {
        defer { core.outputs = [] }
        return core.outputs.compactMap { output in
            if case .save = output { return nil }
            return Self.line(output)
        }
    }

    /// All of it.
    func allLines() -> [String] {
        defer { core.outputs = [] }
        return core.outputs.map(Self.line)
    }

    func deliveries() -> [ServerDelivery] {
        core.outputs.compactMap { if case .deliver(let delivery) = $0 { delivery } else { nil } }
    }

    private static func line(_ output: ServerOutput) -> String {
        switch output {
        case .event(let event):
            "\(event.milestone) push \(event.push) device \(event.device) detail \(event.detail)"
        case .deliver(let delivery):
            "deliver \(delivery.sequence) as \(delivery.messageID) to \(delivery.connection)"
                + (delivery.isFromStorage ? " stored" : "") + (delivery.isLastStored ? " last" : "")
        case .reply(let connection, let reply): "reply \(connection) \(line(reply))"
        case .close(let connection, let why): "close \(connection): \(why)"
        case .save(let change): "save \(line(change))"
        }
    }

    private static func line(_ reply: DeviceReply) -> String {
        switch reply {
        case .accepted(let token): "accepted \(token.map { Hex.encode($0) } ?? "as before")"
        case .refused: "refused"
        case .token(let token, let topic): "token \(token.hex) \(Hex.encode(topic.bytes))"
        case .tokenRefused: "token refused"
        case .keepAlive: "keep-alive"
        case .subscribed(let index, _, let isDone): "subscribed \(index) \(isDone)"
        }
    }

    private static func line(_ change: RegistryChange) -> String {
        switch change {
        case .app(let app): "app \(app.bundle)"
        case .appRemoved(let bundle): "app \(bundle) removed"
        case .device(let device): "device \(device.id)"
        case .deviceRemoved(let id): "device \(id) removed"
        case .registration(let registration): "registration \(registration.id)"
        case .channel(let channel): "channel \(channel.number)"
        case .channelRemoved(let number): "channel \(number) removed"
        case .subscription(let subscription): "subscription \(subscription.registration.id)"
        case .subscriptionRemoved(let registration, _): "subscription \(registration) removed"
        }
    }
}
