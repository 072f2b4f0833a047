import Foundation
import PushBytes
import PushCore
import PushCrypto
import PushDevice
import PushHTTP2
import PushSQLite
import PushStore
import Testing

@testable import PushServer

/// A provider, the server and a phone in one thread, with pipes that split, cut and lose; a clock that jumps; a server
/// and a phone that are killed; a disk that fails. Everything follows from the seed.
final class SeededWorld {
    /// The server's side of a pipe.
    private final class Transport: ServiceTransport {
        var wantsDrain = false
        var isEnded = false
        func hasOutput() { wantsDrain = true }
        func end() { isEnded = true }
    }

    private struct ProviderLink {
        let connection: ProviderConnection
        let transport: Transport
        var toServer = ByteQueue()
        var toClient = ByteQueue()
    }

    private struct PhoneLink {
        let connection: CourierConnection
        let transport: Transport
        var toServer = ByteQueue()
        var toClient = ByteQueue()
    }

    private(set) var provider: SimulatedProvider
    let phone: SimulatedPhone
    private(set) var store: PushStore
    private(set) var service: PushService
    private(set) var faults: [String: Int] = [:]

    private var random: SeededRandom
    private let rule: StorageRule
    private let directory: String
    private var monotonic: Int64 = 1_000_000
    private var unix: Int64 = 1_900_000_000_000
    private var providerLink: ProviderLink?
    private var phoneLink: PhoneLink?
    private var isDiskFailing = false

    init(seed: UInt64, rule: StorageRule) throws {
        random = SeededRandom(seed: seed)
        self.rule = rule
        directory = NSTemporaryDirectory() + "world-\(seed)-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        phone = SimulatedPhone(seed: seed, unixSeconds: unix / 1000)
        provider = SimulatedProvider(token: "", unixSeconds: unix / 1000)
        store = try PushStore(.file(directory + "/store.sqlite"))
        service = try Self.makeService(store, rule, now: Moment(monotonicMilliseconds: 0, unixMilliseconds: unix))
        phone.start(deviceNow)
        for _ in 0..<50 where phone.token == nil { round() }
        provider = SimulatedProvider(token: try #require(phone.token), unixSeconds: unix / 1000)
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(atPath: directory)
    }

    private static func makeService(_ store: PushStore, _ rule: StorageRule, now: Moment) throws -> PushService {
        var setup = ServiceSetup()
        setup.rules.storageRule = rule
        setup.rules.defaultTeam = "TEAM1"
        setup.bundles = ["com.example.app"]
        setup.keys = [
            ProviderKey(
                id: "KEY1", team: "TEAM1", environment: nil, publicKey: SimulatedProvider.key.publicKey)
        ]
        return try PushService(store: store, setup: setup, secret: [UInt8](repeating: 9, count: 32), now: now)
    }

    var now: Moment { Moment(monotonicMilliseconds: monotonic, unixMilliseconds: unix) }
    var deviceNow: DeviceCore.Moment {
        DeviceCore.Moment(nanoseconds: monotonic * 1_000_000, wallMilliseconds: unix)
    }

    // MARK: Running

    /// So many random steps, faults among them.
    func run(steps: Int) throws {
        for _ in 0..<steps { try step() }
    }

    /// No more faults: everything that can arrive does.
    func heal() {
        isDiskFailing = false
        store.injectedFailure = nil
        for _ in 0..<400 {
            round()
            advance(1000)
            if phone.isOnline && provider.isIdle
                && service.core.registry.allRegistrations.allSatisfy({
                    $0.waitingCount + $0.inFlightCount == 0
                })
            {
                return
            }
        }
    }

    private func step() throws {
        switch random.next() % 100 {
        case 0..<25: provider.send()
        case 25..<60: moveBytes()
        case 60..<75: endServerTurn()
        case 75..<83: endPhoneTurn()
        case 83..<92: advance(Int64(random.next() % 400))
        case 92..<94: cutPhone()
        case 94..<95: cutProvider()
        case 95..<96: try crashServer()
        case 96..<97: crashPhone()
        case 97..<98: failDisk()
        case 98..<99: halfOpenPhone()
        default: advance(Int64(random.next() % 40_000))
        }
        connect()
    }

    /// Everything moves once, without faults.
    private func round() {
        connect()
        while moveAll() {}
        endServerTurn()
        while moveAll() {}
        endPhoneTurn()
        while moveAll() {}
        endServerTurn()
    }

    private func advance(_ milliseconds: Int64) {
        monotonic += milliseconds
        unix += milliseconds
        service.timePassed(now: now)
        phone.timePassed(deviceNow)
    }

    private func count(_ fault: String) { faults[fault, default: 0] += 1 }

    // MARK: Links

    private func connect() {
        if phone.wish == .close {
            phone.grantWish()
            dropPhoneLink()
        }
        if phone.wish == .open {
            phone.grantWish()
            dropPhoneLink()
            let transport = Transport()
            let connection = service.openCourier(serverName: nil, now: now)
            connection.transport = transport
            phoneLink = PhoneLink(connection: connection, transport: transport)
            phone.linkOpened(deviceNow)
        }
        if providerLink == nil, let connection = try? service.openProvider(serverName: nil, now: now) {
            let transport = Transport()
            connection.transport = transport
            providerLink = ProviderLink(connection: connection, transport: transport)
            provider.connect()
        }
    }

    private func dropPhoneLink() {
        guard let link = phoneLink else { return }
        phoneLink = nil
        service.closed(link.connection, now: now)
    }

    private func cutPhone() {
        guard phoneLink != nil else { return }
        count("phone cut")
        dropPhoneLink()
        phone.linkLost(deviceNow)
    }

    /// The phone loses the link, the server does not notice.
    private func halfOpenPhone() {
        guard phoneLink != nil else { return }
        count("half open")
        phoneLink = nil
        phone.linkLost(deviceNow)
    }

    private func cutProvider() {
        guard providerLink != nil else { return }
        count("provider cut")
        providerLink = nil
        provider.cut()
    }

    private func crashPhone() {
        count("phone killed")
        dropPhoneLink()
        phone.crash(deviceNow)
    }

    private func crashServer() throws {
        count("server killed")
        providerLink = nil
        provider.cut()
        if phoneLink != nil {
            phoneLink = nil
            phone.linkLost(deviceNow)
        }
        store.close()
        store = try PushStore(.file(directory + "/store.sqlite"))
        isDiskFailing = false
        service = try Self.makeService(store, rule, now: now)
    }

    /// The disk fails for a while: one write of each turn, or the commit.
    private func failDisk() {
        isDiskFailing.toggle()
        guard isDiskFailing else {
            store.injectedFailure = nil
            return
        }
        count("disk failing")
        var generator = SeededRandom(seed: random.next())
        store.injectedFailure = { operation in
            guard generator.next() % 3 == 0 else { return nil }
            return SQLiteError(code: 13, message: "database or disk is full", operation: operation)
        }
    }

    // MARK: Bytes

    private func endServerTurn() {
        service.endTurn(now: now)
        if var link = providerLink, link.transport.wantsDrain {
            link.transport.wantsDrain = false
            try? link.connection.drain(into: &link.toClient)
            providerLink = link
        }
        if var link = phoneLink, link.transport.wantsDrain {
            link.transport.wantsDrain = false
            link.connection.drain(into: &link.toClient)
            phoneLink = link
        }
    }

    private func endPhoneTurn() {
        phone.endTurn(deviceNow)
    }

    private func moveBytes() {
        switch random.next() % 4 {
        case 0: moveFromProvider(limit: chunk())
        case 1: moveToProvider(limit: chunk())
        case 2: moveFromPhone(limit: chunk())
        default: moveToPhone(limit: chunk())
        }
    }

    private func chunk() -> Int { random.next() % 3 == 0 ? Int(random.next() % 20) + 1 : 4096 }

    private func moveAll() -> Bool {
        let moved = [
            moveFromProvider(limit: .max), moveToProvider(limit: .max), moveFromPhone(limit: .max),
            moveToPhone(limit: .max),
        ]
        return moved.contains(true)
    }

    @discardableResult
    private func moveFromProvider(limit: Int) -> Bool {
        guard var link = providerLink else { return false }
        provider.drain(into: &link.toServer)
        let bytes = Self.take(&link.toServer, limit)
        providerLink = link
        guard !bytes.isEmpty else { return false }
        do {
            try link.connection.receive(bytes.span, now: now)
        } catch {
            Issue.record("the server refused the provider's bytes: \(error)")
        }
        return true
    }

    @discardableResult
    private func moveToProvider(limit: Int) -> Bool {
        guard var link = providerLink else { return false }
        let bytes = Self.take(&link.toClient, limit)
        providerLink = link
        guard !bytes.isEmpty else { return false }
        provider.receive(bytes.span)
        return true
    }

    @discardableResult
    private func moveFromPhone(limit: Int) -> Bool {
        guard var link = phoneLink else { return false }
        phone.output.move(into: &link.toServer)
        let bytes = Self.take(&link.toServer, limit)
        phoneLink = link
        guard !bytes.isEmpty else { return false }
        do {
            try link.connection.receive(bytes.span, now: now)
        } catch {
            Issue.record("the server refused the phone's bytes: \(error)")
        }
        return true
    }

    @discardableResult
    private func moveToPhone(limit: Int) -> Bool {
        guard var link = phoneLink else { return false }
        let bytes = Self.take(&link.toClient, limit)
        phoneLink = link
        if !bytes.isEmpty {
            phone.receive(bytes.span, deviceNow)
            return true
        }
        guard link.transport.isEnded else { return false }
        phoneLink = nil
        service.closed(link.connection, now: now)
        phone.linkLost(deviceNow)
        return true
    }

    private static func take(_ queue: inout ByteQueue, _ limit: Int) -> [UInt8] {
        let bytes = Array(queue.bytes.prefix(limit))
        queue.consume(bytes.count)
        return bytes
    }
}
