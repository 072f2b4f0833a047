import PushCrypto
import PushDevice
import PushJSON
import PushProvider
import PushServer
import Testing

@Suite struct ResetCallTests {
    private func fill(_ bench: ControlBench) async throws -> ControlBench.Phone {
        try await bench.call("POST", "apps", ["bundle": "com.example.two"])
        try await bench.call(
            "POST", "keys", ["id": "K", "team": "T", "pem": .string(ES256PrivateKey().publicKey.pem)])
        try await bench.call("DELETE", "apps/com.example.app")
        try await bench.call("POST", "apps", ["bundle": "com.example.app"])
        let phone = try await bench.addDevice()
        _ = try await bench.accepted(phone.token)
        return phone
    }

    @Test(
        arguments: [
            ([:], ["com.example.app"], ["LOCALPUSH1"]), (["keep": []], ["com.example.app"], ["LOCALPUSH1"]),
            (["keep": ["apps"]], ["com.example.app", "com.example.two"], ["LOCALPUSH1"]),
            (["keep": ["keys"]], ["com.example.app"], ["K", "LOCALPUSH1"]),
            (["keep": ["apps", "keys"]], ["com.example.app", "com.example.two"], ["K", "LOCALPUSH1"]),
        ] as [(JSONValue, [String], [String])])
    func resetEmptiesAllButWhatIsKeptAndTheDefaults(body: JSONValue, apps: [String], keys: [String]) async throws {
        try await ControlBench.run { bench in
            let old = try await fill(bench)
            #expect(try await bench.call("POST", "reset", body).body == [:])
            let found = try await bench.get("apps").body["apps"]?.arrayValue?.compactMap { $0["bundle"]?.stringValue }
            #expect(found == apps)
            #expect(try await bench.get("keys").body["keys"]?.arrayValue?.compactMap { $0["id"]?.stringValue } == keys)
            #expect(try await bench.get("devices").body == ["devices": []])
            #expect(try await bench.get("pushes").body["pushes"] == [])
            #expect(try await bench.push(old.token).reason == .badDeviceToken)
            let new = try await bench.addDevice()
            #expect(new.id != old.id && new.token != old.token)
            #expect(try await bench.state(bench.accepted(new.token)) == "acknowledged")
        }
    }

    @Test func theDefaultAppAndKeyComeBack() async throws {
        try await ControlBench.run { bench in
            try await bench.call("DELETE", "apps/com.example.app")
            try await bench.call("DELETE", "keys/LOCALPUSH1")
            #expect(try await bench.call("POST", "reset").status == 200)
            let phone = try await bench.addDevice()
            #expect(try await bench.push(phone.token).isAccepted)
        }
    }

    @Test func aConnectedPhoneComesBackWithTheSameToken() async throws {
        try await ControlBench.run { bench in
            try await bench.withPhone { device, token in
                _ = try await bench.accepted(token, "before")
                var messages = device.messages.makeAsyncIterator()
                await messages.next()?.acknowledge()

                #expect(try await bench.call("POST", "reset").status == 200)
                // Its connection ends; it connects again and asks for its token.
                let events = try await EventReader(bench, "events?after=0")
                while let event = try await events.next(), event.name != "registered" {}
                events.close()
                #expect(try await device.token(for: ControlBench.app) == token)
                _ = try await bench.accepted(token, "after")
                let message = try #require(await messages.next())
                #expect(String(decoding: message.payload, as: UTF8.self).contains("after"))
                message.acknowledge()
                #expect(try await bench.get("wait?token=\(token)&timeout=1m").status == 200)
            }
        }
    }
}
