/// What happens to pushes after the answer, and what providers hear of devices. Names begin with `delivery.`.
package struct DeliverySettings: Sendable {
    package init() {}

    static let table: [RuleSetting] = [
        RuleSetting(
            "delivery.storage", RuleSetting.choice(\.storageRule), ideal: "ideal",
            "What a device that was away finds: apns keeps the newest push of a topic, ideal all of them, in order.")
    ]
}
