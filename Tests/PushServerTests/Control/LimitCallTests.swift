import PushJSON
import PushProvider
import PushServer
import Testing

/// Limits, clients that go away, and the end of the server.
@Suite struct LimitCallTests {
    /// A wait that is over at once, if there is room for it.
    private func probe(_ bench: ControlBench) async throws -> String? {
        try await bench.get("wait?app=none&timeout=0").code
    }

    /// Opens waits until there is no room. A probe may be in the way of one, so that one more is needed.
    private func fill(_ bench: ControlBench) async throws {
        for _ in 0..<1000 where try await probe(bench) != "too_many_waits" {
            bench.caller.start(bench.plan("GET", "wait?app=none&timeout=10m"))
        }
        #expect(try await probe(bench) == "too_many_waits")
    }

    /// Asks until there is room; gives up after a number of calls, not of seconds.
    private func expectRoom(_ bench: ControlBench) async throws {
        var found: String?
        for _ in 0..<1000 where found != "timed_out" { found = try await probe(bench) }
        #expect(found == "timed_out")
    }

    @Test func whenAllWaitsAndStreamsAreTakenMoreAreRefusedUntilOneEnds() async throws {
        try await ControlBench.run({ $0.waitsMax = 20 }) { bench in
            #expect(try await bench.get("info").body[path: "limits.waits"] == 20)
            let phone = try await bench.addDevice()
            let streams = try await [EventReader(bench, "events"), EventReader(bench, "events")]
            let poll = try await bench.begin("devices/d1/inbox?wait=10m")
            let waits = (0..<10).map { _ in bench.caller.start(bench.plan("GET", "wait?app=none&timeout=10m")) }
            try await fill(bench)
            for target in ["events", "devices/d1/inbox?wait=1ms", "wait?token=\(phone.token)&timeout=0"] {
                let reply = try await bench.get(target)
                #expect(reply.status == 429)
                #expect(reply.code == "too_many_waits")
            }
            // What needs no waiting is answered all the same.
            #expect(try await bench.get("devices/d1/inbox").status == 200)
            let id = try await bench.accepted(phone.token)
            #expect(try await bench.get("wait?push=\(id)&state=accepted").status == 200)

            // The message has ended the poll; each other kind makes room when its client goes away.
            #expect(try await poll.value.status == 200)
            try await expectRoom(bench)
            try await fill(bench)
            bench.caller.cancel(waits[0])
            try await expectRoom(bench)
            try await fill(bench)
            streams[0].close()
            try await expectRoom(bench)
        }
    }

    @Test func aStopAnswersWaitsAndPolls() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["online": false])
            let id = try await bench.accepted(phone.token)
            let wait = try await bench.begin("wait?push=\(id)&timeout=10m")
            let poll = try await bench.begin("devices/\(phone.id)/inbox?wait=10m")
            await bench.server.stop()
            #expect(try await wait.value.code == "timed_out")
            #expect(try await poll.value.body == ["messages": [], "next": 0])
        }
    }

    @Test func everyCallOfStopReturns() async throws {
        try await ControlBench.run { bench in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { await bench.server.stop() } }
            }
            await bench.server.stop()
        }
    }
}
