import PushCrypto
import PushJSON
import PushProvider
import PushServer
import Testing

/// Apps, keys, devices and what the server tells of itself.
@Suite struct RegistryCallTests {
    @Test func infoTellsWhereTheServerIsAndWhatItIs() async throws {
        try await ControlBench.run { bench in
            let info = try await bench.get("info")
            #expect(info.status == 200)
            #expect(info.body["http"]?.stringValue == bench.server.ready.http)
            #expect(info.body["apns"]?.stringValue == bench.server.ready.apns)
            #expect(info.body["ca"]?.stringValue == bench.server.ready.authorityPath)
            #expect(
                info.body["key"] == [
                    "id": "LOCALPUSH1", "team": "LOCALTEAM1", "path": .string(bench.server.ready.keyPath),
                ])
            #expect(info.body["profile"] == "lenient")
            #expect(info.body["durability"] == "none")
            #expect(info.body["environment"] == "sandbox")
            #expect(info.body["apps"]?[0]?["bundle"] == "com.example.app")
            #expect(info.body[path: "limits.payloadBytes"] == 4096)
            #expect(info.body[path: "limits.waits"] == 1000)
            #expect(info.body[path: "versions.localpush"] == .string(LocalPushVersion.number))
        }
    }

    @Test func theServerIsHealthy() async throws {
        try await ControlBench.run { bench in
            let health = try await bench.get("/healthz")
            #expect(health.status == 200)
            #expect(health.body == ["status": "ok"])
            #expect(try await bench.call("HEAD", "/healthz").status == 200)
        }
    }

    @Test func anAppIsAddedShownChangedAndRemoved() async throws {
        try await ControlBench.run { bench in
            let added = try await bench.call("POST", "apps", ["bundle": "com.example.two", "storageRule": "ideal"])
            #expect(added.status == 201)
            #expect(
                added.body == [
                    "bundle": "com.example.two", "team": "LOCALTEAM1", "storageRule": "ideal", "broadcast": true,
                ])
            let apps = try await bench.get("apps").body["apps"]?.arrayValue
            #expect(apps?.map { $0["bundle"] } == ["com.example.app", "com.example.two"])

            let changed = try await bench.call(
                "PATCH", "apps/com.example.two", ["team": "OTHERTEAM1", "broadcast": false])
            #expect(changed.body["team"] == "OTHERTEAM1")
            #expect(changed.body["broadcast"] == false)
            #expect(changed.body["storageRule"] == "ideal")
            #expect(try await bench.get("apps/com.example.two").body == changed.body)

            let phone = try await bench.addDevice(["app": "com.example.two"])
            let response = try await bench.push(phone.token) { $0.topic = "com.example.two" }
            #expect(response.reason == .topicDisallowed)

            #expect(try await bench.call("DELETE", "apps/com.example.two").status == 200)
            #expect(try await bench.get("apps/com.example.two").code == "unknown_app")
            #expect(try await bench.get("devices/\(phone.id)").body["registrations"]?.arrayValue == [])
        }
    }

    @Test func removingAnAppDropsWhatWaitsForIt() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["online": false])
            let id = try await bench.accepted(phone.token)
            #expect(try await bench.call("DELETE", "apps/\(ControlBench.app)").status == 200)
            #expect(try await bench.state(id) == "dropped")
            #expect(try await bench.push(phone.token).reason == .topicDisallowed)
        }
    }

    @Test func aKeyOfPEMSignsPushesUntilItIsRemoved() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let key = try ES256PrivateKey()
            let fields: JSONValue = [
                "id": "SECONDKEY1", "team": "LOCALTEAM1", "pem": .string(key.pem), "environment": "sandbox",
            ]
            let added = try await bench.call("POST", "keys", fields)
            #expect(added.status == 201)
            #expect(added.body == ["id": "SECONDKEY1", "team": "LOCALTEAM1", "environment": "sandbox"])
            #expect(try await bench.call("POST", "keys", fields).code == "already_exists")
            let keys = try await bench.get("keys").body["keys"]?.arrayValue
            #expect(keys?.map { $0["id"] } == ["LOCALPUSH1", "SECONDKEY1"])

            let provider = try APNsClient(
                ControlBench.providerConfiguration(
                    bench.server.ready, .init(privateKeyPEM: key.pem, keyID: "SECONDKEY1", teamID: "LOCALTEAM1")))
            let push = APNsNotification(payload: "{}", topic: ControlBench.app)
            #expect(try await provider.send(push, to: phone.token).isAccepted)
            #expect(try await bench.call("DELETE", "keys/SECONDKEY1").status == 200)
            // The same connection, and the same provider token as before.
            let refused = try await provider.send(push, to: phone.token)
            #expect(refused.status == 403)
            #expect(refused.reason == .invalidProviderToken)
            await provider.shutdown()
            #expect(try await bench.get("keys/SECONDKEY1").code == "unknown_key")
            #expect(try await bench.push(phone.token).isAccepted)
        }
    }

    @Test func aPublicKeyIsEnough() async throws {
        try await ControlBench.run { bench in
            let key = try ES256PrivateKey()
            let added = try await bench.call(
                "POST", "keys", ["id": "K", "team": "T", "pem": .string(key.publicKey.pem)])
            #expect(added.status == 201)
            #expect(try await bench.get("keys/K").body == ["id": "K", "team": "T"])
        }
    }

    @Test func aDeviceIsAddedWithADefaultForEachField() async throws {
        try await ControlBench.run { bench in
            let added = try await bench.call("POST", "devices")
            #expect(added.status == 201)
            let token = try #require(added.body["token"]?.stringValue)
            #expect(token.count == 64)
            let shown = try await bench.get("devices/d1").body
            #expect(
                shown == [
                    "id": "d1", "name": "phone 1", "virtual": true, "online": true, "environment": "sandbox",
                    "notificationsEnabled": true,
                    "registrations": [
                        [
                            "app": "com.example.app", "topic": "com.example.app", "token": .string(token),
                            "registered": true, "expired": false, "queued": 0, "inFlight": 0, "channels": [],
                        ]
                    ],
                ])
            #expect(try await bench.get("devices").body == ["devices": [shown]])
        }
    }

    @Test(
        arguments: [
            ["name": "red"], ["online": false], ["notificationsEnabled": false], ["registered": false],
            ["expired": true], ["registered": false, "app": "com.example.app"],
        ] as [JSONValue])
    func eachFieldOfADeviceCanBeChanged(fields: JSONValue) async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            try await bench.change(phone, fields)
            let shown = try await bench.get("devices/\(phone.id)").body
            for member in fields.objectValue ?? [] where member.name != "app" {
                #expect((shown[member.name] ?? shown["registrations"]?[0]?[member.name]) == member.value)
            }
        }
    }

    @Test func aRemovedDeviceIsGoneWithItsToken() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["name": "green", "environment": "sandbox"])
            #expect(try await bench.call("DELETE", "devices/\(phone.id)").status == 200)
            #expect(try await bench.get("devices/\(phone.id)").code == "unknown_device")
            #expect(try await bench.get("devices/\(phone.id)/inbox").code == "unknown_device")
            #expect(try await bench.push(phone.token).reason == .badDeviceToken)
        }
    }

    @Test func aRemovedDevicesNumberAndTokenAreNotGivenOutAgainAfterAStart() async throws {
        try await ControlBench.withDirectory { directory in
            var bench = try ControlBench(directory: directory) { $0.isEphemeral = false }
            let first = try await bench.addDevice()
            _ = try await bench.accepted(first.token, "old")
            #expect(try await bench.call("DELETE", "devices/\(first.id)").status == 200)
            await bench.stop()

            bench = try ControlBench(directory: directory) { $0.isEphemeral = false }
            let second = try await bench.addDevice()
            #expect(second.id != first.id && second.token != first.token)
            #expect(try await bench.titles("devices/\(second.id)/inbox") == [])
            #expect(try await bench.titles("pushes?token=\(second.token)") == [])
            await bench.stop()
        }
    }
}
