import Testing

@Suite(.serialized) struct CaseBenchTests {
    @Test func aGoodPushIsAnsweredAndDelivered() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try bench.client()
            let answer = try client.request(bench.push(to: phone.token), body: CaseBench.body)
            #expect(answer.status == 200)
            let id = try #require(answer["apns-id"])
            try bench.expect(id, reaches: "acknowledged")
            #expect(try bench.inbox(phone) == [id])
            #expect(try bench.lifeLine(id) == ["accepted", "stored", "sent", "acknowledged"])
        }
    }
}
