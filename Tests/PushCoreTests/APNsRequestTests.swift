import PushCore
import Testing

@Suite struct APNsRequestTests {
    private static let named = [
        "authorization", "apns-topic", "apns-id", "apns-push-type", "apns-expiration", "apns-priority",
        "apns-collapse-id",
    ]

    @Test(arguments: named)
    func aRepeatedHeaderIsNoticedAndTheFirstKept(name: String) {
        let sample = SampleRequest.valid.without(name)
        #expect(!sample.request.hasDuplicates)
        #expect(!sample.adding(name, "first").request.hasDuplicates)
        let twice = sample.adding(name, "first").adding(name, "second").request
        #expect(twice.hasDuplicates)
        let slots = [
            twice.authorization, twice.topic, twice.id, twice.pushType, twice.expiration, twice.priority,
            twice.collapseID,
        ]
        #expect(twice.text(slots[Self.named.firstIndex(of: name)!]) == "first")
    }

    @Test(arguments: named)
    func aHeaderRepeatedWithTheSameValueIsADuplicateToo(name: String) {
        #expect(SampleRequest.valid.without(name).adding(name, "x").adding(name, "x").request.hasDuplicates)
        #expect(SampleRequest.valid.without(name).adding(name, "").adding(name, "").request.hasDuplicates)
    }

    @Test func oneOfEachIsNoDuplicate() {
        #expect(!SampleRequest.valid.request.hasDuplicates)
    }

    @Test(arguments: [
        "user-agent", "content-type", "content-length", "accept", "apns-unknown", "apns-topi", "apns-topics",
        "apns-collapse-idx", "apns-collapse-id-and-more", "Apns-topic", "", "host2",
    ])
    func unknownHeadersArePassedOver(name: String) {
        let request = SampleRequest.valid.adding(name, "a").adding(name, "b").request
        #expect(!request.hasDuplicates)
        #expect(request.text(request.topic) == "com.example.app")
        #expect(request.text(request.collapseID) == "news")
        #expect(request.text(request.authority) == "localhost")
    }

    @Test func aNameThatEndsLikeAKnownOneWithZerosInFrontIsUnknown() {
        let request = SampleRequest.valid.without("apns-topic").adding("\0apns-topic", "x").request
        #expect(request.topic == nil)
    }

    @Test func hostStandsInForAMissingAuthorityAndNeverReplacesIt() {
        let sample = SampleRequest.valid.without(":authority")
        #expect(sample.request.authority == nil)
        #expect(host(sample.adding("host", "a.example")) == "a.example")
        #expect(host(sample.adding("host", "a.example").adding(":authority", "b.example")) == "b.example")
        #expect(host(sample.adding(":authority", "b.example").adding("host", "a.example")) == "b.example")
    }

    @Test func valuesAreRangesOfTheGivenBytes() {
        let request = SampleRequest.valid.with("apns-topic", "com.example.ä").request
        #expect(request.text(request.topic) == "com.example.ä")
        #expect(request.text(nil) == nil)
        #expect(request.text(request.method) == "POST")
    }

    private func host(_ sample: SampleRequest) -> String? { sample.request.text(sample.request.authority) }
}
