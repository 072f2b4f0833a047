import Foundation
import PushCore
import Testing

@testable import localpush

@Suite struct ReasonTextTests {
    @Test func aPageTellsEachThingInItsField() throws {
        let row = try #require(ReasonGuide.row("Unregistered"))
        let lines = ReasonText.page(row).split(separator: "\n")
        #expect(lines.first == "410 Unregistered")
        for name in ["meaning", "here", "do", "retry", "on", "source"] {
            #expect(lines.count { $0.hasPrefix("\(name) ") } == 1, "\(name)")
        }
    }

    @Test(arguments: ReasonGuide.all.map(\.word))
    func aPageFitsIntoAHundredColumns(word: String) throws {
        let page = ReasonText.page(try #require(ReasonGuide.row(word)))
        #expect(page.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test(
        arguments: [
            ("BadDeviceTokem", "BadDeviceToken"), ("badtopik", "BadTopic"), ("toomanyrequest", "TooManyRequests"),
            ("Hello", nil),
        ] as [(String, String?)])
    func theNearestReasonIsFoundInAnyLetterCase(word: String, reason: String?) {
        #expect(ReasonText.nearest(word) == reason)
    }
}

@Suite struct ExplainTests {
    private static func run(_ arguments: String...) throws -> Program.Result {
        try Program(["explain"] + arguments, in: FileManager.default.temporaryDirectory).end()
    }

    @Test func aReasonIsExplainedWithoutAServer() throws {
        let result = try Self.run("baddevicetoken")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("400 BadDeviceToken\n"))
        #expect(result.output.contains("documented by Apple"))
    }

    @Test func withoutAWordAllAreListed() throws {
        let result = try Self.run()
        #expect(result.status == 0)
        for row in ReasonGuide.all { #expect(result.output.contains(" \(row.word) ")) }
    }

    @Test func anUnknownReasonIsNoAndNamesTheNearest() throws {
        let result = try Self.run("BadDeviceTokn")
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("did you mean BadDeviceToken?"))
        #expect(try !Self.run("Nonsense").errors.contains("did you mean"))
    }

    @Test func machinesGetARowOrAll() throws {
        let row = try object(try Self.run("Unregistered", "--json").output)
        #expect(row["status"] as? Int == 410)
        #expect(row["retry"] as? String == "never")
        let all = try JSONSerialization.jsonObject(with: Data(try Self.run("--json").output.utf8)) as? [[String: Any]]
        #expect(all?.count == ReasonGuide.all.count)
    }

    @Test func aPushIsShownWithTheWarningsOfItsPayload() throws {
        let served = try ServedDirectory()
        let phone = try served.start("phone", "--json", "--exit-after", "1m")
        let token = try #require(try object(phone.line(with: #""event":"token""#))["token"] as? String)
        let payload = #"{"aps":{"alert":"Hi","content_available":1,"badge":"3"}}"#
        try payload.write(
            to: served.directory.appendingPathComponent("push.json"), atomically: true, encoding: .utf8)
        let sent = try served.run("send", "--token", token, "--payload", "push.json", "--json")
        let id = try #require(try object(sent.output)["id"] as? String, "\(sent.output) \(sent.errors)")
        let shown = try served.run("pushes", "show", id).output
        #expect(shown.contains("Warnings:"))
        #expect(shown.contains("  aps.badge must be a number, not text."))
        #expect(shown.contains("content-available was probably meant"))
        let json = try object(try served.run("pushes", "show", id, "--json").output)
        let warnings = try #require(json["warnings"] as? [[String: String]])
        #expect(warnings.contains { $0["path"] == "aps.badge" })
    }
}
