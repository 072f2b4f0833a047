import Foundation
import PushCore
import PushStore
import Testing

/// No room for the store, and room again.
@Suite(.serialized) struct FullDiskTests {
    enum Shortage: CaseIterable {
        /// A file system of its own, which takes the rights to mount one.
        case smallDisk
        /// The limit of the process for the size of a file.
        case fileSizeLimit
    }

    /// A server with room for some hundred pushes.
    private final class TightServer {
        let server: FaultServer
        private let shortage: Shortage
        private let data: String

        /// `nil` when this machine cannot do it.
        init?(_ shortage: Shortage) throws {
            self.shortage = shortage
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString)")
            data = directory.appendingPathComponent("data").path
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
            var prefix = ""
            switch shortage {
            case .smallDisk:
                guard Self.run("mount", "-t", "tmpfs", "-o", "size=3m,mode=0700", "tmpfs", data) else {
                    print("no small disk: a file system cannot be mounted here")
                    server = try FaultServer()
                    return nil
                }
            case .fileSizeLimit: prefix = "trap '' XFSZ; ulimit -S -f 2048;"
            }
            server = try FaultServer(["--profile", "ideal"], shellPrefix: prefix, directory: directory)
        }

        deinit {
            if server.process.isRunning { server.kill() }
            if shortage == .smallDisk { _ = Self.run("umount", data) }
            try? FileManager.default.removeItem(at: server.directory)
        }

        func makeRoom() -> Bool {
            switch shortage {
            case .smallDisk: Self.run("mount", "-o", "remount,size=64m", data)
            case .fileSizeLimit: Self.run("prlimit", "--pid", "\(server.processID)", "--fsize=unlimited:")
            }
        }

        private static func run(_ words: String...) -> Bool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = words
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }

    @Test(arguments: Shortage.allCases)
    func withoutRoomPushesAreAnswered503AndWithRoomTheyAreTakenAgainAndNothingIsLost(shortage: Shortage) throws {
        guard let tight = try TightServer(shortage) else { return }
        let server = tight.server
        let phone = try FaultPhone(server)
        let token = try phone.token()
        let provider = try RawProvider(server, token: token)
        var next = 0
        while provider.refused.count < 30 && next < 3000 {
            try provider.send(next..<next + 10, padding: 3000)
            next += 10
        }
        let before = provider.accepted.count
        #expect(provider.refused.count >= 30)
        #expect(provider.refused.allSatisfy { $0.status == 503 })
        #expect(provider.refused.allSatisfy { $0.body == #"{"reason":"ServiceUnavailable"}"# })
        #expect(before > 20)
        #expect(provider.goodbye == nil)
        #expect(server.log.contains("the disk is full"))

        #expect(tight.makeRoom())
        #expect(try eventually { try server.get("/healthz").status == 200 })
        let refused = provider.refused.count
        try provider.send(next..<next + 49, padding: 3000)
        // Alone, since large ones may overtake each other on their way in.
        try provider.send(next + 49..<next + 50)
        #expect(provider.refused.count == refused)
        #expect(provider.accepted.count == before + 50)
        // The phone was let go while nothing could be stored; it comes back.
        let isWhole = try phone.numbers(upTo: next + 49) == provider.accepted
        #expect(isWhole)
        phone.interrupt()
        let listed = try object(server.get("/localpush/v1/pushes?limit=1000&token=\(token)").body)["pushes"]
        #expect((listed as? [Any])?.count == before + 50, "the list of one token has no gap")
        #expect(server.stop() == 0)
        let store = try PushStore(.file(server.storePath))
        defer { store.close() }
        let stored = try StoreReader.accepted(store).compactMap { RawProvider.number($0.payload) }
        let isSame = stored == provider.accepted
        #expect(isSame)
        print("\(shortage): \(before) pushes accepted, then \(refused) refused, then 50 accepted")
    }
}
