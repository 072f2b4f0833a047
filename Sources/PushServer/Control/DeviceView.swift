import PushCore
import PushJSON

/// Apps, keys and devices as JSON.
enum DeviceView {
    static func json(_ device: Device) -> JSONValue {
        [
            "id": .string(device.label), "name": .string(device.name), "virtual": .bool(device.isVirtual),
            "online": .bool(device.isOnline), "environment": .string(device.environment.text),
            "notificationsEnabled": .bool(device.notificationsEnabled),
            "registrations": .array(device.registrations.sorted { $0.id < $1.id }.map(json)),
        ]
    }

    static func json(_ registration: Registration) -> JSONValue {
        [
            "app": .string(registration.app.bundle), "topic": .string(registration.topic.name),
            "token": .string(registration.token.hex), "registered": .bool(registration.unregisteredAt == nil),
            "expired": .bool(registration.expiredAt != nil), "queued": .int(Int64(registration.waitingCount)),
            "inFlight": .int(Int64(registration.inFlightCount)),
            "channels": .array(registration.subscriptions.map { .string($0.channel.text) }),
        ]
    }

    static func json(_ app: App, core: ServerCore) -> JSONValue {
        [
            "bundle": .string(app.bundle), "team": .string(app.team),
            "storageRule": .string(core.rule(of: app).text), "broadcast": .bool(core.mayBroadcast(app)),
        ]
    }

    /// Without `environment`: both. Without `topics`: all of the team's.
    static func json(_ key: ProviderKey) -> JSONValue {
        var members = [JSONMember("id", .string(key.id)), JSONMember("team", .string(key.team))]
        if let environment = key.environment { members.append(JSONMember("environment", .string(environment.text))) }
        if let topics = key.topics { members.append(JSONMember("topics", .array(topics.map { .string($0) }))) }
        if let related = key.relatedKey { members.append(JSONMember("relatedKey", .string(related))) }
        return .object(members)
    }
}
