import Foundation
import PushCore
import PushSQLite
import PushStore
import Testing

/// A directory that goes away with the value.
final class TemporaryDirectory {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/pushstore-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

/// The public half of a P-256 key made for these tests.
let publicKeyPEM = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQpqlTQoZ5f3D7h9Et5Um5WsdqgxA
    Uzg+ekUbl+LlVnsdxRtGiUn26Y6UBaSqIMgNxUB024oDg4l8E9LgQONgDA==
    -----END PUBLIC KEY-----
    """

/// Apps, devices and registrations to write into stores.
struct SampleRegistry {
    let registry = Registry()
    let app = App(bundle: "com.example.app", team: "TEAM000001", storageRule: .ideal)
    let plainApp = App(bundle: "com.example.plain", team: "TEAM000002", storageRule: nil)
    let device: Device
    let virtual: Device
    let registration: Registration
    let ended: Registration

    init() throws {
        registry.add(app)
        registry.add(plainApp)
        device = Device(
            id: 3, name: "Ännas \"phone\"", identity: [1, 2, 0, 255], baseToken: [UInt8](repeating: 9, count: 32),
            environment: .production, isVirtual: false, isSwitchedOn: false)
        virtual = Device(
            id: 4, name: "", identity: [], baseToken: [UInt8](repeating: 8, count: 32), environment: .sandbox,
            isVirtual: true, isSwitchedOn: true)
        virtual.notificationsEnabled = false
        registry.add(device)
        registry.add(virtual)
        let registry = registry
        func make(_ id: Int64, _ device: Device, _ topic: String, bytes: Int) throws -> Registration {
            let token = try #require(AppToken(bytes: [UInt8](repeating: UInt8(id), count: bytes)))
            let topic = try #require(registry.topic(named: Array(topic.utf8)))
            let made = Registration(id: id, device: device, topic: topic, token: token)
            registry.add(made)
            return made
        }
        registration = try make(10, device, "com.example.app", bytes: 32)
        ended = try make(11, virtual, "com.example.app.voip", bytes: 80)
        ended.unregisteredAt = 1234
        ended.expiredAt = 5678
    }

    func saveAll(into store: PushStore) {
        store.save(app)
        store.save(plainApp)
        store.save(device)
        store.save(virtual)
        store.save(registration)
        store.save(ended)
    }
}

func record(_ sequence: Int64, registration: Int64 = 10, topic: String? = "com.example.app") -> PushRecord {
    var record = PushRecord(
        sequence: sequence, id: nil, registration: registration, at: 1000 + sequence, reason: nil,
        environment: .sandbox)
    record.topic = topic
    return record
}

func event(
    _ sequence: Int64, _ milestone: Milestone, push: Int64, device: Int64 = 3, detail: Int64 = 0
) -> JournalEvent {
    JournalEvent(
        sequence: sequence, milestone: milestone, push: push, device: device, at: 2000 + sequence, detail: detail)
}

extension PushStore {
    func add(_ record: PushRecord) { add(record, payload: Array("{}".utf8).span) }

    /// Everything a store holds, as text.
    func dump() throws -> String {
        let registry = Registry()
        var lines = ["last \(try lastSequence())"]
        for app in try loadApps() {
            lines.append("app \(app.bundle) \(app.team) \(text(app.storageRule))")
            registry.add(app)
        }
        for key in try loadKeys() { lines.append("key \(key.id) \(key.team) \(text(key.environment))") }
        for device in try loadDevices() {
            lines.append(
                "device \(device.id) \(device.name) \(device.identity) \(device.baseToken) \(device.environment) "
                    + "\(device.isVirtual) \(device.isSwitchedOn) \(device.notificationsEnabled)")
            registry.add(device)
        }
        for registration in try loadRegistrations(into: registry) {
            lines.append(
                "registration \(registration.id) \(registration.device.id) \(registration.topic.name) "
                    + "\(registration.token.hex) \(text(registration.unregisteredAt)) \(text(registration.expiredAt))")
        }
        var query = PushQuery()
        query.limit = PushStore.queryLimitMax
        for push in try pushes(query) { lines.append(describe(push)) }
        for event in try events(after: 0, limit: 1000) { lines.append("\(event)") }
        lines.append("secret \(text(try value("secret")))")
        return lines.joined(separator: "\n")
    }
}

func text<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "-" }

func describe(_ push: StoredPush) -> String {
    let record = push.record
    return "push \(record.sequence) \(text(record.id?.string)) \(record.registration) \(record.at) "
        + "\(text(record.reason)) \(text(record.detail)) \(text(record.topic)) \(record.environment) "
        + "\(text(record.pushType)) \(record.priority) \(text(record.expiration)) \(record.expiresAt) "
        + "\(record.isStorable) \(text(record.collapseID)) \(push.payload) \(push.events)"
}

/// What SQLite itself says about a file that nobody has open.
func integrity(of path: String) throws -> String {
    let database = try Database(path: path)
    defer { database.close() }
    let statement = try database.prepare("PRAGMA integrity_check")
    return try statement.step() ? statement.text(0) : ""
}
