import Foundation
import PushCourier
import PushReactor
import PushSQLite
import Synchronization
import Testing

@testable import PushDevice

/// A courier on a thread of its own, as a real server is to the public interface.
final class RemoteCourier: Sendable {
    let port: UInt16
    private let thread: LoopThread
    private let door: Inbox<@Sendable () -> Void>
    private let box: Box

    /// Touched on the courier's thread only.
    final class Box: @unchecked Sendable {
        var courier: TestCourier?
    }

    init(_ identity: TestAuthority) throws {
        let box = Box()
        let port = Mutex<UInt16>(0)
        (thread, door) = try LoopThread.start(name: "courier") { loop in
            let courier = try TestCourier(loop: loop, identity)
            box.courier = courier
            port.withLock { $0 = courier.port }
            return Inbox<@Sendable () -> Void>(loop: loop) { $0() }
        }
        self.box = box
        self.port = port.withLock { $0 }
    }

    /// Runs `body` on the courier's thread and returns what it returns.
    func ask<Answer: Sendable>(_ body: @escaping @Sendable (TestCourier) -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            let box = box
            door.post { continuation.resume(returning: body(box.courier!)) }
        }
    }

    func push(_ payloads: [UInt8]...) async {
        await ask { courier in for payload in payloads { courier.push(payload) } }
    }

    func stop() async {
        let box = box
        await ask { $0.close() }
        await withCheckedContinuation { continuation in
            door.post {
                box.courier = nil
                continuation.resume()
            }
        }
        thread.stop()
    }
}

@Suite struct PushDeviceTests {
    let identity: TestAuthority
    let courier: RemoteCourier
    let directory: TemporaryDirectory

    init() throws {
        identity = try TestAuthority()
        courier = try RemoteCourier(identity)
        directory = try TemporaryDirectory()
    }

    private func configuration(stateDirectory: String? = nil) -> DeviceConfiguration {
        var configuration = DeviceConfiguration(
            trust: .authorities(pem: identity.authority), topics: [exampleTopic])
        configuration.port = courier.port
        configuration.stateDirectory = stateDirectory
        configuration.timing = Rig.timing
        return configuration
    }

    private func take(_ count: Int, from device: PushDevice, acknowledging: Bool = true) async -> [[UInt8]] {
        var payloads: [[UInt8]] = []
        if count == 0 { return payloads }
        for await message in device.messages {
            payloads.append(message.payload)
            if acknowledging { message.acknowledge() }
            if payloads.count == count { break }
        }
        return payloads
    }

    @Test func messagesComeThroughThePublicInterface() async throws {
        let device = PushDevice(configuration())
        try await device.start()
        let token = try await device.token(for: exampleTopic)
        #expect(token.utf8.count == 64)
        #expect(try await device.token(for: exampleTopic) == token)
        await courier.push([1], [2], [3])
        var messages: [DeviceMessage] = []
        for await message in device.messages {
            messages.append(message)
            if messages.count == 3 { break }
        }
        #expect(messages.map(\.payload) == [[1], [2], [3]])
        let first = try #require(messages.first)
        #expect(first.topic == exampleTopic && first.pushType == "alert" && !first.isFromStorage)
        #expect(first.pushID?.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        await device.stop()
        await courier.stop()
    }

    @Test func restartKeepsTheTokenAndHandsOutWhatWasNotAcknowledged() async throws {
        let state = directory.file("state/of/the/device")
        let first = PushDevice(configuration(stateDirectory: state))
        try await first.start()
        let token = try await first.token(for: exampleTopic)
        await courier.push([1], [2], [3])
        #expect(await take(1, from: first) == [[1]])
        // The other two are durable once the server has their acknowledgements.
        while await courier.ask({ $0.acknowledged.count }) < 3 { await Task.yield() }
        await first.stop()

        let second = PushDevice(configuration(stateDirectory: state))
        try await second.start()
        #expect(try await second.token(for: exampleTopic) == token)
        #expect(await take(2, from: second) == [[2], [3]])
        await second.stop()

        let third = PushDevice(configuration(stateDirectory: state))
        try await third.start()
        await courier.push([4])
        #expect(await take(1, from: third) == [[4]])
        await third.stop()
        let hellos = await courier.ask { $0.hellos }
        #expect(hellos.count == 3)
        #expect(hellos[0].token == nil && hellos[1].token != nil && hellos[1].token == hellos[2].token)
        #expect(Set(hellos.map(\.certificate)).count == 1)
        await courier.stop()
    }

    @Test func stateIsForItsOwnerOnly() async throws {
        let state = directory.file("state")
        let device = PushDevice(configuration(stateDirectory: state))
        try await device.start()
        for (path, mode) in [(state, 0o700), (state + "/device.db", 0o600), (state + "/device.db-wal", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
        }
        await device.stop()
        await courier.stop()
    }

    @Test func devicesWithoutStateAreStrangersToEachOther() async throws {
        var tokens: Set<String> = []
        for _ in 0..<2 {
            let device = PushDevice(configuration())
            try await device.start()
            tokens.insert(try await device.token(for: exampleTopic))
            await device.stop()
        }
        #expect(tokens.count == 2)
        await courier.stop()
    }

    @Test func eventsTellTheStory() async throws {
        let device = PushDevice(configuration())
        try await device.start()
        _ = try await device.token(for: exampleTopic)
        await courier.ask { $0.end(.fin) }
        var kinds: [String] = []
        for await event in device.events {
            switch event {
            case .connecting: kinds.append("connecting")
            case .connected: kinds.append("connected")
            case .disconnected(let reason, let delay): kinds.append(delay == nil ? "end" : reason.kind.rawValue)
            case .token: kinds.append("token")
            case .tokenRefused, .inboxFull, .subscribed, .subscriptionRefused: kinds.append("unexpected")
            }
            if kinds.count == 7 { Task { await device.stop() } }
        }
        #expect(
            kinds == [
                "connecting", "connected", "token", "closedByServer", "connecting", "connected", "token", "end",
            ])
        await courier.stop()
    }

    @Test func stoppedDevicesLeaveNoDescriptorsBehind() async {
        await #expect(processExitsWith: .success) {
            func descriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            let directory = try TemporaryDirectory()
            var configuration = DeviceConfiguration(trust: .system, topics: [exampleTopic])
            configuration.port = 1
            configuration.timing = Rig.timing
            configuration.stateDirectory = directory.file("state")
            let before = try descriptors()
            for _ in 0..<4 {
                let device = PushDevice(configuration)
                try await device.start()
                for await case .disconnected in device.events { break }
                await device.stop()
            }
            // The last thread may still be on its way out.
            for _ in 0..<1000 where try descriptors() > before + 1 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try descriptors() <= before + 1)
        }
    }

    // MARK: Errors

    @Test func tokenOfAnUntrustedServerIsRefusedAtOnce() async throws {
        var configuration = configuration()
        configuration.trust = .authorities(pem: try TestAuthority().authority)
        let device = PushDevice(configuration)
        try await device.start()
        let error = await #expect(throws: DeviceError.self) { try await device.token(for: exampleTopic) }
        #expect(error?.kind == .refused)
        #expect(error?.detail.contains("not trusted") == true)
        await device.stop()
        await courier.stop()
    }

    @Test func tokenTimesOutWithTheLastReason() async throws {
        await courier.stop()
        let device = PushDevice(configuration())
        try await device.start()
        for await case .disconnected in device.events { break }
        let error = await #expect(throws: DeviceError.self) {
            try await device.token(for: exampleTopic, timeout: .milliseconds(10))
        }
        #expect(error?.kind == .timedOut)
        // Nobody listens there any more, or by now somebody else does: what counts is that a reason is told.
        #expect(error?.detail.contains("; last: ") == true)
        await device.stop()
    }

    @Test func tokenEndsWithItsTaskAndWithTheDevice() async throws {
        await courier.ask { $0.manner = .noTokens }
        let device = PushDevice(configuration())
        let early = await #expect(throws: DeviceError.self) { try await device.token(for: exampleTopic) }
        #expect(early?.kind == .stopped)
        try await device.start()
        let unknown = await #expect(throws: DeviceError.self) { try await device.token(for: "com.example.none") }
        #expect(unknown?.kind == .configuration)
        for isEarly in [true, false] {
            let cancelled = Task { try await device.token(for: exampleTopic, timeout: .seconds(86_400)) }
            if !isEarly { _ = try? await device.token(for: exampleTopic, timeout: .milliseconds(1)) }
            cancelled.cancel()
            let error = await #expect(throws: DeviceError.self) { try await cancelled.value }
            #expect(error?.kind == .stopped)
        }
        let waiting = Task { try await device.token(for: exampleTopic) }
        while await courier.ask({ $0.filters.isEmpty }) { await Task.yield() }
        await device.stop()
        await #expect(throws: DeviceError.self) { try await waiting.value }
        await courier.stop()
    }

    @Test func stateInUseAndDamagedStateAreToldApart() async throws {
        let state = directory.file("state")
        let first = PushDevice(configuration(stateDirectory: state))
        try await first.start()
        let inUse = await #expect(throws: DeviceError.self) {
            try await PushDevice(configuration(stateDirectory: state)).start()
        }
        #expect(inUse?.kind == .stateDirectory && inUse?.detail.contains("in use") == true)
        await first.stop()
        try Data(repeating: 0x55, count: 4096).write(to: URL(fileURLWithPath: state + "/device.db"))
        let damaged = await #expect(throws: DeviceError.self) {
            try await PushDevice(configuration(stateDirectory: state)).start()
        }
        #expect(damaged?.detail.contains("damaged") == true)
        await courier.stop()
    }

    @Test func stateDirectoryThatCannotBeMadeIsNamed() async throws {
        let file = directory.file("file")
        try Data().write(to: URL(fileURLWithPath: file))
        let error = await #expect(throws: DeviceError.self) {
            try await PushDevice(configuration(stateDirectory: file + "/state")).start()
        }
        #expect(error?.kind == .stateDirectory && error?.detail.contains("/file") == true)
        await courier.stop()
    }

    @Test func configurationThatCannotBeIsRefused() async throws {
        let defects: [(inout DeviceConfiguration) -> Void] = [
            { $0.host = "" }, { $0.host = "a\0b" }, { $0.name = "" }, { $0.name = String(repeating: "n", count: 65) },
            { $0.topics = [""] }, { $0.topics = [String(repeating: "t", count: 256)] }, { $0.topics = ["a", "a"] },
            { $0.topics = (0...600).map { "t\($0)" } }, { $0.serverName = .name("") },
            { $0.limits.unconsumedMax = 0 }, { $0.limits.seenMax = 0 },
        ]
        for defect in defects {
            var configuration = configuration()
            defect(&configuration)
            let error = await #expect(throws: DeviceError.self) { try await PushDevice(configuration).start() }
            #expect(error?.kind == .configuration)
        }
        var configuration = configuration()
        configuration.trust = .authorities(pem: "no certificate")
        let error = await #expect(throws: DeviceError.self) { try await PushDevice(configuration).start() }
        #expect(error?.kind == .trust)
        await courier.stop()
    }

    @Test func deviceStartsOnceAndStopsAnyNumberOfTimes() async throws {
        let device = PushDevice(configuration())
        await device.stop()
        let error = await #expect(throws: DeviceError.self) { try await device.start() }
        #expect(error?.kind == .stopped)
        await device.stop()
        for await _ in device.messages { Issue.record("a stopped device has no messages") }
        await courier.stop()
    }
}
