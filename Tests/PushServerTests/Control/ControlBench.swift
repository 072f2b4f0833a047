import Foundation
import PushDevice
import PushHTTP1
import PushJSON
import PushProvider
import PushServer
import Testing

/// A server on free ports with a directory of its own, a caller of its control API and a provider.
final class ControlBench: Sendable {
    static let app = LocalPushDefaults.bundle

    let server: LocalPushServer
    let caller: HTTPCaller
    let provider: APNsClient
    private let directory: String

    /// Runs `body` with a bench; everything is stopped and removed afterwards.
    static func run(
        _ change: (inout LocalPushConfiguration) -> Void = { _ in }, _ body: (ControlBench) async throws -> Void
    ) async throws {
        try await withDirectory { directory in
            let bench = try ControlBench(directory: directory, change)
            do {
                try await body(bench)
            } catch {
                await bench.stop()
                throw error
            }
            await bench.stop()
        }
    }

    static func withDirectory(_ body: (String) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "push-control-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    static func configuration(_ directory: String) -> LocalPushConfiguration {
        var configuration = LocalPushConfiguration()
        configuration.isEphemeral = true
        configuration.dataDirectory = directory
        configuration.apnsPort = 0
        configuration.broadcastPorts = .init(sandbox: 0, production: 0)
        configuration.courierPort = 0
        configuration.httpPort = 0
        configuration.httpsPort = 0
        return configuration
    }

    init(directory: String, _ change: (inout LocalPushConfiguration) -> Void = { _ in }) throws {
        var configuration = Self.configuration(directory)
        change(&configuration)
        self.directory = directory
        server = try LocalPushServer.start(configuration)
        caller = try HTTPCaller()
        provider = try APNsClient(
            Self.providerConfiguration(
                server.ready,
                .init(
                    privateKeyPEM: String(contentsOfFile: server.ready.keyPath, encoding: .utf8),
                    keyID: server.ready.keyID, teamID: LocalPushDefaults.team)))
    }

    static func providerConfiguration(
        _ ready: LocalPushReady, _ credentials: APNsConfiguration.TokenCredentials
    ) throws -> APNsConfiguration {
        .local(
            authorityPEM: try String(contentsOfFile: ready.authorityPath, encoding: .utf8), port: port(ready.apns),
            credentials: credentials)
    }

    static func port(_ address: String) -> UInt16 { UInt16(address.split(separator: ":").last ?? "") ?? 0 }

    func stop() async {
        await provider.shutdown()
        await server.stop()
        caller.stop()
    }

    // MARK: Calls

    struct Reply: Sendable {
        let status: Int
        let body: JSONValue
        let headers: [(name: String, value: String)]

        var code: String? { body[path: "error.code"]?.stringValue }
        var message: String { body[path: "error.message"]?.stringValue ?? "" }

        init(_ response: HTTP1Response) throws {
            status = response.status
            headers = response.headers
            body = response.body.isEmpty ? .null : try JSONParser().parse(response.body.span)
        }
    }

    func plan(
        _ method: String, _ target: String, _ body: JSONValue? = nil, headers: [(name: String, value: String)] = []
    ) -> HTTPCaller.Call {
        HTTPCaller.Call(
            port: Self.port(server.ready.http), method: method,
            target: target.hasPrefix("/") ? target : "/localpush/v1/" + target, headers: headers,
            body: body.map { Array($0.text.utf8) } ?? [])
    }

    /// `target` is below `/localpush/v1/` unless it begins with a slash.
    @discardableResult
    func call(
        _ method: String, _ target: String, _ body: JSONValue? = nil, headers: [(name: String, value: String)] = []
    ) async throws -> Reply {
        try Reply(await caller.send(plan(method, target, body, headers: headers)))
    }

    func get(_ target: String) async throws -> Reply { try await call("GET", target) }

    /// Two round trips: what was sent before them has been looked at.
    func settle() async throws {
        for _ in 0..<2 { #expect(try await get("/healthz").status == 200) }
    }

    /// A call that is on its way and has reached the server.
    func begin(_ target: String) async throws -> Task<Reply, any Error> {
        let (replies, source) = AsyncThrowingStream<HTTP1Response, any Error>.makeStream()
        var call = plan("GET", target)
        call.done = { result in
            if case .success(let response) = result { source.yield(response) }
            source.finish(throwing: result.failure)
        }
        caller.start(call)
        try await settle()
        return Task {
            for try await response in replies { return try Reply(response) }
            throw CancellationError()
        }
    }

    // MARK: Devices and pushes

    struct Phone: Sendable {
        let id: String
        let token: String
    }

    func addDevice(_ fields: JSONValue = [:]) async throws -> Phone {
        let reply = try await call("POST", "devices", fields)
        #expect(reply.status == 201)
        return Phone(
            id: try #require(reply.body["id"]?.stringValue), token: try #require(reply.body["token"]?.stringValue))
    }

    func change(_ phone: Phone, _ fields: JSONValue) async throws {
        #expect(try await call("PATCH", "devices/\(phone.id)", fields).status == 200)
    }

    /// Runs `body` with a connected phone and the token of the usual app on it.
    func withPhone(_ body: (PushDevice, String) async throws -> Void) async throws {
        let authority = try String(contentsOfFile: server.ready.authorityPath, encoding: .utf8)
        var configuration = DeviceConfiguration(trust: .authorities(pem: authority), topics: [Self.app])
        configuration.port = Self.port(server.ready.courier)
        let device = PushDevice(configuration)
        try await device.start()
        do {
            try await body(device, device.token(for: Self.app))
        } catch {
            await device.stop()
            throw error
        }
        await device.stop()
    }

    /// Sends a push; `change` makes it another than the usual one.
    @discardableResult
    func push(
        _ token: String, _ title: String = "Hi", _ change: (inout APNsNotification) -> Void = { _ in }
    ) async throws -> APNsResponse {
        var notification = APNsNotification(payload: #"{"aps":{"alert":{"title":"\#(title)"}}}"#, topic: Self.app)
        change(&notification)
        return try await provider.send(notification, to: token)
    }

    /// Sends a push that is accepted; its id.
    func accepted(
        _ token: String, _ title: String = "Hi", _ change: (inout APNsNotification) -> Void = { _ in }
    ) async throws -> String {
        let response = try await push(token, title, change)
        #expect(response.isAccepted)
        return try #require(response.apnsID)
    }

    func state(_ id: String) async throws -> String? { try await get("pushes/\(id)").body["state"]?.stringValue }

    func titles(_ target: String) async throws -> [String] {
        let body = try await get(target).body
        return (body["pushes"] ?? body["messages"])?.arrayValue?.compactMap {
            $0[path: "payload.aps.alert.title"]?.stringValue
        } ?? []
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
