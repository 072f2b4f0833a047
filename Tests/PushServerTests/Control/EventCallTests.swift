import PushJSON
import PushProvider
import PushServer
import Testing

/// The journal as a stream.
@Suite struct EventCallTests {
    @Test func eventsComeAsTheyHappen() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let reader = try await EventReader(bench, "events")
            let id = try await bench.accepted(phone.token)
            let events = try await reader.next(3)
            #expect(events.map(\.name) == ["accepted", "sent", "acknowledged"])
            #expect(events.allSatisfy { $0.data["push"] == .string(id) && $0.data["seq"] == .int($0.id) })
            #expect(events.dropFirst().allSatisfy { $0.data["device"] == .string(phone.id) })
            #expect(events[1].data["detail"] == "attempt 1")

            try await bench.change(phone, ["online": false])
            let refused = try await bench.push(phone.token) { $0.topic = "com.example.other" }
            let rest = try await reader.next(2)
            #expect(rest.map(\.name) == ["disconnected", "rejected"])
            #expect(rest[1].data["detail"] == "TopicDisallowed")
            #expect(rest[1].data["push"]?.stringValue == refused.apnsID)
            reader.close()
        }
    }

    @Test func aReaderBeginsWhereItAsksAndResumesAfterTheLastEventItSaw() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            for _ in 0..<3 { _ = try await bench.accepted(phone.token) }
            let all = try await EventReader(bench, "events?after=0")
            let events = try await all.next(10)
            #expect(events.map(\.id) == Array(1...10))
            #expect(events.first?.name == "registered")
            all.close()

            let later = try await EventReader(bench, "events?after=4")
            #expect(try await later.next(6) == Array(events.dropFirst(4)))
            later.close()
            // What was seen last wins over where the reader once began.
            let resumed = try await EventReader(bench, "events?after=0", lastEventID: 7)
            #expect(try await resumed.next(3) == Array(events.dropFirst(7)))
            _ = try await bench.accepted(phone.token)
            #expect(try await resumed.next(3).map(\.id) == [11, 12, 13])
            resumed.close()
        }
    }

    @Test func aPlaceBeyondTheEndMeansFromNowOn() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let reader = try await EventReader(bench, "events", lastEventID: 1_000_000)
            _ = try await bench.accepted(phone.token)
            #expect(try await reader.next()?.name == "accepted")
            reader.close()
        }
    }

    @Test func moreThanATurnsWorthOfEventsComesInFullAndInOrder() async throws {
        try await ControlBench.run({ $0.profile = .ideal }) { bench in
            let phone = try await bench.addDevice(["online": false])
            let count = 700
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count { group.addTask { _ = try await bench.accepted(phone.token) } }
                try await group.waitForAll()
            }
            let reader = try await EventReader(bench, "events")
            // All of it happens in one turn.
            try await bench.change(phone, ["online": true])
            let live = try await reader.next(1 + 2 * count)
            #expect(live.count == 1 + 2 * count)
            #expect(live.map(\.id) == Array(live[0].id..<live[0].id + Int64(live.count)))
            reader.close()

            let backlog = try await EventReader(bench, "events?after=0")
            let all = try await backlog.next(2 + 3 * count)
            #expect(all.map(\.id) == Array(1...Int64(2 + 3 * count)))
            backlog.close()
        }
    }

    @Test func theStreamGoesOnAfterAReset() async throws {
        try await ControlBench.run { bench in
            _ = try await bench.addDevice()
            let reader = try await EventReader(bench, "events?after=0")
            #expect(try await reader.next()?.id == 1)
            #expect(try await bench.call("POST", "reset").status == 200)
            _ = try await bench.addDevice()
            let event = try await reader.next()
            #expect(event?.name == "registered")
            #expect(event?.id == 2)
            reader.close()
        }
    }

    @Test func aStopEndsTheStream() async throws {
        try await ControlBench.run { bench in
            let reader = try await EventReader(bench, "events")
            await bench.server.stop()
            #expect(try await reader.next() == nil)
        }
    }
}
