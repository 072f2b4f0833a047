import PushJSON
import PushProvider
import PushServer
import Testing

/// Limits, clients that go away, and the end of the server.
@Suite struct LimitCallTests {
    /// Asks until the answer has this code; gives up after a number of calls, not of seconds.
    private func expect(_ code: String?, _ bench: ControlBench, _ target: String) async throws {
        var found: String?
        for _ in 0..<2000 {
            found = try await bench.get(target).code
            if found == code { break }
        }
        #expect(found == code)
    }

    @Test func beyondAThousandWaitsAndStreamsMoreAreRefusedUntilOneEnds() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let streams = (0..<10).map { _ in bench.caller.start(bench.plan("GET", "events")) }
            let polls = (0..<10).map { _ in bench.caller.start(bench.plan("GET", "devices/d1/inbox?wait=10m")) }
            let waits = (0..<980).map { _ in bench.caller.start(bench.plan("GET", "wait?app=none&timeout=10m")) }
            try await expect("too_many_waits", bench, "wait?app=none&timeout=0")
            for target in ["events", "devices/d1/inbox?wait=1ms", "wait?token=\(phone.token)&timeout=0"] {
                let reply = try await bench.get(target)
                #expect(reply.status == 429)
                #expect(reply.code == "too_many_waits")
            }
            // What needs no waiting is answered all the same.
            #expect(try await bench.get("devices/d1/inbox").status == 200)
            let id = try await bench.accepted(phone.token)
            #expect(try await bench.get("wait?push=\(id)&state=accepted").status == 200)

            // The message has ended the polls; each other kind makes room when its client goes away.
            try await expect("timed_out", bench, "wait?app=none&timeout=0")
            for _ in 0..<polls.count { bench.caller.start(bench.plan("GET", "wait?app=none&timeout=10m")) }
            for call in [waits[500], streams[5]] {
                try await expect("too_many_waits", bench, "wait?app=none&timeout=0")
                bench.caller.cancel(call)
                try await expect("timed_out", bench, "wait?app=none&timeout=0")
                bench.caller.start(bench.plan("GET", "wait?app=none&timeout=10m"))
            }
            try await expect("too_many_waits", bench, "wait?app=none&timeout=0")
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
