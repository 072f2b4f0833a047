import Foundation
import Testing

/// `certs client` and `certs key`, with the real program.
@Suite(.serialized) struct CertsTests {
    private func mode(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    @Test func aClientCertificateIsMadeWithItsKeyAndNeverOverwritten() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let arguments = [
            "certs", "client", "--bundle", "com.example.app", "--environment", "sandbox", "--topics",
            "com.example.app,com.example.app.voip", "--out", "push", "--json",
        ]
        let made = try Program(arguments, in: directory).end()
        #expect(made.status == 0, "\(made.errors)")
        let shown = try object(made.output)
        #expect(shown["topics"] as? [String] == ["com.example.app", "com.example.app.voip"])
        #expect(shown["environment"] as? String == "sandbox")
        let key = directory.appendingPathComponent("push.key")
        let text = try String(contentsOf: key, encoding: .utf8)
        #expect(text.hasPrefix("-----BEGIN PRIVATE KEY"))
        #expect(try mode(key) == 0o600)
        #expect(try mode(directory.appendingPathComponent("push.pem")) == 0o644)

        let again = try Program(arguments, in: directory).end()
        #expect(again.status == 1 && again.errors.contains("push.key exists already"))
        #expect(try String(contentsOf: key, encoding: .utf8) == text)

        // When only the certificate is in the way, no key is left behind.
        try FileManager.default.removeItem(at: key)
        #expect(try Program(arguments, in: directory).end().errors.contains("push.pem exists already"))
        #expect(!FileManager.default.fileExists(atPath: key.path))

        let plain = try Program(
            ["certs", "client", "--bundle", "com.example.app", "--voip", "--out", "voip"], in: directory
        ).end()
        #expect(plain.status == 0 && plain.output.contains("com.example.app, com.example.app.voip"))
        #expect(plain.output.contains("both"))
    }

    @Test(
        arguments: [
            (["client", "--out", "x"], "--bundle is missing"),
            (["client", "--bundle", "com.example.app"], "--out is missing"),
            (["client", "--bundle", "not a bundle", "--out", "x"], "--bundle takes a bundle id"),
            (["client", "--bundle", "a.b", "--topics", "a,,b", "--out", "x"], "--topics takes topics"),
            (["client", "--bundle", "a.b", "--environment", "moon", "--out", "x"], "--environment takes one of"),
            (["key", "--team", "T", "--out", "x"], "--key-id is missing"),
            (["key", "--key-id", "K", "--out", "x"], "--team is missing"),
            (["key", "--key-id", "K", "--team", "T"], "--out is missing"),
        ] as [([String], String)])
    func whatIsMissingOrWrongIsNamed(arguments: [String], part: String) throws {
        let result = try Program(["certs"] + arguments, in: FileManager.default.temporaryDirectory).end()
        #expect(result.status == 2)
        #expect(result.errors.contains(part), "\(result.errors)")
    }

    @Test func aKeyIsRegisteredAndSignsForItsTopics() throws {
        let served = try ServedDirectory()
        let key = try #require(served.ready["key"] as? [String: String])
        let team = try #require(key["team"])
        let made = try served.run(
            "certs", "key", "--key-id", "APPKEY0001", "--team", team, "--topics", "com.example.app", "--environment",
            "sandbox", "--related-key", "APPKEY0002", "--out", "app.p8", "--json")
        #expect(made.status == 0, "\(made.errors)")
        let shown = try object(made.output)
        #expect(shown["topics"] as? [String] == ["com.example.app"])
        #expect(shown["relatedKey"] as? String == "APPKEY0002")
        let file = served.directory.appendingPathComponent("app.p8")
        #expect(try mode(file) == 0o600)

        // A second key of that id is refused, and leaves no file behind.
        let twice = try served.run("certs", "key", "--key-id", "APPKEY0001", "--team", team, "--out", "twice.p8")
        #expect(twice.status == 1 && twice.errors.contains("APPKEY0001"))
        #expect(!FileManager.default.fileExists(atPath: served.directory.appendingPathComponent("twice.p8").path))
        // What is there is not overwritten, and nothing is registered for it.
        let taken = try served.run("certs", "key", "--key-id", "APPKEY0003", "--team", team, "--out", "app.p8")
        #expect(taken.status == 1 && taken.errors.contains("exists already"))
        let related = try served.run(
            "certs", "key", "--key-id", "APPKEY0003", "--team", team, "--related-key", "X", "--out", "other.p8")
        #expect(related.status == 2 && related.errors.contains("relatedKey"))
        let plain = try served.run("certs", "key", "--key-id", "APPKEY0003", "--team", team, "--out", "team.p8")
        #expect(plain.status == 0 && plain.output.contains("all of the team's"))
    }

    @Test func withoutAServerThereIsNoKey() throws {
        let served = try ServedDirectory()
        let url = served.url
        _ = served.stop()
        let result = try served.run(
            "certs", "key", "--key-id", "K", "--team", "T", "--out", "key.p8", "--server", url)
        #expect(result.status == 3)
        #expect(!FileManager.default.fileExists(atPath: served.directory.appendingPathComponent("key.p8").path))
    }
}
