import PushCore
import Testing

@Suite struct APNsRulesTests {
    // MARK: Path and method

    @Test func aValidRequestPassesEveryStep() throws {
        let request = SampleRequest.valid.request
        let token = try APNsRules.route(request).get()
        #expect(request.text(token) == SampleRequest.token)
        #expect(!request.hasDuplicates)
        #expect(request.text(APNsRules.bearerToken(request)) == "abc.def.ghi")
        let notification = try APNsRules.notification(request).get()
        #expect(notification.id?.string == "8a3c2f1e-0000-4000-8000-00000000abcd")
        #expect(notification.expiration == 1_767_229_200)
        #expect(notification.priority == 10 && notification.hasPriority)
        #expect(request.text(notification.collapseID) == "news")
        #expect(notification.pushType == .alert)
        #expect(APNsRules.typeConflict(notification, suffix: .none) == nil)
        #expect(APNsRules.payloadConflict(bodyBytes: request.bodyBytes, suffix: .none) == nil)
    }

    @Test func optionalHeadersHaveTheirDefaults() throws {
        var sample = SampleRequest.valid
        for name in ["apns-id", "apns-push-type", "apns-expiration", "apns-priority", "apns-collapse-id"] {
            sample = sample.without(name)
        }
        let notification = try APNsRules.notification(sample.request).get()
        #expect(notification.id == nil && notification.expiration == nil && notification.collapseID == nil)
        #expect(notification.pushType == nil)
        #expect(notification.priority == 10 && !notification.hasPriority)
    }

    @Test(arguments: [
        ("/3/devices/\(SampleRequest.token)", APNsReason.badPath), ("/4/device/\(SampleRequest.token)", .badPath),
        ("/3/device/\(SampleRequest.token)/", .badPath), ("/3/device/\(SampleRequest.token)/x", .badPath),
        ("/3/device//", .badPath), ("/3/Device/\(SampleRequest.token)", .badPath), ("/", .badPath), ("", .badPath),
        ("3/device/\(SampleRequest.token)", .badPath), ("/3/devic", .badPath),
        ("/3/device/", .missingDeviceToken), ("/3/device", .missingDeviceToken),
    ])
    func pathsOfAnotherShapeAreRefused(path: String, reason: APNsReason) {
        #expect(APNsRules.route(SampleRequest.valid.with(":path", path).request).failure == .init(reason))
    }

    @Test func aRequestWithoutPathIsRefused() {
        #expect(APNsRules.route(SampleRequest.valid.without(":path").request).failure == .init(.badPath))
    }

    @Test(arguments: ["GET", "PUT", "post", "POS", "POSTS", ""])
    func methodsOtherThanPOSTAreRefused(method: String) {
        let request = SampleRequest.valid.with(":method", method).request
        #expect(APNsRules.route(request).failure == .init(.methodNotAllowed))
    }

    @Test func thePathIsJudgedBeforeTheMethodAndTheMethodBeforeTheToken() {
        let sample = SampleRequest.valid.with(":method", "GET")
        #expect(APNsRules.route(sample.with(":path", "/x").request).failure == .init(.badPath))
        #expect(APNsRules.route(sample.with(":path", "/3/device/").request).failure == .init(.methodNotAllowed))
    }

    // MARK: Authorization

    @Test(arguments: [
        ("bearer abc", "abc"), ("Bearer abc", "abc"), ("BEARER abc", "abc"), ("bEaReR a b", "a b"),
        ("bearer  abc", " abc"),
    ])
    func theBearerWordMayHaveAnyCase(header: String, token: String) {
        let request = SampleRequest.valid.with("authorization", header).request
        #expect(request.text(APNsRules.bearerToken(request)) == token)
    }

    @Test(arguments: ["", "bearer", "bearer ", "bearerabc", "basic abc", "bearer\u{0}abc", "\u{02}earer abc"])
    func otherAuthorizationIsNone(header: String) {
        #expect(APNsRules.bearerToken(SampleRequest.valid.with("authorization", header).request) == nil)
    }

    @Test func aRequestWithoutAuthorizationHasNoToken() {
        #expect(APNsRules.bearerToken(SampleRequest.valid.without("authorization").request) == nil)
    }

    private static let ages: [(Int64, TokenAge)] = [
        (-3601, .expired), (-3600, .good), (0, .good), (3600, .good), (3601, .future), (Int64.min / 2, .expired),
        (Int64.max / 2, .future),
    ]

    @Test(arguments: ages)
    func aProviderTokenIsGoodForAnHourToEitherSide(offset: Int64, age: TokenAge) {
        let issued = startMilliseconds / 1000 + offset
        #expect(APNsRules.age(issuedAtSeconds: issued, now: startMilliseconds) == age)
        #expect(APNsRules.age(issuedAtSeconds: issued, now: startMilliseconds + 999) == age)
    }

    @Test func theAgeOfAProviderTokenNeverOverflows() {
        for issued in [Int64.min, .min + 1, .max, 0] {
            for now in [Int64.min, .max, 0, startMilliseconds] where abs(now / 1000) > 3600 || issued != 0 {
                #expect(APNsRules.age(issuedAtSeconds: issued, now: now) == (issued < now / 1000 ? .expired : .future))
            }
        }
    }

    // MARK: Headers

    @Test(arguments: [
        "not-a-uuid", "", "8a3c2f1e-0000-4000-8000-00000000abc", "8a3c2f1e-0000-4000-8000-00000000abcde",
        "8a3c2f1e00004000800000000000abcd", "8a3c2f1e-0000-4000-80000-0000000abcd",
        "8a3c2f1g-0000-4000-8000-00000000abcd", "{8a3c2f1e-0000-4000-8000-0000000abc}",
        "8a3c2f1e-0000-4000-8000-0000000-abcd",
    ])
    func idsThatAreNoUUIDAreRefused(id: String) {
        #expect(APNsRules.notification(SampleRequest.valid.with("apns-id", id).request).failure == .init(.badMessageID))
    }

    private static let expirations: [(String, Int64)] = [
        ("0", 0), ("300", 300), ("1767229200", 1_767_229_200), ("-1", -1), ("00", 0), ("-0", 0),
        ("9223372036854775807", Int64.max), ("-9223372036854775807", -Int64.max),
    ]

    @Test(arguments: expirations)
    func wholeExpirationsAreTaken(text: String, seconds: Int64) throws {
        let request = SampleRequest.valid.with("apns-expiration", text).request
        #expect(try APNsRules.notification(request).get().expiration == seconds)
    }

    @Test(arguments: [
        "1518080000.5", "", "-", "abc", "1e9", "+5", " 5", "5 ", "0x10", "--5", "5-", "9223372036854775808",
        "99999999999999999999", "\u{661}\u{662}",
    ])
    func expirationsThatAreNoWholeNumberAreRefused(text: String) {
        let request = SampleRequest.valid.with("apns-expiration", text).request
        #expect(APNsRules.notification(request).failure == .init(.badExpirationDate))
    }

    @Test(arguments: [("10", UInt8(10)), ("5", 5), ("1", 1)])
    func thePrioritiesAreTenFiveAndOne(text: String, priority: UInt8) throws {
        let notification = try APNsRules.notification(SampleRequest.valid.with("apns-priority", text).request).get()
        #expect(notification.priority == priority && notification.hasPriority)
    }

    @Test(arguments: ["0", "7", "2", "11", "-5", "", "high", "10.0", "266", "261", "99999999999999999999"])
    func otherPrioritiesAreRefused(text: String) {
        let request = SampleRequest.valid.with("apns-priority", text).request
        #expect(APNsRules.notification(request).failure == .init(.badPriority))
    }

    @Test(arguments: [
        (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
        (String(repeating: "é", count: 32), true), (String(repeating: "é", count: 33), false), ("", true),
    ])
    func aCollapseIDHasAtMost64Bytes(id: String, isGood: Bool) {
        let result = APNsRules.notification(SampleRequest.valid.with("apns-collapse-id", id).request)
        #expect(result.failure == (isGood ? nil : .init(.badCollapseID)))
    }

    @Test(arguments: PushType.allCases)
    func theElevenPushTypesAreKnown(type: PushType) throws {
        let request = SampleRequest.valid.with("apns-push-type", type.text).request
        #expect(try APNsRules.notification(request).get().pushType == type)
        #expect(PushType.allCases.count == 11)
    }

    @Test(arguments: ["", "Alert", "alerts", "aler", "silent", "voip-ptt", "liveActivity"])
    func otherPushTypesAreRefused(text: String) {
        let request = SampleRequest.valid.with("apns-push-type", text).request
        #expect(APNsRules.notification(request).failure == .init(.invalidPushType))
    }

    // MARK: Push type and topic

    @Test func aPushTypeGoesWithItsSuffixOnly() {
        for type in PushType.allCases {
            for suffix in TopicSuffix.allCases {
                var notification = APNsNotification()
                notification.pushType = type
                let expected: APNsReason? = type.topicSuffix == suffix ? nil : .invalidPushType
                #expect(APNsRules.typeConflict(notification, suffix: suffix) == expected, "\(type) \(suffix)")
            }
        }
    }

    @Test func aRequestWithoutPushTypeGoesToAnyTopic() {
        for suffix in TopicSuffix.allCases {
            #expect(APNsRules.typeConflict(APNsNotification(), suffix: suffix) == nil)
        }
    }

    private static let backgroundPriorities: [(String?, APNsReason?)] = [
        ("10", .badPriority), ("5", nil), ("1", nil), (nil, nil),
    ]

    @Test(arguments: backgroundPriorities)
    func aBackgroundPushMayNotAskForPriorityTen(priority: String?, reason: APNsReason?) throws {
        var sample = SampleRequest.valid.with("apns-push-type", "background").without("apns-priority")
        if let priority { sample = sample.with("apns-priority", priority) }
        let notification = try APNsRules.notification(sample.request).get()
        #expect(APNsRules.typeConflict(notification, suffix: .none) == reason)
    }

    // MARK: Payload

    private static let payloads: [(Int, TopicSuffix, APNsReason?)] = [
        (0, .none, .payloadEmpty), (0, .voip, .payloadEmpty), (1, .none, nil),
        (4096, .none, nil), (4097, .none, .payloadTooLarge), (4097, .voip, nil), (5120, .voip, nil),
        (5121, .voip, .payloadTooLarge), (4097, .pushtotalk, .payloadTooLarge), (4096, .liveactivity, nil),
    ]

    @Test(arguments: payloads)
    func thePayloadHasASizeLimitThatPasses(bytes: Int, suffix: TopicSuffix, reason: APNsReason?) {
        #expect(APNsRules.payloadConflict(bodyBytes: bytes, suffix: suffix) == reason)
    }

    // MARK: Lifetime

    private static let lifetimes: [(Int64?, Bool, Int64)] = [
        (nil, true, CoreLimits.storageMillisecondsMax), (3600, true, 3_600_000), (1, true, 1000),
        (0, false, CoreLimits.storageMillisecondsMax), (-1, false, CoreLimits.storageMillisecondsMax),
        (2_592_001, true, CoreLimits.storageMillisecondsMax), (2_591_999, true, 2_591_999_000),
    ]

    @Test(arguments: lifetimes)
    func aPushLivesUntilItsExpirationButAtMostThirtyDays(offset: Int64?, isStorable: Bool, milliseconds: Int64) {
        var notification = APNsNotification()
        notification.expiration = offset.map { startMilliseconds / 1000 + $0 }
        let lifetime = notification.lifetime(now: startMilliseconds)
        #expect(lifetime.isStorable == isStorable)
        #expect(lifetime.expiresAt == startMilliseconds + milliseconds)
    }

    private static let extremes: [(Int64, Bool)] = [
        (0, false), (300, false), (Int64.min, false), (-Int64.max, false), (Int64.max, true), (Int64.max / 1000, true),
    ]

    @Test(arguments: extremes)
    func extremeExpirationsAreStoredOrNotAndNeverOverflow(expiration: Int64, isStorable: Bool) {
        var notification = APNsNotification()
        notification.expiration = expiration
        let lifetime = notification.lifetime(now: startMilliseconds)
        #expect(lifetime.isStorable == isStorable)
        #expect(lifetime.expiresAt == startMilliseconds + CoreLimits.storageMillisecondsMax)
    }

    // MARK: Reasons

    @Test func everyReasonHasItsStatusAndItsWord() {
        let statuses: [Int: Int] = Dictionary(
            APNsReason.allCases.map { ($0.status, 1) }, uniquingKeysWith: { $0 + $1 })
        #expect(statuses == [400: 23, 403: 9, 404: 1, 405: 1, 410: 2, 413: 1, 429: 2, 503: 2])
        #expect(Set(APNsReason.allCases.map(\.text)).count == APNsReason.allCases.count)
        for reason in APNsReason.allCases {
            #expect(!reason.explanation.isEmpty && !reason.explanation.hasSuffix("."))
            // The words on the wire are the Swift names with a capital letter and `Id` for `ID`.
            let name = "\(reason)"
            let word = name.prefix(1).uppercased() + name.dropFirst()
            #expect(reason.text == word.replacing("ID", with: "Id"))
        }
    }
}
