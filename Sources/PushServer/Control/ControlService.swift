import PushCore
import PushHTTP1
import PushJSON
import PushReactor
import PushStore

/// The control API under `/localpush/v1`: finds the call, checks the token, and answers when the turn is stored.
/// Its files: `+Registry` has apps and devices, `+Keys` signing keys, `+Journal` has pushes, waits and events. Bound to the loop.
final class ControlService {
    static let prefix = ["localpush", "v1"]
    static let waitMillisecondsMax: Int64 = 10 * 60_000
    static let waitMillisecondsDefault: Int64 = 5000

    let service: PushService
    let waits: ControlWaits
    let parser = JSONParser()
    /// Set when every port is open.
    var ready = LocalPushReady()
    private let configuration: LocalPushConfiguration
    private let loop: EventLoop

    init(service: PushService, configuration: LocalPushConfiguration, loop: EventLoop) {
        self.service = service
        self.configuration = configuration
        self.loop = loop
        waits = ControlWaits(service: service, loop: loop, countMax: configuration.waitsMax)
    }

    var now: Moment {
        Moment(monotonicMilliseconds: loop.now.nanoseconds / 1_000_000, unixMilliseconds: loop.wallMilliseconds)
    }

    func handle(_ exchange: HTTP1Exchange) {
        do throws(ControlError) {
            try dispatch(exchange)
        } catch {
            exchange.respond(error.response)
        }
    }

    func endWaits() { waits.endAll() }

    private func dispatch(_ exchange: HTTP1Exchange) throws(ControlError) {
        let request = exchange.request
        if request.path == "/healthz" {
            try allow(["GET", "HEAD"], request)
            let isWell = !service.isStoreFailing
            exchange.respond(
                ControlAnswer(isWell ? 200 : 503, ["status": .string(isWell ? "ok" : "the store cannot be written")])
                    .response)
            return
        }
        let segments = request.pathSegments
        guard segments.starts(with: Self.prefix), segments.count > 2 else {
            throw ControlError(
                404, "not_found", "There is nothing at \(request.path).",
                hint: "The control API is under /localpush/v1, for example GET /localpush/v1/info.")
        }
        try authorize(request)
        if let workspace = request.header("LocalPush-Workspace"), workspace != "default" {
            throw ControlError(
                404, "unknown_workspace", "There is no workspace \(workspace).",
                hint: "This server has the workspace default only.")
        }
        try call(Array(segments.dropFirst(2)), exchange)
    }

    private func call(_ path: [String], _ exchange: HTTP1Exchange) throws(ControlError) {
        switch path[0] {
        case "info" where path.count == 1: try info(exchange)
        case "apps" where path.count <= 2: try apps(exchange, path.count == 2 ? path[1] : nil)
        case "keys" where path.count <= 2: try keys(exchange, path.count == 2 ? path[1] : nil)
        case "devices" where path.count == 1: try devices(exchange)
        case "devices" where path.count == 2: try device(exchange, path[1])
        case "devices" where path.count == 3 && path[2] == "inbox": try inbox(exchange, path[1])
        case "pushes" where path.count == 1: try pushes(exchange)
        case "pushes" where path.count == 2: try push(exchange, path[1])
        case "wait" where path.count == 1: try wait(exchange)
        case "events" where path.count == 1: try events(exchange)
        case "reset" where path.count == 1: try reset(exchange)
        default:
            throw ControlError(
                404, "not_found", "There is no call \(exchange.request.path).",
                hint: "Calls are info, apps, keys, devices, pushes, wait, events and reset.")
        }
    }

    private func authorize(_ request: HTTP1Request) throws(ControlError) {
        guard let token = configuration.controlToken else { return }
        let given = request.header("Authorization").map { Array($0.utf8) } ?? []
        let wanted = Array("Bearer \(token)".utf8)
        // Every byte is compared, so that the time tells nothing.
        var difference = given.count ^ wanted.count
        for index in 0..<min(given.count, wanted.count) { difference |= Int(given[index] ^ wanted[index]) }
        guard difference == 0 else {
            var error = ControlError(
                401, "unauthorized", "This server wants its control token.",
                hint: "Send Authorization: Bearer with the value of --control-token.")
            error.headers = [("WWW-Authenticate", "Bearer")]
            throw error
        }
    }

    func allow(_ methods: [String], _ request: HTTP1Request) throws(ControlError) {
        guard !methods.contains(request.method) else { return }
        let possible = methods.joined(separator: ", ")
        var error = ControlError(
            405, "method_not_allowed", "\(request.method) is not possible at \(request.path).",
            hint: "Possible: \(possible).")
        error.headers = [("Allow", possible)]
        throw error
    }

    /// Carries out what the core wants and answers when it is stored.
    func respondWhenStored(_ exchange: HTTP1Exchange, _ answer: ControlAnswer) {
        service.perform(now: now)
        service.whenStored { [waits] isStored in
            let failure = ControlError(
                503, "store_failed", "The server could not store this.", hint: "Is the disk full? Nothing was changed.")
            exchange.respond(isStored ? answer.response : failure.response)
            // Who waits may wait for something that is gone now.
            if isStored { waits.registryChanged() }
        }
    }

    /// An environment by its name; `nil` for `nil`.
    static func environment(_ text: String?) -> PushEnvironment? { text.flatMap { PushEnvironment(text: $0) } }

    private func info(_ exchange: HTTP1Exchange) throws(ControlError) {
        try allow(["GET"], exchange.request)
        guard case .object(var members) = ready.json else { return }
        members.append(JSONMember("profile", .string(configuration.profile.rawValue)))
        members.append(JSONMember("settings", service.setup.rules.json))
        members.append(
            JSONMember("durability", .string(configuration.isEphemeral ? "none" : configuration.durability.rawValue)))
        members.append(JSONMember("environment", .string(configuration.environment.rawValue)))
        let apps = service.core.registry.apps.values.sorted { $0.bundle < $1.bundle }
        members.append(
            JSONMember("apps", .array(apps.map { DeviceView.json($0, core: service.core) })))
        members.append(JSONMember("limits", limits))
        members.append(JSONMember("versions", LocalPushVersion.json))
        exchange.respond(ControlAnswer(200, .object(members)).response)
    }

    private var limits: JSONValue {
        [
            "payloadBytes": .int(Int64(CoreLimits.payloadBytesMax)),
            "payloadBytesVoIP": .int(Int64(CoreLimits.payloadBytesVoIPMax)),
            "collapseIDBytes": .int(Int64(CoreLimits.collapseIDBytesMax)),
            "inFlightPerDevice": .int(Int64(CoreLimits.inFlightMax)), "mailbox": .int(Int64(CoreLimits.mailboxMax)),
            "connections": .int(Int64(DriverLimits.connectionsMax)), "history": .int(configuration.historyMax),
            "waits": .int(Int64(configuration.waitsMax)),
        ]
    }
}
