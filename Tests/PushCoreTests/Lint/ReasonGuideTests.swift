import PushCore
import Testing

@Suite struct ReasonGuideTests {
    @Test(arguments: APNsReason.allCases)
    func everyReasonHasARowWithItsStatus(reason: APNsReason) throws {
        let row = try #require(ReasonGuide.row(reason.text))
        #expect(([row.word] + row.aliases).contains(reason.text))
        #expect(row.status == reason.status)
    }

    /// Apple's two tables, and the one word that is in neither.
    @Test func everyReasonOfTheTwoTablesIsThereOnce() {
        let words = [
            400: [
                "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
                "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken",
                "MissingTopic", "PayloadEmpty", "TopicDisallowed", "FeatureNotEnabled", "MissingChannelId",
                "BadChannelId", "ChannelNotRegistered", "BadRequestParams", "BadRequestPayload", "MissingPushType",
                "CannotCreateChannelConfig", "MissingChannelQueueSize",
            ],
            403: [
                "BadCertificate", "BadCertificateEnvironment", "ExpiredProviderToken", "Forbidden",
                "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken",
                "TopicMismatch",
            ],
            404: ["BadPath"], 405: ["MethodNotAllowed"], 410: ["ExpiredToken", "Unregistered"],
            413: ["PayloadTooLarge"], 429: ["TooManyProviderTokenUpdates", "TooManyRequests"],
            500: ["InternalServerError"], 503: ["ServiceUnavailable", "Shutdown"],
        ]
        for (status, reasons) in words {
            #expect(ReasonGuide.all.filter { $0.status == status }.map(\.word).sorted() == reasons.sorted())
        }
        #expect(Set(ReasonGuide.all.map(\.word)).count == ReasonGuide.all.count)
    }

    @Test func everyCellIsASentence() {
        for row in ReasonGuide.all {
            for text in [row.meaning, row.here, row.remedy] {
                #expect(text.first?.isUppercase == true && text.hasSuffix("."), "\(row.word): \(text)")
            }
            #expect((row.status >= 500) == (row.retry == .afterBackoff), "\(row.word)")
        }
    }

    /// Apple names these as never to be sent again.
    @Test func whatAppleSaysIsNeverRetriedIsNot() {
        for word in [
            "BadDeviceToken", "DeviceTokenNotForTopic", "Forbidden", "ExpiredToken", "Unregistered", "PayloadTooLarge",
        ] {
            #expect(ReasonGuide.row(word)?.retry == .never, "\(word)")
        }
        #expect(ReasonGuide.row("TooManyRequests")?.retry == .afterDelay)
    }

    @Test(
        arguments: [
            ("BadDeviceToken", "BadDeviceToken"), ("baddevicetoken", "BadDeviceToken"),
            ("Service Unavailable", "ServiceUnavailable"), ("bad_message_id", "BadMessageId"),
            ("BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken"), ("BadDeviceTokens", nil), ("", nil),
        ] as [(String, String?)])
    func aWordIsFoundInAnySpelling(word: String, found: String?) { #expect(ReasonGuide.row(word)?.word == found) }
}
