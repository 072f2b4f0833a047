import Foundation
import PushReactor
import PushServer
import Testing

/// Servers that cannot start say why, and leave nothing behind.
@Suite struct StartTests {
    private static func failure(_ configuration: LocalPushConfiguration) async -> String {
        do {
            let server = try LocalPushServer.start(configuration)
            await server.stop()
            return "it started"
        } catch {
            return "\(error)"
        }
    }

    /// Ports that were free a moment ago.
    private static func freePorts(_ count: Int) throws -> [UInt16] {
        let loop = try EventLoop()
        var listeners: [Listener] = []
        defer { listeners.forEach { $0.close() } }
        while listeners.count < count {
            // Below those that the system gives to tests that take any: nobody else comes for them meanwhile.
            let port = UInt16.random(in: 10_000..<32_000)
            if let listener = try? Listener(loop: loop, host: "127.0.0.1", port: port, accepted: { _ in }) {
                listeners.append(listener)
            }
        }
        return listeners.map(\.port)
    }

    @Test func aTakenPortIsNamedWithItsOptionAndTheOthersAreFreeAgain() async throws {
        let surfaces: [(option: String, path: WritableKeyPath<LocalPushConfiguration, UInt16>)] = [
            ("--apns-port", \.apnsPort), ("--courier-port", \.courierPort), ("--http-port", \.httpPort),
            ("--https-port", \.httpsPort),
        ]
        for taken in surfaces {
            try await ControlBench.withDirectory { directory in
                let loop = try EventLoop()
                let ports = try Self.freePorts(5)
                let occupant = try Listener(loop: loop, host: "127.0.0.1", port: ports[4]) { _ in }
                var configuration = ControlBench.configuration(directory)
                configuration.isEphemeral = false
                for (surface, port) in zip(surfaces, ports) {
                    configuration[keyPath: surface.path] = port
                }
                configuration[keyPath: taken.path] = occupant.port
                let failure = await Self.failure(configuration)
                #expect(failure.contains("127.0.0.1:\(occupant.port)"))
                #expect(failure.contains("choose another with \(taken.option)"))
                occupant.close()
                // The same again, over the same store: nothing is held.
                let again = await Self.failure(configuration)
                #expect(again == "it started")
            }
        }
    }

    @Test func aDirectoryThatCannotBeWrittenIsNamed() async throws {
        try await ControlBench.withDirectory { directory in
            try "no directory".write(toFile: directory + "/file", atomically: true, encoding: .utf8)
            for path in [directory + "/file", directory + "/file/data", "/proc/nowhere"] {
                let failure = await Self.failure(ControlBench.configuration(path))
                #expect(failure.hasPrefix(path) || failure.contains(directory + "/file"), "\(failure)")
                #expect(failure.contains("; "), "what helps is said: \(failure)")
                #expect(!failure.contains("\n"))
            }
        }
    }

    @Test func aBadKeyFileIsNamedWithTheRemedy() async throws {
        try await ControlBench.withDirectory { directory in
            let rest = String(repeating: "x", count: 70_000)
            for (name, text) in [("empty.p8", ""), ("text.p8", "no key"), ("large.p8", rest), ("missing.p8", nil)] {
                let path = directory + "/" + name
                try text?.write(toFile: path, atomically: true, encoding: .utf8)
                var configuration = ControlBench.configuration(directory + "/data")
                configuration.isEphemeral = false
                configuration.signingKey = .init(path: path, keyID: "K", team: "T")
                let failure = await Self.failure(configuration)
                #expect(failure.hasPrefix(path), "\(failure)")
                #expect(failure.contains("check the path") || failure.contains("give the .p8 file"), "\(failure)")
                #expect(!failure.contains("\n"))
                configuration.signingKey = nil
                #expect(await Self.failure(configuration) == "it started")
            }
        }
    }

    @Test func aStoreThatAnotherServerHasIsNotTouched() async throws {
        try await ControlBench.withDirectory { directory in
            let bench = try ControlBench(directory: directory) { $0.isEphemeral = false }
            var configuration = ControlBench.configuration(directory)
            configuration.isEphemeral = false
            let failure = await Self.failure(configuration)
            #expect(failure.contains(directory + "/store.sqlite"))
            #expect(failure.contains("stop that one, or use another data directory"))
            let phone = try await bench.addDevice()
            _ = try await bench.accepted(phone.token)
            await bench.stop()
            #expect(await Self.failure(configuration) == "it started")
        }
    }

    @Test func aDamagedStoreIsNamed() async throws {
        try await ControlBench.withDirectory { directory in
            let path = directory + "/store.sqlite"
            try String(repeating: "no database ", count: 1000).write(toFile: path, atomically: true, encoding: .utf8)
            var configuration = ControlBench.configuration(directory)
            configuration.isEphemeral = false
            let failure = await Self.failure(configuration)
            #expect(failure.contains(path))
            #expect(failure.contains("move the file away"))
            try FileManager.default.removeItem(atPath: path)
            #expect(await Self.failure(configuration) == "it started")
        }
    }

    @Test func anAddressThatIsNotOursIsNamed() async throws {
        try await ControlBench.withDirectory { directory in
            var configuration = ControlBench.configuration(directory)
            configuration.host = "192.0.2.1"
            #expect(await Self.failure(configuration).contains("192.0.2.1"))
        }
    }
}
