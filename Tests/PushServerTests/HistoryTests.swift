import Foundation
import PushCore
import PushProvider
import PushServer
import PushStore
import Testing

/// The journal is bounded under load, and never at the cost of what still waits.
struct HistoryTests {
    @Test func underLoadTheJournalKeepsItsSizeAndWhatWaits() async throws {
        let directory = NSTemporaryDirectory() + "history-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var configuration = LocalPushConfiguration()
        configuration.apnsPort = 0
        configuration.broadcastPorts = .init(sandbox: 0, production: 0)
        configuration.courierPort = 0
        configuration.httpPort = 0
        configuration.httpsPort = 0
        configuration.dataDirectory = directory
        configuration.registersUnknownTokens = true
        configuration.historyMax = 300
        let server = try LocalPushServer.start(configuration)
        let port = try #require(UInt16(server.ready.apns.split(separator: ":").last ?? ""))
        let credentials = APNsConfiguration.TokenCredentials(
            privateKeyPEM: try String(contentsOfFile: server.ready.keyPath, encoding: .utf8), keyID: server.ready.keyID,
            teamID: server.ready.team)
        let authority = try String(contentsOfFile: server.ready.authorityPath, encoding: .utf8)
        let client = try APNsClient(.local(authorityPEM: authority, port: port, credentials: credentials))
        let token = String(repeating: "ab", count: 32)
        for _ in 0..<15 {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        let push = APNsNotification(payload: Array(#"{"aps":{}}"#.utf8), topic: "com.example.app")
                        return try await client.send(push, to: token).status
                    }
                }
                for try await status in group { #expect(status == 200) }
            }
        }
        await client.shutdown()
        await server.stop()

        let store = try PushStore(.file(directory + "/store.sqlite"))
        defer { store.close() }
        let last = try store.lastSequence()
        let oldest = try #require(try store.oldestSequence())
        // Each push takes three places: itself, sent, acknowledged. One turn may overshoot by what it brings.
        #expect(last >= 4500)
        #expect(last - oldest <= 2 * configuration.historyMax + 300)
        var query = PushQuery()
        query.limit = PushStore.queryLimitMax
        let kept = try store.pushes(query)
        #expect(kept.count >= 100 && kept.last?.events.last?.milestone == .acknowledged)
    }
}
