import PushBytes
import PushCore
import PushCrypto
import PushHTTP1
import PushJSON
import PushStore

extension ControlService {
    private var registry: Registry { service.core.registry }

    // MARK: Apps

    func apps(_ exchange: HTTP1Exchange, _ bundle: String?) throws(ControlError) {
        let request = exchange.request
        guard let bundle else {
            try allow(["GET", "POST"], request)
            if request.method == "POST" { return try addApp(exchange) }
            let apps = registry.apps.values.sorted { $0.bundle < $1.bundle }
            return exchange.respond(ControlAnswer(200, ["apps": .array(apps.map(json))]).response)
        }
        try allow(["GET", "PATCH", "DELETE"], request)
        guard let app = registry.app(bundle) else { throw .unknownApp(bundle) }
        switch request.method {
        case "PATCH":
            let body = try ControlBody(request, parser: parser, allowed: ["team", "storageRule", "broadcast"])
            let team = try team(body)
            let rule = try storageRule(body)
            let isBroadcastEnabled = try body.flag("broadcast")
            if let team { registry.move(app, toTeam: team) }
            if let rule { app.storageRule = rule }
            if let isBroadcastEnabled { app.isBroadcastEnabled = isBroadcastEnabled }
            service.core.outputs.append(.save(.app(app)))
            respondWhenStored(exchange, ControlAnswer(200, json(app)))
        case "DELETE":
            service.core.removeApp(app, now: now)
            respondWhenStored(exchange, ControlAnswer(200, [:]))
        default: exchange.respond(ControlAnswer(200, json(app)).response)
        }
    }

    private func addApp(_ exchange: HTTP1Exchange) throws(ControlError) {
        let body = try ControlBody(
            exchange.request, parser: parser, allowed: ["bundle", "team", "storageRule", "broadcast"])
        let bundle = try body.requiredText("bundle")
        guard App.isValid(bundle: bundle) else {
            throw .badField(
                "bundle", "must be a bundle id: letters, digits, hyphens and periods, without the suffix of a push type"
            )
        }
        let team = try team(body)
        let rule = try storageRule(body)
        let isBroadcastEnabled = try body.flag("broadcast")
        guard let app = service.core.addApp(bundle: bundle, team: team, storageRule: rule) else {
            throw ControlError(
                409, "already_exists", "There is an app \(bundle) already.",
                hint: "PATCH /localpush/v1/apps/\(bundle) changes it.")
        }
        app.isBroadcastEnabled = isBroadcastEnabled
        respondWhenStored(exchange, ControlAnswer(201, json(app)))
    }

    private func json(_ app: App) -> JSONValue { DeviceView.json(app, core: service.core) }

    func team(_ body: ControlBody) throws(ControlError) -> String? {
        guard let team = try body.text("team") else { return nil }
        guard !team.isEmpty, team.utf8.count <= 32 else { throw .badField("team", "must have 1 to 32 characters") }
        return team
    }

    private func storageRule(_ body: ControlBody) throws(ControlError) -> StorageRule? {
        guard let text = try body.text("storageRule") else { return nil }
        guard let rule = StorageRule(text: text) else {
            throw .badField(
                "storageRule", "must be one of \(StorageRule.allCases.map(\.text).joined(separator: ", "))")
        }
        return rule
    }

    // MARK: Devices

    func devices(_ exchange: HTTP1Exchange) throws(ControlError) {
        try allow(["GET", "POST"], exchange.request)
        guard exchange.request.method == "POST" else {
            let devices = registry.devices.values.sorted { $0.id < $1.id }
            return exchange.respond(
                ControlAnswer(200, ["devices": .array(devices.map(DeviceView.json))]).response)
        }
        let body = try ControlBody(
            exchange.request, parser: parser, allowed: ["app", "name", "environment", "online"])
        let bundle = try body.text("app") ?? LocalPushDefaults.bundle
        guard let app = registry.app(bundle) else { throw .unknownApp(bundle) }
        let name = try deviceName(body)
        let registration = service.core.addVirtualDevice(
            app: app, name: name, environment: Self.environment(try body.environment("environment")),
            isOnline: try body.flag("online") ?? true, now: now)
        guard case .object(let members) = DeviceView.json(registration.device) else { return }
        let token = JSONMember("token", .string(registration.token.hex))
        respondWhenStored(exchange, ControlAnswer(201, .object(members + [token])))
    }

    private func deviceName(_ body: ControlBody) throws(ControlError) -> String? {
        guard let name = try body.text("name") else { return nil }
        guard !name.isEmpty, name.utf8.count <= ServerCore.nameBytesMax else {
            throw .badField("name", "must have 1 to \(ServerCore.nameBytesMax) bytes")
        }
        return name
    }

    func findDevice(_ label: String) throws(ControlError) -> Device {
        guard let id = Device.id(label: label), let device = registry.device(id) else { throw .unknownDevice(label) }
        return device
    }

    func device(_ exchange: HTTP1Exchange, _ label: String) throws(ControlError) {
        try allow(["GET", "PATCH", "DELETE"], exchange.request)
        let device = try findDevice(label)
        switch exchange.request.method {
        case "PATCH": try change(device, exchange)
        case "DELETE":
            service.core.removeDevice(device, now: now)
            respondWhenStored(exchange, ControlAnswer(200, [:]))
        default: exchange.respond(ControlAnswer(200, DeviceView.json(device)).response)
        }
    }

    private func change(_ device: Device, _ exchange: HTTP1Exchange) throws(ControlError) {
        let body = try ControlBody(
            exchange.request, parser: parser,
            allowed: [
                "online", "registered", "expired", "notificationsEnabled", "name", "app", "subscribe", "unsubscribe",
            ])
        let joined = try subscriptions(body, "subscribe", device)
        let left = try subscriptions(body, "unsubscribe", device)
        let isOnline = try body.flag("online")
        let isRegistered = try body.flag("registered")
        let isExpired = try body.flag("expired")
        let isEnabled = try body.flag("notificationsEnabled")
        let name = try deviceName(body)
        let bundle = try body.text("app")
        if isOnline != nil && !device.isVirtual {
            throw ControlError(
                409, "not_virtual",
                "\(device.label) is a phone with a process of its own: it is online while that runs.",
                hint: "Only devices made with POST /localpush/v1/devices are switched.")
        }
        let registrations = device.registrations.filter { bundle == nil || $0.app.bundle == bundle }
        if registrations.isEmpty && (isRegistered != nil || isExpired != nil) {
            throw ControlError(404, "unknown_app", "\(bundle ?? "No app") is not on \(device.label).")
        }
        if let name {
            device.name = name
            service.core.outputs.append(.save(.device(device)))
        }
        if let isEnabled { service.core.setNotificationsEnabled(device, isEnabled) }
        for registration in registrations {
            if let isRegistered { service.core.setRegistered(registration, isRegistered, now: now) }
            if let isExpired { service.core.setExpired(registration, isExpired, now: now) }
        }
        for (_, channel) in left { service.core.leave(device, channelID: channel.id) }
        let fresh = joined.compactMap { service.core.join($0.registration, $0.channel) }
        if let isOnline { service.core.setOnline(device, isOnline, now: now) }
        for subscription in fresh { service.core.replay(subscription, now: now) }
        respondWhenStored(exchange, ControlAnswer(200, DeviceView.json(device)))
    }

    /// The channels a body names, each with the registration of its app on the device.
    private func subscriptions(
        _ body: ControlBody, _ name: String, _ device: Device
    ) throws(ControlError) -> [(registration: Registration, channel: Channel)] {
        var found: [(registration: Registration, channel: Channel)] = []
        for text in try body.texts(name) ?? [] {
            guard let id = Base64.decode(text), let channel = registry.channels[id: id],
                channel.environment == device.environment
            else {
                throw ControlError(
                    404, "unknown_channel", "There is no channel \(text) in \(device.environment.text).",
                    hint: "localpush channels list --app BUNDLE lists them.")
            }
            let registration =
                channel.subscription(of: device)?.registration
                ?? device.registrations.first { $0.app.bundle == channel.bundle }
            guard let registration else {
                throw ControlError(404, "unknown_app", "\(channel.bundle) is not on \(device.label).")
            }
            found.append((registration, channel))
        }
        return found
    }
}
