import Foundation
import PushCore
import Testing

/// What nobody outside Apple knows is a setting: the page on fidelity has each, and a test changes it.
@Suite struct FidelityPageTests {
    private static let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")

    @Test(arguments: RuleTable.all.map(\.name)) func aSettingIsOnThePageAndInATest(name: String) throws {
        let page = try String(contentsOfFile: Self.root + "/docs/fidelity.md", encoding: .utf8)
        #expect(page.contains("`\(name)`"))
        let tests = Self.root + "/Tests/PushServerTests"
        let files = try #require(FileManager.default.enumerator(atPath: tests)).compactMap { $0 as? String }
        let isTested = try files.contains { file in
            try file.hasSuffix(".swift")
                && String(contentsOfFile: tests + "/" + file, encoding: .utf8).contains("\"\(name)\": ")
        }
        // Set by the profiles, or by a field of the configuration.
        let byOtherNames = ["auth.trustAnyKey", "connection.dropsAfterRejection"]
        #expect(isTested != byOtherNames.contains(name))
    }
}
