import Foundation
import PushBytes
import PushCrypto
import PushJSON
import PushReactor
import Synchronization
import Testing

@testable import PushProvider

@Suite struct ProviderClientTests {
    static let key = try! ES256PrivateKey()
    static let push = APNsNotification(payload: #"{"aps":{"alert":"Hi"}}"#, topic: "com.example.app")
    static let deviceToken = String(repeating: "ab", count: 32)

    static func configuration(_ service: ScriptedService) -> APNsConfiguration {
        APNsConfiguration.local(
            authorityPEM: service.authorityPEM, port: service.port,
            credentials: .init(privateKeyPEM: key.pem, keyID: "ABCDEFGHIJ", teamID: "TEAM123456"))
    }

    /// Runs `body` with a client of the service and shuts the client down.
    static func withClient(
        _ service: ScriptedService, _ change: (inout APNsConfiguration) -> Void = { _ in },
        _ body: (APNsClient) async throws -> Void
    ) async throws {
        var configuration = configuration(service)
        change(&configuration)
        let client = try APNsClient(configuration)
        do {
            try await body(client)
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
    }

    static func expectAccepted(_ client: APNsClient) async throws {
        let response = try await client.send(push, to: deviceToken)
        #expect(response.isAccepted)
    }

    @Test func acceptedPushCarriesAllItsFieldsAndTellsTheID() async throws {
        let service = try ScriptedService { _ in ScriptedService.accepted }
        try await Self.withClient(service) { client in
            var push = Self.push
            push.pushType = .background
            push.priority = .considerate
            push.expirationSeconds = 0
            push.collapseID = "score"
            push.apnsID = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
            let response = try await client.send(push, to: Self.deviceToken)
            #expect(response == APNsResponse(status: 200, apnsID: "27CFDC15-E305-27E0-E290-8FC98E115899"))
            #expect(response.isAccepted)
        }
        let request = try #require(service.requests.first)
        #expect(request.fields[":method"] == "POST")
        #expect(request.fields[":path"] == "/3/device/" + Self.deviceToken)
        #expect(request.fields[":authority"] == "127.0.0.1:\(service.port)")
        #expect(request.fields["apns-topic"] == "com.example.app")
        #expect(request.fields["apns-push-type"] == "background")
        #expect(request.fields["apns-priority"] == "5")
        #expect(request.fields["apns-expiration"] == "0")
        #expect(request.fields["apns-collapse-id"] == "score")
        #expect(request.fields["apns-id"] == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
        #expect(request.body == Self.push.payload)
    }

    @Test func tokenIsAJSONWebTokenSignedByTheKey() async throws {
        let service = try ScriptedService { _ in ScriptedService.accepted }
        try await Self.withClient(service) { client in
            _ = try await client.send(Self.push, to: Self.deviceToken)
            _ = try await client.send(Self.push, to: Self.deviceToken)
        }
        let fields = service.requests.compactMap { $0.fields["authorization"] }
        #expect(fields.count == 2 && fields[0] == fields[1])
        let parts = try #require(fields.first).dropFirst("bearer ".count).split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        let parser = JSONParser()
        let header = try parser.parse(String(decoding: #require(Base64.decode(parts[0])), as: UTF8.self))
        let claims = try parser.parse(String(decoding: #require(Base64.decode(parts[1])), as: UTF8.self))
        #expect(header == ["alg": "ES256", "kid": "ABCDEFGHIJ"])
        #expect(claims["iss"] == "TEAM123456")
        #expect(claims["iat"]?.intValue != nil)
        let signature = try #require(Base64.decode(parts[2]))
        #expect(Self.key.publicKey.verify(signature, of: Array((parts[0] + "." + parts[1]).utf8)))
    }

    @Test func rejectedPushTellsItsReason() async throws {
        let service = try ScriptedService { request in
            request.index == 0
                ? .answer(status: 400, fields: [("apns-id", "x")], body: #"{"reason":"BadDeviceToken"}"#)
                : .answer(status: 410, body: #"{"reason":"Unregistered","timestamp":1458114061260}"#)
        }
        try await Self.withClient(service) { client in
            let bad = try await client.send(Self.push, to: Self.deviceToken)
            #expect(bad == APNsResponse(status: 400, reason: .badDeviceToken, apnsID: "x"))
            let gone = try await client.send(Self.push, to: Self.deviceToken)
            #expect(gone == APNsResponse(status: 410, reason: .unregistered, timestampMilliseconds: 1_458_114_061_260))
        }
    }

    @Test func unknownReasonIsKept() async throws {
        let service = try ScriptedService { _ in .answer(status: 418, body: #"{"reason":"Teapot"}"#) }
        try await Self.withClient(service) { client in
            let response = try await client.send(Self.push, to: Self.deviceToken)
            #expect(response.reason == "Teapot")
        }
    }

    @Test func thousandPushesShareOneConnectionOfOneStream() async throws {
        let service = try ScriptedService(streamsMax: 1) { _ in ScriptedService.accepted }
        try await Self.withClient(service) { client in
            let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<1000 {
                    group.addTask { try await client.send(Self.push, to: Self.deviceToken).isAccepted }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(accepted == 1000)
        }
        #expect(service.connections == 1)
        #expect(service.requests.count == 1000)
    }

    @Test func fallingStreamLimitLosesNothing() async throws {
        let service = try ScriptedService(streamsMax: 100) { request in
            switch request.index % 50 {
            case 10: .setStreamsMax(1, thenStatus: 400)
            case 20: .setStreamsMax(100, thenStatus: 200)
            default: ScriptedService.accepted
            }
        }
        try await Self.withClient(service) { client in
            let answered = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<300 {
                    group.addTask { try await client.send(Self.push, to: Self.deviceToken).status }
                }
                return try await group.reduce(into: 0) { count, _ in count += 1 }
            }
            #expect(answered == 300)
        }
    }

    @Test func pushAboveTheLastStreamOfGoAwayIsSentAgainOnANewConnection() async throws {
        let service = try ScriptedService { request in
            request.index == 0 ? .goAway(data: #"{"reason":"Shutdown"}"#, lastStream: 0) : ScriptedService.accepted
        }
        try await Self.withClient(service) { client in
            let response = try await client.send(Self.push, to: Self.deviceToken)
            #expect(response.isAccepted)
        }
        #expect(service.requests.map(\.connection) == [1, 2])
    }

    @Test func secondGoAwayEndsThePushWithTheServersReason() async throws {
        let service = try ScriptedService { _ in
            .goAway(data: #"{"reason":"BadCertificateEnvironment"}"#, lastStream: 0)
        }
        try await Self.withClient(service) { client in
            let error = await #expect(throws: APNsError.self) {
                try await client.send(Self.push, to: Self.deviceToken)
            }
            #expect(error?.kind == .goneAway)
            #expect(error?.message.contains("BadCertificateEnvironment") == true)
        }
        #expect(service.requests.count == 2)
    }

    @Test func nextPushAfterGoAwayUsesANewConnection() async throws {
        let service = try ScriptedService { $0.index == 1 ? .lastAnswer : ScriptedService.accepted }
        try await Self.withClient(service) { client in
            for _ in 0..<3 { try await Self.expectAccepted(client) }
        }
        #expect(service.requests.map(\.connection) == [1, 1, 2])
    }

    /// The first push may already find that nothing was heard for its whole time; the second does for certain.
    @Test func silentConnectionIsGivenUpByTheSecondPushAtTheLatest() async throws {
        let service = try ScriptedService { $0.connection == 1 ? .silence : ScriptedService.accepted }
        try await Self.withClient(service, { $0.requestDeadline = .seconds(1) }) { client in
            var outcomes: [APNsError.Kind?] = []
            while outcomes.last != .some(nil) && outcomes.count < 3 {
                do {
                    try await Self.expectAccepted(client)
                    outcomes.append(nil)
                } catch { outcomes.append((error as? APNsError)?.kind) }
            }
            #expect(outcomes == [.timedOut, nil] || outcomes == [.timedOut, .timedOut, nil])
        }
        #expect(service.connections == 2)
    }

    @Test func serviceThatWantsNobodyIsNotAskedForEver() async throws {
        let service = try ScriptedService(farewell: #"{"reason":"IdleTimeout"}"#) { _ in ScriptedService.accepted }
        try await Self.withClient(service) { client in
            let error = await #expect(throws: APNsError.self) {
                try await client.send(Self.push, to: Self.deviceToken)
            }
            #expect(error?.kind == .goneAway)
            #expect(error?.message.contains("IdleTimeout") == true)
        }
        #expect(service.acceptedConnections == APNsDriver.fruitlessMax)
        #expect(service.requests.isEmpty)
    }

    @Test func serverThatSaysNothingIsGivenUpAtTheConnectDeadline() async throws {
        let service = try ScriptedService { _ in ScriptedService.accepted }
        let (thread, port) = try LoopThread.start(name: "mute") { loop in
            let listener = try Listener(loop: loop, host: "127.0.0.1", port: 0) { _ in }
            // Held by the loop, so that it lives as long.
            loop.beforeSleep(.sweep) { _ = listener }
            return listener.port
        }
        defer { thread.stop() }
        try await Self.withClient(
            service,
            {
                $0.port = port
                $0.connectDeadline = .milliseconds(200)
            }
        ) { client in
            let error = await #expect(throws: APNsError.self) {
                try await client.send(Self.push, to: Self.deviceToken)
            }
            #expect(error?.kind == .cannotConnect)
        }
    }

    @Test func clientThatIsLetGoClosesItsConnection() async throws {
        let service = try ScriptedService { _ in ScriptedService.accepted }
        do {
            let client = try APNsClient(Self.configuration(service))
            try await Self.expectAccepted(client)
            #expect(service.openConnections == 1)
        }
        while service.openConnections > 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(service.requests.count == 1)
    }

    @Test func unansweredPushEndsByItsDeadline() async throws {
        let service = try ScriptedService { $0.index == 0 ? .silence : ScriptedService.accepted }
        try await Self.withClient(service, { $0.requestDeadline = .seconds(1) }) { client in
            let error = await #expect(throws: APNsError.self) {
                try await client.send(Self.push, to: Self.deviceToken)
            }
            #expect(error?.kind == .timedOut)
            try await Self.expectAccepted(client)
        }
    }

    @Test func connectionThatBreaksEndsItsPushesAndTheNextOneConnectsAgain() async throws {
        let service = try ScriptedService { $0.index == 0 ? .close : ScriptedService.accepted }
        try await Self.withClient(service) { client in
            let error = await #expect(throws: APNsError.self) {
                try await client.send(Self.push, to: Self.deviceToken)
            }
            #expect(error?.kind == .connectionLost)
            try await Self.expectAccepted(client)
        }
    }

    @Test func resetStreamEndsItsPushOnly() async throws {
        let service = try ScriptedService { $0.index == 0 ? .reset(code: 2) : ScriptedService.accepted }
        try await Self.withClient(service) { client in
            let error = await #expect(throws: APNsError.self) {
                try await client.send(Self.push, to: Self.deviceToken)
            }
            #expect(error?.kind == .streamReset)
            try await Self.expectAccepted(client)
        }
        #expect(service.connections == 1)
    }

    @Test func untrustedServerIsRefused() async throws {
        let service = try ScriptedService { _ in ScriptedService.accepted }
        let other = try ScriptedService { _ in ScriptedService.accepted }
        try await Self.withClient(service, { $0.trust = .authorities(pem: other.authorityPEM) }) { client in
            let error = await #expect(throws: APNsError.self) {
                try await client.send(Self.push, to: Self.deviceToken)
            }
            #expect(error?.kind == .insecure)
        }
        #expect(service.requests.isEmpty)
    }

    @Test func serverOfAnotherNameIsRefused() async throws {
        let service = try ScriptedService(names: ["push.example.com"]) { _ in ScriptedService.accepted }
        try await Self.withClient(service) { client in
            let error = await #expect(throws: APNsError.self) {
                try await client.send(Self.push, to: Self.deviceToken)
            }
            #expect(error?.kind == .insecure)
        }
        try await Self.withClient(service, { $0.serverName = "push.example.com" }) { client in
            try await Self.expectAccepted(client)
        }
        #expect(service.requests.first?.fields[":authority"] == "push.example.com:\(service.port)")
    }

    @Test func nobodyAtTheAddressIsToldAtOnce() async throws {
        let service = try ScriptedService { _ in ScriptedService.accepted }
        // Port 1 is privileged and unused: nobody listens there.
        try await Self.withClient(service, { $0.port = 1 }) { client in
            let error = await #expect(throws: APNsError.self) {
                try await client.send(Self.push, to: Self.deviceToken)
            }
            #expect(error?.kind == .cannotConnect)
        }
    }

    @Test func pushBeyondTheLimitIsRefused() async throws {
        let service = try ScriptedService { _ in .silence }
        try await Self.withClient(
            service,
            {
                $0.sendsMax = 1
                $0.requestDeadline = .milliseconds(500)
            }
        ) { client in
            let kinds = await withTaskGroup(of: APNsError.Kind?.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        do {
                            _ = try await client.send(Self.push, to: Self.deviceToken)
                            return nil
                        } catch { return (error as? APNsError)?.kind }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(kinds.filter { $0 == .queueFull }.count == 2)
            #expect(kinds.filter { $0 == .timedOut }.count == 1)
        }
    }

    @Test func cancelledTaskEndsItsPush() async throws {
        let service = try ScriptedService { _ in .silence }
        try await Self.withClient(service) { client in
            let task = Task { try await client.send(Self.push, to: Self.deviceToken) }
            while service.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func shutDownClientSendsNothing() async throws {
        let service = try ScriptedService { _ in ScriptedService.accepted }
        let client = try APNsClient(Self.configuration(service))
        try await Self.expectAccepted(client)
        await client.shutdown()
        await client.shutdown()
        let error = await #expect(throws: APNsError.self) { try await client.send(Self.push, to: Self.deviceToken) }
        #expect(error?.kind == .shutDown)
        #expect(service.requests.count == 1)
    }

    @Test func shutdownWaitsForPushesUnderWay() async throws {
        let service = try ScriptedService { _ in ScriptedService.accepted }
        let client = try APNsClient(Self.configuration(service))
        let tasks = (0..<50).map { _ in Task { try await client.send(Self.push, to: Self.deviceToken).status } }
        for task in tasks.prefix(1) { _ = try await task.value }
        await client.shutdown()
        for task in tasks {
            switch await task.result {
            case .success(let status): #expect(status == 200)
            case .failure(let error): #expect((error as? APNsError)?.kind == .shutDown)
            }
        }
    }

    @Test func lineBreakInAFieldIsRefusedBeforeItIsSent() async throws {
        let service = try ScriptedService { _ in ScriptedService.accepted }
        try await Self.withClient(service) { client in
            for (push, token) in [
                (APNsNotification(payload: "{}", topic: "a\nb"), Self.deviceToken), (Self.push, "a b"),
            ] {
                let error = await #expect(throws: APNsError.self) { try await client.send(push, to: token) }
                #expect(error?.kind == .badRequest)
            }
        }
        #expect(service.requests.isEmpty)
    }

    @Test func unusableKeyIsAnErrorAtOnce() throws {
        let credentials = APNsConfiguration.TokenCredentials(privateKeyPEM: "x", keyID: "A", teamID: "B")
        let error = #expect(throws: APNsError.self) { try APNsClient(.sandbox(credentials)) }
        #expect(error?.kind == .badConfiguration)
    }
}
