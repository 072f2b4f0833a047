import Foundation
import PushBytes
import PushCrypto
import PushJSON
import PushServer

/// A server in this process on free ports with given settings, and what a test needs around it: raw clients, provider
/// tokens, devices, and the control API to see what became of a push.
///
///     try await CaseBench.run(settings: ["connection.streamsBeforeToken": "1"]) { bench in
///         let phone = try bench.device()
///         let client = try bench.client()
///         let answer = try client.request(bench.push(to: phone.token), body: CaseBench.body)
///         #expect(answer.status == 200)
///         try bench.expect(answer["apns-id"]!, reaches: "acknowledged")
///     }
final class CaseBench {
    static let topic = LocalPushDefaults.bundle
    static let body = Array(#"{"aps":{"alert":"hi"}}"#.utf8)

    struct Device {
        /// As in `d1`.
        let id: String
        /// Lower-case hex.
        let token: String
    }

    let server: LocalPushServer
    let authority: String
    let key: ES256PrivateKey
    private let parser = JSONParser()

    static func run(
        _ profile: LocalPushConfiguration.Profile = .lenient, settings: [String: String] = [:],
        configure: (inout LocalPushConfiguration) -> Void = { _ in }, _ body: (CaseBench) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("case-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var configuration = LocalPushConfiguration()
        configuration.dataDirectory = directory.path
        configuration.isEphemeral = true
        configuration.apnsPort = 0
        configuration.broadcastPorts = .init(sandbox: 0, production: 0)
        configuration.courierPort = 0
        configuration.httpPort = 0
        configuration.httpsPort = 0
        configuration.profile = profile
        configuration.settings = settings
        configure(&configuration)
        let server = try LocalPushServer.start(configuration)
        do {
            try await body(try CaseBench(server))
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private init(_ server: LocalPushServer) throws {
        self.server = server
        authority = try String(contentsOfFile: server.ready.authorityPath, encoding: .utf8)
        key = try ES256PrivateKey(pem: String(contentsOfFile: server.ready.keyPath, encoding: .utf8))
    }

    // MARK: Providers

    /// `serverName` is sent as SNI, as in `api.push.apple.com`: it tells the environment.
    func client(
        serverName: String? = nil, protocols: [String] = ["h2"], certificateChain: String? = nil,
        privateKey: String? = nil
    ) throws -> CaseClient {
        try CaseClient(
            CaseWire(
                port: Self.port(server.ready.apns), authority: authority, serverName: serverName,
                protocols: protocols, certificateChain: certificateChain, privateKey: privateKey))
    }

    /// A client of the port on which channels are managed.
    func manager(
        isProduction: Bool = false, certificateChain: String? = nil, privateKey: String? = nil
    ) throws -> CaseClient {
        let address = isProduction ? server.ready.productionBroadcast : server.ready.sandboxBroadcast
        return try CaseClient(
            CaseWire(
                port: Self.port(address), authority: authority, protocols: ["h2"],
                certificateChain: certificateChain, privateKey: privateKey))
    }

    /// The good request of the tricky cases. `changing` replaces the field of that name, or takes it out for `nil`, or
    /// adds it at the end.
    func push(to token: String, _ changes: [String: String?] = [:]) throws -> CaseClient.Fields {
        Self.changed(
            [
                (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "localhost"),
                ("authorization", try "bearer \(providerToken())"), ("apns-topic", Self.topic),
                ("apns-push-type", "alert"),
            ], changes)
    }

    static func changed(_ fields: CaseClient.Fields, _ changes: [String: String?]) -> CaseClient.Fields {
        var fields = fields
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            let index = fields.firstIndex { $0.name == name }
            switch (index, value) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append((name, value))
            case (nil, nil): break
            }
        }
        return fields
    }

    /// Signed with the server's own key unless told otherwise; `age` in seconds. The same arguments give the same text
    /// again, as of a provider that keeps its token.
    func providerToken(
        age: Int64 = 0, keyID: String = LocalPushDefaults.keyID, team: String = LocalPushDefaults.team,
        key other: ES256PrivateKey? = nil
    ) throws -> String {
        let name = "\(age) \(keyID) \(team)"
        if other == nil, let known = tokens[name] { return known }
        let issuedAt = Int64(Date().timeIntervalSince1970) - age
        let header = Base64.encode(Array(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8), .url)
        let claims = Base64.encode(Array(#"{"iss":"\#(team)","iat":\#(issuedAt)}"#.utf8), .url)
        let signature = try (other ?? key).sign(Array("\(header).\(claims)".utf8))
        let token = "\(header).\(claims).\(Base64.encode(signature, .url))"
        if other == nil { tokens[name] = token }
        return token
    }

    private var tokens: [String: String] = [:]

    // MARK: Devices

    /// A virtual device with the app, on or off.
    func device(
        online: Bool = true, app: String = CaseBench.topic, environment: String = "sandbox"
    ) throws -> Device {
        let made = try control(
            "POST", "devices",
            #"{"app":"\#(app)","environment":"\#(environment)","online":\#(online)}"#)
        guard let id = made["id"]?.stringValue, let token = made["token"]?.stringValue else {
            throw CaseFailure("no device was made: \(made)")
        }
        return Device(id: id, token: token)
    }

    /// Changes a device, as in `{"online":true}` or `{"registered":false}`.
    func change(_ device: Device, _ body: String) throws { _ = try control("PATCH", "devices/\(device.id)", body) }

    // MARK: What became of a push

    /// Waits until a push came so far: `sent`, `acknowledged`, `replaced`, `dropped`, `expired`.
    func expect(_ push: String, reaches state: String, seconds: Int = 5) throws {
        _ = try control("GET", "wait?push=\(push)&state=\(state)&timeout=\(seconds)s")
    }

    /// A push as the control API shows it.
    func view(_ push: String) throws -> JSONValue { try control("GET", "pushes/\(push)") }

    func state(_ push: String) throws -> String { try view(push)["state"]?.stringValue ?? "" }

    func sentence(_ push: String) throws -> String { try view(push)["sentence"]?.stringValue ?? "" }

    /// Milestones with their details, as in `dropped: the queue was full`.
    func lifeLine(_ push: String) throws -> [String] {
        try view(push)["lifeLine"]?.arrayValue?.map { line in
            let detail = line["detail"]?.stringValue.map { ": \($0)" } ?? ""
            return (line["state"]?.stringValue ?? "") + detail
        } ?? []
    }

    /// Ids of the pushes a device has received, in order.
    func inbox(_ device: Device) throws -> [String] {
        try control("GET", "devices/\(device.id)/inbox")["messages"]?.arrayValue?.compactMap { $0["push"]?.stringValue }
            ?? []
    }

    /// One call of the control API; throws unless the status begins with 2.
    @discardableResult
    func control(_ method: String, _ path: String, _ body: String = "") throws -> JSONValue {
        let (status, json) = try controlStatus(method, path, body)
        guard (200..<300).contains(status) else { throw CaseFailure("\(method) \(path): \(status) \(json)") }
        return json
    }

    func controlStatus(_ method: String, _ path: String, _ body: String = "") throws -> (Int, JSONValue) {
        let wire = try CaseWire(port: Self.port(server.ready.http), authority: nil)
        let head = "\(method) /localpush/v1/\(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        let type = body.isEmpty ? "" : "Content-Type: application/json\r\n"
        try wire.send(Array("\(head)\(type)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
        let text = String(decoding: try wire.receiveAll(seconds: 30), as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n"), let status = Int(text.dropFirst(9).prefix(3)) else {
            throw CaseFailure("no answer to \(method) \(path): \(text)")
        }
        let bytes = Array(text[end.upperBound...].utf8)
        return (status, try parser.parse(bytes.span))
    }

    private static func port(_ address: String) throws -> UInt16 {
        guard let port = UInt16(address.split(separator: ":").last ?? "") else {
            throw CaseFailure("no port in \(address)")
        }
        return port
    }
}
