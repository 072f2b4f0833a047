/// What is known of one reason that APNs gives for a refusal: a row of the table behind `localpush explain`.
package struct ReasonGuide: Sendable {
    /// The word on the wire.
    package let word: String
    package let status: Int
    package let surfaces: Surfaces
    /// What happened, as a sentence.
    package let meaning: String
    /// When LocalPush answers with it, as a sentence.
    package let here: String
    /// What to do about it, as a sentence.
    package let remedy: String
    package let retry: Retry
    package let source: Source

    /// Which of the two provider APIs gives the reason.
    package enum Surfaces: String, Sendable, CaseIterable {
        case device
        case broadcast
        case both

        package var text: String {
            switch self {
            case .device: "pushes to devices"
            case .broadcast: "broadcasts and channels"
            case .both: "pushes to devices, broadcasts and channels"
            }
        }
    }

    /// Whether the same push may be sent again.
    package enum Retry: String, Sendable, CaseIterable {
        case never
        case afterFix
        case afterDelay
        case afterBackoff

        package var text: String {
            switch self {
            case .never: "no, never"
            case .afterFix: "yes, once the cause is put right"
            case .afterDelay: "yes, after a delay"
            case .afterBackoff: "yes, after 15 minutes, then with growing delays"
            }
        }
    }

    /// How sure the row is.
    package enum Source: String, Sendable, CaseIterable {
        case apple
        case observed
        case ourChoice

        package var text: String {
            switch self {
            case .apple: "documented by Apple"
            case .observed: "observed on the real service, not documented"
            case .ourChoice: "the word is Apple's, the use of it our choice"
            }
        }
    }

    /// The row of a word, in any letter case and with or without blanks.
    package static func row(_ word: String) -> ReasonGuide? {
        let wanted = fold(word)
        return all.first { fold($0.word) == wanted || $0.aliases.contains { fold($0) == wanted } }
    }

    /// Spellings of the same reason that were seen too.
    package var aliases: [String] {
        switch word {
        case "BadEnvironmentKeyIdInToken": ["BadEnvironmentKeyInToken"]
        case "ServiceUnavailable": ["Service Unavailable"]
        default: []
        }
    }

    package static let all: [ReasonGuide] = request + authentication + device + channels + service

    private static func fold(_ word: String) -> String { word.lowercased().filter { $0.isLetter || $0.isNumber } }
}
