import Foundation
import PushCore
import PushStore
import Testing

/// How a server ends and how it starts on what it finds.
@Suite(.serialized) struct StopTests {
    @Test func aServerStoppedUnderLoadSaysSoAnswersWhatItTookAndHoldsExactlyThat() throws {
        let server = try FaultServer(["--profile", "ideal"])
        let token = try FaultPhone.register(server)
        let providers = try (0..<4).map { _ in try RawProvider(server, token: token) }
        var next = 0
        var isStopping = false
        while providers.contains(where: { !$0.client.isEnded }) {
            for provider in providers where !provider.client.isEnded {
                while provider.open.count < 300 && provider.canSubmit {
                    try provider.submit(next, padding: 500)
                    next += 1
                }
                // The server may be gone already.
                try? provider.flush()
            }
            for provider in providers where !provider.client.isEnded { try provider.receive() }
            if !isStopping && providers.allSatisfy({ $0.accepted.count > 500 }) {
                isStopping = true
                server.terminate()
            }
        }
        server.process.waitUntilExit()
        #expect(server.process.terminationStatus == 0)
        for provider in providers {
            #expect(provider.goodbye == #"{"reason":"Shutdown"}"#)
            // Those that came after the goodbye: the provider is told, or knows that nobody looked at them.
            #expect(provider.refused.allSatisfy { $0.status == 503 && $0.body == provider.goodbye })
            #expect(provider.ended.allSatisfy { $0.code == 7 })
        }
        let store = try PushStore(.file(server.storePath))
        defer { store.close() }
        let stored = try StoreReader.accepted(store).compactMap { RawProvider.number($0.payload) }
        #expect(stored.sorted() == providers.flatMap(\.accepted).sorted())
        print("stopped with \(stored.count) of \(next) pushes accepted")
    }

    @Test func aProviderThatIsSlowToReadGetsItsAnswersWhenTheServerStops() throws {
        let server = try FaultServer(["--profile", "ideal"])
        let provider = try RawProvider(server, token: try FaultPhone.register(server))
        try provider.send(0..<1)
        // Small ones: the server's window, which we do not hear of either, lets 64 KiB in.
        for number in 1..<900 { try provider.submit(number) }
        try provider.flush()
        #expect(try eventually { try FaultPhone.accepted(server).count == 900 })
        #expect(server.stop() == 0)
        while !provider.client.isEnded { try provider.receive() }
        #expect(provider.accepted.sorted() == Array(0..<900))
        #expect(provider.goodbye == #"{"reason":"Shutdown"}"#)
    }

    @Test func aSecondServerOnTheSameDataIsRefusedWithOneLine() throws {
        let server = try FaultServer()
        let error = try #require(throws: FaultServer.Failure.self) { try FaultServer(directory: server.directory) }
        #expect(error.text.contains("status 1"))
        #expect(error.text.contains("store.sqlite"))
        #expect(error.text.contains("another LocalPush"))
        #expect(server.isHealthy)
        let provider = try RawProvider(server, token: try FaultPhone.register(server))
        try provider.send(0..<1)
    }

    enum Damage: CaseIterable {
        case text, zeroedHead, cutShort, zeroedMiddle, directory
    }

    @Test(arguments: Damage.allCases) func aDamagedStoreIsNamedInOneLine(damage: Damage) throws {
        let server = try FaultServer(["--profile", "ideal"])
        let token = try FaultPhone.register(server)
        try RawProvider(server, token: token).send(0..<300, padding: 2000)
        #expect(server.stop() == 0)
        try apply(damage, to: server.storePath)
        let before = server.log
        let error = try #require(throws: FaultServer.Failure.self) { try server.start() }
        #expect(error.text.contains("status 1"))
        let said = error.text.components(separatedBy: before).last ?? ""
        #expect(said.contains("store.sqlite"))
        #expect(damage == .directory || said.contains("damaged"))
        #expect(said.split(separator: "\n").count == 1, "\(said)")
    }

    private func apply(_ damage: Damage, to path: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        switch damage {
        case .text: bytes = Data("this is no database\n".utf8) + bytes.dropFirst(20)
        case .zeroedHead: bytes.replaceSubrange(0..<100, with: Data(count: 100))
        case .cutShort: bytes = Data(bytes.prefix(bytes.count / 2))
        case .zeroedMiddle:
            for page in 1..<bytes.count / 16_384 where page % 2 == 1 {
                bytes.replaceSubrange(page * 16_384..<(page + 1) * 16_384, with: Data(count: 16_384))
            }
        case .directory:
            try FileManager.default.removeItem(atPath: path)
            return try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
