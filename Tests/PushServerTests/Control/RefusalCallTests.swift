import PushCrypto
import PushDevice
import PushJSON
import PushServer
import Testing

/// What the control API objects to.
@Suite struct RefusalCallTests {
    private static let long = String(repeating: "x", count: 200)
    private static let pem = (try? ES256PrivateKey().publicKey.pem) ?? ""

    /// Method, target, body, status, code, and a part of the message.
    private static let table: [(String, String, JSONValue?, Int, String, String)] = [
        // Places and methods.
        ("GET", "/", nil, 404, "not_found", "nothing at /"),
        ("GET", "/localpush/v1", nil, 404, "not_found", "/localpush/v1"),
        ("GET", "/localpush/v2/info", nil, 404, "not_found", "/localpush/v2/info"),
        ("GET", "nothing", nil, 404, "not_found", "/localpush/v1/nothing"),
        ("GET", "info/more", nil, 404, "not_found", "info/more"),
        ("GET", "devices/d1/inbox/more", nil, 404, "not_found", "more"),
        ("GET", "devices/d1/outbox", nil, 404, "not_found", "outbox"),
        ("POST", "/healthz", nil, 405, "method_not_allowed", "POST"),
        ("POST", "info", nil, 405, "method_not_allowed", "POST"),
        ("DELETE", "apps", nil, 405, "method_not_allowed", "DELETE"),
        ("POST", "apps/com.example.app", nil, 405, "method_not_allowed", "POST"),
        ("PATCH", "keys/LOCALPUSH1", nil, 405, "method_not_allowed", "PATCH"),
        ("PUT", "devices", nil, 405, "method_not_allowed", "PUT"),
        ("POST", "devices/d1/inbox", nil, 405, "method_not_allowed", "POST"),
        ("DELETE", "pushes", nil, 405, "method_not_allowed", "DELETE"),
        ("POST", "wait", nil, 405, "method_not_allowed", "POST"),
        ("HEAD", "events", nil, 405, "", ""),
        ("GET", "reset", nil, 405, "method_not_allowed", "GET"),
        // Unknown things.
        ("GET", "apps/com.example.none", nil, 404, "unknown_app", "com.example.none"),
        ("GET", "keys/NONE", nil, 404, "unknown_key", "NONE"),
        ("GET", "devices/d99", nil, 404, "unknown_device", "d99"),
        ("GET", "devices/x1", nil, 404, "unknown_device", "x1"),
        ("GET", "devices/d99/inbox", nil, 404, "unknown_device", "d99"),
        ("GET", "pushes/nothing", nil, 404, "unknown_push", "nothing"),
        ("GET", "pushes/6F1A3C1E-0000-0000-0000-000000000000", nil, 404, "unknown_push", "6F1A3C1E"),
        ("GET", "pushes?token=\(String(repeating: "a", count: 64))", nil, 404, "unknown_token", "token"),
        ("GET", "wait?token=abc", nil, 404, "unknown_token", "token"),
        ("GET", "wait?push=6F1A3C1E-0000-0000-0000-000000000000", nil, 404, "unknown_push", "6F1A3C1E"),
        ("POST", "devices", ["app": "com.example.none"], 404, "unknown_app", "com.example.none"),
        ("PATCH", "devices/d1", ["app": "com.example.none", "expired": true], 404, "unknown_app", "not on d1"),
        // Fields that no call knows are typos.
        ("POST", "apps", ["bundel": "a"], 400, "unknown_field", "bundel"),
        ("PATCH", "apps/com.example.app", ["bundle": "a"], 400, "unknown_field", "bundle"),
        ("POST", "keys", ["key": "a"], 400, "unknown_field", "key"),
        ("POST", "devices", ["nmae": "red"], 400, "unknown_field", "nmae"),
        ("PATCH", "devices/d1", ["offline": true], 400, "unknown_field", "offline"),
        ("POST", "reset", ["kep": []], 400, "unknown_field", "kep"),
        ("GET", "pushes?status=stored", nil, 400, "unknown_field", "status"),
        ("GET", "wait?push_id=1", nil, 400, "unknown_field", "push_id"),
        ("GET", "events?from=1", nil, 400, "unknown_field", "from"),
        ("GET", "devices/d1/inbox?since=1", nil, 400, "unknown_field", "since"),
        // Wrong values.
        ("POST", "apps", [:], 400, "bad_field", "bundle is missing"),
        ("POST", "apps", ["bundle": ""], 400, "bad_field", "bundle is missing"),
        ("POST", "apps", ["bundle": 1], 400, "bad_field", "bundle must be a string"),
        ("POST", "apps", ["bundle": "com.example.app.voip"], 400, "bad_field", "bundle"),
        ("POST", "apps", ["bundle": "no spaces"], 400, "bad_field", "bundle"),
        ("POST", "apps", ["bundle": "a.b", "team": .string(long)], 400, "bad_field", "team"),
        ("POST", "apps", ["bundle": "a.b", "storageRule": "all"], 400, "bad_field", "storageRule"),
        ("POST", "keys", ["id": "K", "team": "T", "pem": "no key"], 400, "bad_field", "pem"),
        ("POST", "keys", ["id": "K", "team": "T"], 400, "bad_field", "pem is missing"),
        ("POST", "keys", ["id": "K", "pem": .string(pem)], 400, "bad_field", "team is missing"),
        ("POST", "keys", ["team": "T", "pem": .string(pem)], 400, "bad_field", "id is missing"),
        ("POST", "keys", ["id": .string(long), "team": "T", "pem": .string(pem)], 400, "bad_field", "id must"),
        (
            "POST", "keys", ["id": "K", "team": "T", "pem": .string(pem), "environment": "test"], 400, "bad_field",
            "env"
        ),
        ("POST", "devices", ["name": ""], 400, "bad_field", "name"),
        ("POST", "devices", ["name": .string(long)], 400, "bad_field", "name"),
        ("POST", "devices", ["online": "yes"], 400, "bad_field", "online must be true or false"),
        ("POST", "devices", ["environment": "test"], 400, "bad_field", "environment"),
        ("PATCH", "devices/d1", ["expired": 1], 400, "bad_field", "expired"),
        ("PATCH", "devices/d1", ["name": .string(long)], 400, "bad_field", "name"),
        ("POST", "reset", ["keep": "apps"], 400, "bad_field", "keep must be an array"),
        ("POST", "reset", ["keep": [1]], 400, "bad_field", "keep must be an array"),
        ("POST", "reset", ["keep": ["devices"]], 400, "bad_field", "not devices"),
        ("GET", "pushes?limit=0", nil, 400, "bad_field", "limit must be a whole number from 1 to 1000"),
        ("GET", "pushes?limit=1001", nil, 400, "bad_field", "limit"),
        ("GET", "pushes?limit=ten", nil, 400, "bad_field", "limit"),
        ("GET", "pushes?after=-1", nil, 400, "bad_field", "after"),
        ("GET", "pushes?state=connected", nil, 400, "bad_field", "state must be one of accepted, stored"),
        ("GET", "pushes?channel=jpush", nil, 400, "bad_field", "channel"),
        ("GET", "wait", nil, 400, "bad_field", "what for"),
        ("GET", "wait?app=a&state=arrived", nil, 400, "bad_field", "state"),
        ("GET", "wait?app=a&count=0", nil, 400, "bad_field", "count"),
        ("GET", "wait?app=a&timeout=11m", nil, 400, "bad_field", "at most 10m"),
        ("GET", "wait?app=a&timeout=soon", nil, 400, "bad_field", "timeout"),
        ("GET", "wait?app=a&timeout=-1s", nil, 400, "bad_field", "timeout"),
        ("GET", "wait?app=a&timeout=nan", nil, 400, "bad_field", "timeout"),
        ("GET", "wait?match=title", nil, 400, "bad_field", "PATH=VALUE"),
        ("GET", "wait?match==1", nil, 400, "bad_field", "PATH=VALUE"),
        ("GET", "devices/d1/inbox?wait=1h", nil, 400, "bad_field", "wait"),
        ("GET", "events?after=x", nil, 400, "bad_field", "after"),
        // What exists already.
        ("POST", "apps", ["bundle": "com.example.app"], 409, "already_exists", "com.example.app"),
        ("POST", "keys", ["id": "LOCALPUSH1", "team": "T", "pem": .string(pem)], 409, "already_exists", "LOCALPUSH1"),
    ]

    @Test func badInputsAreRefusedWithTheirCodeAndChangeNothing() async throws {
        try await ControlBench.run { bench in
            _ = try await bench.addDevice()
            func all() async throws -> [JSONValue] {
                [
                    try await bench.get("apps").body, try await bench.get("keys").body,
                    try await bench.get("devices").body,
                ]
            }
            let before = try await all()
            for (method, target, body, status, code, part) in Self.table {
                let reply = try await bench.call(method, target, body)
                #expect(reply.status == status, "\(method) \(target)")
                if method == "HEAD" { continue }
                #expect(reply.code == code, "\(method) \(target)")
                #expect(reply.message.contains(part), "\(method) \(target): \(reply.message)")
            }
            #expect(try await all() == before)
        }
    }

    @Test(arguments: ["{", "[]", "1", #"{"bundle":"a.b",}"#, "\u{FEFF}nothing", "{\"bundle\":\"\u{0}\"}"])
    func aBodyThatIsNoJSONObjectIsRefused(body: String) async throws {
        try await ControlBench.run { bench in
            var call = bench.plan("POST", "apps")
            call.body = Array(body.utf8)
            let reply = try ControlBench.Reply(await bench.caller.send(call))
            #expect(reply.status == 400)
            #expect(reply.code == "bad_json")
        }
    }

    @Test func aMethodThatIsNotPossibleIsToldWhichAre() async throws {
        try await ControlBench.run { bench in
            let reply = try await bench.call("POST", "devices/d1")
            #expect(reply.headers.first { $0.name == "Allow" }?.value == "GET, PATCH, DELETE")
            #expect(reply.body[path: "error.hint"] == "Possible: GET, PATCH, DELETE.")
        }
    }

    @Test func anotherWorkspaceThanTheDefaultIsUnknown() async throws {
        try await ControlBench.run { bench in
            let known = try await bench.call("GET", "info", headers: [("LocalPush-Workspace", "default")])
            #expect(known.status == 200)
            let unknown = try await bench.call("GET", "info", headers: [("localpush-workspace", "other")])
            #expect(unknown.status == 404)
            #expect(unknown.code == "unknown_workspace")
        }
    }

    @Test func withAControlTokenEveryCallWantsIt() async throws {
        try await ControlBench.run({ $0.controlToken = "secret" }) { bench in
            for header in [nil, "Bearer wrong!", "Bearer secre", "Bearer secrets", "bearer secret", "secret", ""] {
                let reply = try await bench.call(
                    "GET", "info", headers: header.map { [("Authorization", $0)] } ?? [])
                #expect(reply.status == 401)
                #expect(reply.code == "unauthorized")
                #expect(reply.headers.first { $0.name == "WWW-Authenticate" }?.value == "Bearer")
                #expect(!reply.message.contains("secret"))
            }
            for target in ["apps", "keys", "devices", "pushes", "wait", "events", "nothing", "devices/d1/inbox"] {
                #expect(try await bench.get(target).status == 401, "\(target)")
            }
            #expect(try await bench.get("/healthz").status == 200)
            let good = try await bench.call("GET", "info", headers: [("Authorization", "Bearer secret")])
            #expect(good.status == 200)
        }
    }

    @Test func aPhoneWithAProcessOfItsOwnIsNotSwitched() async throws {
        try await ControlBench.run { bench in
            try await bench.withPhone { device, _ in
                let id = try #require(try await bench.get("devices").body["devices"]?[0]?["id"]?.stringValue)
                let reply = try await bench.call("PATCH", "devices/\(id)", ["online": false, "name": "new"])
                #expect(reply.status == 409)
                #expect(reply.code == "not_virtual")
                #expect(try await bench.get("devices/\(id)").body["name"] != "new")
            }
        }
    }
}
