import Foundation
import PushCrypto
import PushJSON
import PushProvider
import PushServer
import Testing

/// What the switches of a server change.
@Suite struct ConfigurationCallTests {
    /// Sends one push with a key of its own.
    private func send(
        _ bench: ControlBench, _ token: String, key: String, id: String, team: String, topic: String = ControlBench.app
    ) async throws -> APNsResponse {
        let provider = try APNsClient(
            ControlBench.providerConfiguration(
                bench.server.ready, .init(privateKeyPEM: key, keyID: id, teamID: team)))
        do {
            let response = try await provider.send(APNsNotification(payload: "{}", topic: topic), to: token)
            await provider.shutdown()
            return response
        } catch {
            await provider.shutdown()
            throw error
        }
    }

    @Test func anUnknownKeyIsRefusedUnlessAnyIsTrusted() async throws {
        let key = try ES256PrivateKey().pem
        for trusts in [false, true] {
            try await ControlBench.run({ $0.trustsAnyKey = trusts }) { bench in
                let phone = try await bench.addDevice()
                let response = try await send(bench, phone.token, key: key, id: "UNKNOWNKEY", team: "OTHERTEAM1")
                #expect(response.isAccepted == trusts)
                #expect(response.reason == (trusts ? nil : .invalidProviderToken))
                // A key that is known must sign, whoever else is trusted.
                let forged = try await send(bench, phone.token, key: key, id: "LOCALPUSH1", team: "LOCALTEAM1")
                #expect(forged.reason == .invalidProviderToken)
            }
        }
    }

    @Test func anUnknownTokenMakesAVirtualDeviceAndItsApp() async throws {
        try await ControlBench.run({ $0.registersUnknownTokens = true }) { bench in
            let token = String(repeating: "0a", count: 32)
            let wait = try await bench.begin("wait?token=\(token)&timeout=10m")
            let id = try await bench.accepted(token, "first") { $0.topic = "com.example.new" }
            #expect(try await wait.value.body["deliveries"]?[0]?["id"] == .string(id))
            _ = try await bench.accepted(token, "second") { $0.topic = "com.example.new" }
            let devices = try await bench.get("devices").body["devices"]?.arrayValue ?? []
            #expect(devices.count == 1)
            #expect(devices.first?["virtual"] == true)
            #expect(devices.first?["registrations"]?[0]?["token"] == .string(token))
            #expect(try await bench.get("apps/com.example.new").body["team"] == "LOCALTEAM1")
            #expect(try await bench.titles("devices/d1/inbox") == ["first", "second"])
            // It belongs to its app now, and what is no token makes nothing.
            #expect(try await bench.push(token).reason == .deviceTokenNotForTopic)
            #expect(try await bench.push("abc").reason == .badDeviceToken)
            #expect(try await bench.get("devices").body["devices"]?.arrayValue?.count == 1)
        }
    }

    @Test func anUnknownTokenOfAnUnknownKeyIsTakenWhenBothAreAllowed() async throws {
        try await ControlBench.run({
            $0.trustsAnyKey = true
            $0.registersUnknownTokens = true
        }) { bench in
            let token = String(repeating: "0b", count: 80)
            let key = try ES256PrivateKey().pem
            let response = try await send(
                bench, token, key: key, id: "K", team: "SOMEONE", topic: "com.example.new")
            #expect(response.isAccepted)
            #expect(try await bench.get("apps/com.example.new").body["team"] == "SOMEONE")
        }
    }

    @Test func aKeyMadeByOpenSSLSignsPushes() async throws {
        try await ControlBench.withDirectory { directory in
            let path = directory + "/AuthKey_MYKEY00001.p8"
            try openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)
            let bench = try ControlBench(directory: directory + "/data") {
                $0.signingKey = .init(path: path, keyID: "MYKEY00001", team: "MYTEAM0001")
            }
            let phone = try await bench.addDevice()
            let key = try String(contentsOfFile: path, encoding: .utf8)
            let response = try await send(bench, phone.token, key: key, id: "MYKEY00001", team: "MYTEAM0001")
            #expect(response.isAccepted)
            let keys = try await bench.get("keys").body["keys"]?.arrayValue
            #expect(keys?.map { $0["id"] } == ["LOCALPUSH1", "MYKEY00001"])
            #expect(try await bench.get("info").body[path: "key.team"] == "MYTEAM0001")
            await bench.stop()
        }
    }

    /// Without Foundation's `Process`, which reads beyond a buffer when thousands of descriptors are open, as they may be
    /// while tests of crowds run beside this one.
    private func openssl(_ arguments: String...) throws {
        let words = (["openssl"] + arguments).map { strdup($0) }
        defer { words.forEach { free($0) } }
        var process: pid_t = 0
        try #require(posix_spawnp(&process, "openssl", nil, nil, words + [nil], [nil]) == 0)
        var status: Int32 = -1
        #expect(waitpid(process, &status, 0) == process)
        #expect(status == 0)
    }

    @Test func theUniqueIDIsGivenInTheSandboxOnly() async throws {
        for environment in LocalPushConfiguration.Environment.allCases {
            try await ControlBench.run({ $0.environment = environment }) { bench in
                let phone = try await bench.addDevice()
                let response = try await bench.push(phone.token)
                #expect(response.isAccepted)
                #expect((response.apnsUniqueID != nil) == (environment == .sandbox))
                let push = try await bench.get("pushes/\(#require(response.apnsID))").body
                #expect(push["environment"] == .string(environment.rawValue))
                #expect(try await bench.get("info").body["environment"] == .string(environment.rawValue))
            }
        }
    }

    @Test func aTokenOfOneEnvironmentIsBadInTheOther() async throws {
        try await ControlBench.run({ $0.environment = .production }) { bench in
            let phone = try await bench.addDevice(["environment": "sandbox"])
            #expect(try await bench.push(phone.token).reason == .badDeviceToken)
            let key = try ES256PrivateKey()
            try await bench.call(
                "POST", "keys",
                ["id": "K", "team": "LOCALTEAM1", "pem": .string(key.pem), "environment": "sandbox"])
            let response = try await send(bench, phone.token, key: key.pem, id: "K", team: "LOCALTEAM1")
            #expect(response.status == 403)
            #expect(response.reason == .badEnvironmentKeyIDInToken)
        }
    }

    @Test func twoServersInOneProcessKnowNothingOfEachOther() async throws {
        try await ControlBench.run { first in
            try await ControlBench.run { second in
                let one = try await first.addDevice(["name": "one"])
                let two = try await second.addDevice(["name": "two"])
                #expect(one.token != two.token)
                _ = try await first.accepted(one.token, "to one")
                _ = try await second.accepted(two.token, "to two")
                #expect(try await first.push(two.token).reason == .badDeviceToken)
                #expect(try await first.titles("devices/d1/inbox") == ["to one"])
                #expect(try await second.titles("devices/d1/inbox") == ["to two"])
                await second.server.stop()
                #expect(try await first.push(one.token).isAccepted)
            }
        }
    }

    @Test func theSeedMakesTokensAndIDsReproducible() async throws {
        var seen: Set<[String]> = []
        for _ in 0..<2 {
            try await ControlBench.run({ $0.seed = 7 }) { bench in
                let phone = try await bench.addDevice()
                seen.insert([phone.token, try await bench.accepted(phone.token)])
            }
        }
        #expect(seen.count == 1)
    }
}
