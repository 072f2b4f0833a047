import Foundation
import Testing

/// The real program, server and phones, over real sockets.
@Suite(.serialized) struct ProgramTests {
    @Test func aPushGoesFromSendToThePhoneAndWaitSeesIt() throws {
        let served = try ServedDirectory()
        let phone = try served.start("phone", "--json", "--count", "1", "--name", "red", "--exit-after", "1m")
        let token = try #require(try object(phone.line(with: #""event":"token""#))["token"] as? String)

        let sent = try served.run("send", "--title", "Grüße", "--json")
        #expect(sent.status == 0, "\(sent.errors)")
        let answer = try object(sent.output)
        let id = try #require(answer["id"] as? String)
        #expect(answer["status"] as? Int == 200)

        let message = try object(phone.line(with: #""event":"message""#))
        #expect((message["push"] as? String)?.lowercased() == id.lowercased())
        let payload = try #require(message["payload"] as? [String: [String: [String: String]]])
        #expect(payload["aps"]?["alert"]?["title"] == "Grüße")
        #expect(phone.end().status == 0)

        let waited = try served.run("wait", "--push", id, "--json")
        #expect(waited.status == 0, "\(waited.errors)")
        let shown = try served.run("pushes", "show", id)
        #expect(shown.output.contains(token))
        #expect(shown.output.contains("acknowledged"))
        #expect(try served.run("pushes", "list").output.contains(id))
        #expect(try served.run("devices", "list").output.contains(token))
        #expect(served.stop().status == 0)
    }

    @Test func aPushForAPhoneThatIsAwayWaitsForIt() throws {
        let served = try ServedDirectory()
        let first = try served.start("phone", "--state-dir", "phone", "--json", "--exit-after", "1m")
        let token = try #require(try object(first.line(with: #""event":"token""#))["token"] as? String)
        first.interrupt()
        #expect(first.end().status == 0)

        #expect(try served.run("send", "--token", token, "--title", "Later").status == 0)
        let waited = try served.run("wait", "--token", token, "--timeout", "10ms")
        #expect(waited.status == 1)
        #expect(!waited.output.isEmpty)

        let second = try served.run(
            "phone", "--state-dir", "phone", "--json", "--count", "1", "--exit-after", "1m")
        #expect(second.status == 0)
        #expect(second.output.contains(#""fromStorage":true"#))
    }

    @Test func anUnregisteredDeviceIsRejectedWithItsReason() throws {
        let served = try ServedDirectory()
        let phone = try served.start("phone", "--json", "--exit-after", "1m")
        let token = try #require(try object(phone.line(with: #""event":"token""#))["token"] as? String)
        let devices = try object(try served.run("devices", "list", "--json").output)
        let id = try #require((devices["devices"] as? [[String: Any]])?.last?["id"] as? String)
        #expect(try served.run("devices", "unregister", id).status == 0)

        let unaddressed = try served.run("send")
        #expect(unaddressed.status == 1)
        #expect(unaddressed.errors.contains("com.example.app is no longer registered on any device"))
        let sent = try served.run("send", "--token", token)
        #expect(sent.status == 1)
        #expect(sent.output.contains("410  Unregistered"))
        #expect(try served.run("pushes", "list", "--state", "rejected").output.contains("Unregistered"))
    }

    @Test func aFarmReceivesWhatIsSentToOneOfItsDevices() throws {
        let served = try ServedDirectory(["--profile", "ideal"])
        let farm = try served.start("devices", "spawn", "5", "--json", "--count", "20", "--exit-after", "1m")
        #expect(farm.line(with: #""registered":5"#) != nil)
        let sent = try served.run("send", "--count", "20")
        #expect(sent.status == 0, "\(sent.output)")
        #expect(sent.errors.contains("20 accepted, 0 rejected"))
        let result = farm.end()
        #expect(result.status == 0)
        let last = try object(result.output.split(separator: "\n").last.map(String.init))
        #expect(last["received"] as? Int == 20)
        #expect(last["duplicates"] as? Int == 0)
    }

    @Test func tailFollowsTheJournal() throws {
        let served = try ServedDirectory()
        let phone = try served.start("phone", "--json", "--exit-after", "1m")
        #expect(phone.line(with: #""event":"token""#) != nil)
        #expect(try served.run("send", "--title", "before").status == 0)
        let tail = try served.start("pushes", "tail", "-f")
        #expect(tail.line(with: "com.example.app") != nil)
        #expect(try served.run("send", "--title", "after").status == 0)
        #expect(tail.line(with: "acknowledged") != nil)
    }

    @Test func aTakenPortIsNamedWithItsOptionAndNothingStaysBehind() throws {
        let served = try ServedDirectory()
        let port = try #require((served.ready["courier"] as? String)?.split(separator: ":").last)
        let result = try served.run(
            "serve", "--apns-port", "0", "--broadcast-ports", "0,0", "--http-port", "0", "--https-port", "0",
            "--courier-port", String(port),
            "--ephemeral", "--ready-file", "ready")
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains(port))
        #expect(result.errors.contains("--courier-port"))
        #expect(!FileManager.default.fileExists(atPath: served.directory.appendingPathComponent("ready").path))
    }

    @Test func theReadyFileHoldsTheReadyLineWhileTheServerRuns() throws {
        let served = try ServedDirectory(["--ready-file", "ready"])
        let file = served.directory.appendingPathComponent("ready")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(try object(text)["http"] as? String == served.url)
        #expect(served.stop().status == 0)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func aControlTokenIsAskedForAndTakenFromTheEnvironment() throws {
        let served = try ServedDirectory(["--control-token", "secret"])
        let without = try served.run("devices", "list")
        #expect(without.status == 1)
        #expect(without.errors.contains("--control-token"))
        #expect(try served.run("devices", "list", "--control-token", "secret").status == 0)
    }

    @Test(
        arguments: [
            (["--seed", "1"], 2, "--ephemeral"), (["--key", "k.p8"], 2, "--key-id"),
            (["--ephemeral", "--key", "none.p8", "--key-id", "K", "--team", "T"], 1, "none.p8"),
            (["--data", "/proc/nowhere"], 1, "/proc/nowhere"), (["--host", "192.0.2.1"], 1, "192.0.2.1"),
        ] as [([String], Int32, String)])
    func aServerThatCannotStartSaysWhyInOneLine(options: [String], status: Int32, part: String) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let ports =
            ["apns", "courier", "http", "https"].flatMap { ["--\($0)-port", "0"] } + ["--broadcast-ports", "0,0"]
        let result = try Program(["serve"] + ports + options, in: directory).end()
        #expect(result.status == status)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains(part))
        #expect(result.errors.split(separator: "\n").count == (status == 2 ? 2 : 1))
    }

    @Test func certsMakesWhatTrustAndDoctorFind() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(try Program(["certs", "trust"], in: directory).end().status == 1)
        #expect(try Program(["certs"], in: directory).end().status == 0)
        let trust = try Program(["certs", "trust", "--runtime", "node"], in: directory).end()
        #expect(trust.output.contains("NODE_EXTRA_CA_CERTS"))
        #expect(trust.output.contains("ca.pem"))
        let doctor = try Program(["doctor", "--json"], in: directory).end()
        #expect(doctor.output.contains("ca.pem is valid for"))
    }

    @Test func whereNobodyListensTheExitCodeIsThreeAndTheRemedyIsNamed() throws {
        let served = try ServedDirectory()
        let url = served.url
        _ = served.stop()
        let result = try served.run("devices", "list", "--server", url)
        #expect(result.status == 3)
        #expect(result.errors.contains(url))
        #expect(result.errors.contains("localpush serve"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test func whatIsNotThereIsExitCodeOne() throws {
        let served = try ServedDirectory()
        #expect(try served.run("devices", "show", "d999").status == 1)
        #expect(try served.run("pushes", "show", "6F1A3C1E-0000-0000-0000-000000000000").status == 1)
        let sent = try served.run("send", "--app", "com.example.nobody")
        #expect(sent.status == 1)
        #expect(sent.errors.contains("localpush phone"))
        #expect(try served.run("send", "--via", "getui").status == 1)
    }
}
