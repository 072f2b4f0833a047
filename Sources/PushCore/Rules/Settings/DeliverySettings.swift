/// What happens to pushes after the answer, and what providers hear of devices. Names begin with `delivery.`.
package struct DeliverySettings: Sendable {
    /// Pushes one device token takes per interval; more are refused with 429. Default 0: any number. Apple's number is
    /// not known.
    package var requestsPerToken = 0
    /// That interval in milliseconds. Default one minute.
    package var requestsIntervalMilliseconds: Int64 = 60_000
    /// How long pushes with priority 5 and 1 to a device that is there are held, to be sent together. Milliseconds;
    /// default 0: sent at once. Apple's number is not known.
    package var burstMilliseconds: Int64 = 0
    /// Background pushes one app on one device gets per interval; of more the newest waits. Default 0: any number.
    /// Apple advises at most two or three per hour.
    package var backgroundPushes = 0
    /// That interval in milliseconds. Default one hour.
    package var backgroundIntervalMilliseconds: Int64 = 3_600_000
    /// Pushes to an unregistered app that are still answered 200, and dropped, before 410. Default 0.
    package var unregisteredGraceSends = 0
    /// How long after unregistering pushes are still answered 200, and dropped. Milliseconds; default 0. Apple answers
    /// 410 hours to days later.
    package var unregisteredGraceMilliseconds: Int64 = 0

    package init() {}

    /// Whether any rule keeps pushes back from a device that is there.
    package var holdsAnything: Bool { burstMilliseconds > 0 || backgroundPushes > 0 }

    static let table: [RuleSetting] = [
        RuleSetting(
            "delivery.storage", RuleSetting.choice(\.storageRule), ideal: "ideal",
            "What a device that was away finds: apns keeps the newest push of a topic, ideal all of them, in order."),
        RuleSetting(
            "delivery.requestsPerToken", .count(\.delivery.requestsPerToken, 0...1_000_000), faithful: "300",
            "Pushes one device token takes per interval before 429 TooManyRequests; 0 sets no limit."),
        RuleSetting(
            "delivery.requestsInterval", .duration(\.delivery.requestsIntervalMilliseconds, 100...86_400_000),
            "The interval of delivery.requestsPerToken, from the first push on."),
        RuleSetting(
            "delivery.burstInterval", .duration(\.delivery.burstMilliseconds, 0...600_000), faithful: "2s",
            "How long priorities 5 and 1 are held to be sent in a burst; 1 waits for other pushes. 0s sends at once."),
        RuleSetting(
            "delivery.backgroundPushes", .count(\.delivery.backgroundPushes, 0...1_000_000), faithful: "3",
            "Background pushes one app on one device gets per interval, the newest of more waits; 0 sets no limit."),
        RuleSetting(
            "delivery.backgroundInterval", .duration(\.delivery.backgroundIntervalMilliseconds, 100...86_400_000),
            "The interval of delivery.backgroundPushes, from the first push on."),
        RuleSetting(
            "delivery.unregisteredGraceSends", .count(\.delivery.unregisteredGraceSends, 0...1_000_000), faithful: "1",
            "Pushes to an unregistered app that are still answered 200, and dropped, before 410 Unregistered."),
        RuleSetting(
            "delivery.unregisteredGrace", .duration(\.delivery.unregisteredGraceMilliseconds, 0...2_592_000_000),
            "Time after unregistering in which pushes are still answered 200, and dropped, before 410 Unregistered."),
    ]
}
