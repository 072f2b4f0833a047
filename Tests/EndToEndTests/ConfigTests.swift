import Foundation
import Testing

@testable import localpush

/// `serve --set` and `serve --config`, as a program.
@Suite(.serialized) struct ConfigTests {
    private func refusal(of text: String) throws -> String {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("config-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data(text.utf8).write(to: directory.appendingPathComponent("push.conf"))
        let result = try Program(["serve", "--config", "push.conf"], in: directory).end()
        #expect(result.status == 2)
        return result.errors.split(separator: "\n").first.map(String.init) ?? ""
    }

    @Test(arguments: [
        (
            "# rules\n\nconnection.streams = x",
            "push.conf:3: connection.streams takes a whole number from 1 to 10000, "
                + "not 'x'"
        ),
        (
            "delivery.storag=ideal",
            "push.conf:1: there is no setting delivery.storag, did you mean delivery.storage? "
                + "('localpush help settings' lists them)"
        ),
        ("profil faithful", "push.conf:1: unknown option --profil, did you mean --profile?"),
        ("ephemeral\napns-port=70000", "push.conf:2: --apns-port takes a port from 0 to 65535, not '70000'"),
        ("config=other", "push.conf:1: a file cannot name another one"),
        ("team A\nteam B", "push.conf:2: --team is given twice"),
    ])
    func aBadLineNamesFileLineAndRemedy(text: String, expected: String) throws {
        #expect(try refusal(of: text) == "localpush serve: \(expected)")
    }

    @Test func theCommandLineWinsOverTheFileAndTheFileOverTheProfile() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("config-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("push.conf")
        try Data("--profile=faithful\nconnection.streams=7\r\nconnection.idleTimeout=5m\n".utf8).write(to: file)
        let served = try ServedDirectory(["--config", file.path, "--set", "connection.streams=9"])
        let words = ["devices", "list", "--server", served.url]
        guard case .run(_, let arguments, _) = try ArgumentParser(root: Root.declaration, environment: [:]).parse(words)
        else { return }
        let info = try object(JSONText.line(ControlClient(arguments).value(ControlRequest("GET", "info"))))
        let settings = try #require(info["settings"] as? [String: Any])
        #expect(info["profile"] as? String == "faithful")
        #expect(settings["connection.streams"] as? Int == 9)
        #expect(settings["connection.streamsBeforeToken"] as? Int == 1)
        #expect(settings["connection.idleTimeout"] as? String == "5m")
        #expect(served.stop().status == 0)
    }

    @Test func helpListsEverySettingWithItsDefaults() throws {
        let directory = FileManager.default.temporaryDirectory
        let result = try Program(["help", "settings"], in: directory).end()
        #expect(result.output.contains("connection.streamsBeforeToken\n"))
        #expect(result.output.contains("lenient 1000, faithful 1, ideal 1000"))
        #expect(try Program(["serve", "--help"], in: directory).end().output.contains("localpush help settings"))
    }
}
