import Foundation
import PushCore
import PushStore
import Testing

/// Processes that end without warning: what was promised is kept.
@Suite(.serialized) struct CrashTests {
    /// Sends from `first` on, kills the server once `answers` have come, and takes what had been answered by then.
    /// Returns the numbers that were sent.
    private func sendAndKill(_ server: FaultServer, token: String, first: Int, answers: Int) throws
        -> (sent: Range<Int>, accepted: [Int])
    {
        let provider = try RawProvider(server, token: token)
        var next = first
        while provider.accepted.count < answers {
            while provider.open.count < 60 && provider.canSubmit {
                try provider.submit(next)
                next += 1
            }
            try provider.flush()
            try provider.receive()
        }
        server.kill()
        while !provider.client.isEnded { try provider.receive() }
        #expect(provider.refused.isEmpty)
        return (first..<next, provider.accepted)
    }

    /// The numbers of all accepted pushes, in the order of the journal.
    private func journal(_ path: String) throws -> [Int] {
        let store = try PushStore(.file(path))
        defer { store.close() }
        return try StoreReader.accepted(store).map { RawProvider.number($0.payload) ?? -1 }
    }

    @Test func pushesAnsweredBeforeKillsReachAPhoneThatWasAwayOnceAndInOrder() throws {
        let server = try FaultServer(["--profile", "ideal"])
        let token = try FaultPhone.register(server)
        var accepted: [Int] = []
        var sent = 0
        for round in 0..<5 {
            let (numbers, answered) = try sendAndKill(server, token: token, first: sent, answers: 1 + round * 60)
            accepted += answered
            sent = numbers.upperBound
            try server.start()
        }
        let stored = try FaultPhone.accepted(server)
        let phone = try FaultPhone.run(server, count: stored.count)
        #expect(phone.numbers == stored)
        #expect(Set(accepted).isSubset(of: stored))
        #expect(accepted == stored.filter(Set(accepted).contains))
        #expect(try FaultPhone.waiting(server) == 0)
        #expect(server.stop() == 0)
        #expect(try journal(server.storePath) == stored)
    }

    @Test func pushesAnsweredBeforeKillsReachAConnectedPhoneOnceAndInOrder() throws {
        let server = try FaultServer(["--profile", "ideal"])
        let phone = try FaultPhone(server)
        let token = try phone.token()
        var accepted: [Int] = []
        var sent = 0
        for round in 0..<5 {
            let (numbers, answered) = try sendAndKill(server, token: token, first: sent, answers: 1 + round * 60)
            accepted += answered
            sent = numbers.upperBound
            try server.start()
        }
        try RawProvider(server, token: token).send(sent..<sent + 1)
        let numbers = try phone.numbers(upTo: sent)
        let stored = try FaultPhone.accepted(server)
        #expect(numbers == stored)
        #expect(accepted == stored.dropLast().filter(Set(accepted).contains))
        #expect(Set(accepted).isSubset(of: stored))
        phone.interrupt()
        #expect(try eventually { try FaultPhone.waiting(server) == 0 })
    }

    /// A phone prints a message and then takes it out of its inbox. So one that runs after a killed one may begin with
    /// what that one printed last; from there on it goes on in order.
    @Test func aKilledPhonePrintsEverythingAndItsFollowerRepeatsOnlyTheEndOfWhatItPrinted() throws {
        let server = try FaultServer(["--profile", "ideal"])
        let token = try FaultPhone.register(server)
        let count = 640
        let provider = try RawProvider(server, token: token)
        try provider.send(0..<count / 2)
        var runs: [[Int]] = []
        for round in 0..<8 {
            let phone = try FaultPhone(server)
            let first = count / 2 + round * count / 16
            try provider.send(first..<first + count / 16)
            // Every second one is killed in the middle of its first lines.
            runs.append(try phone.killAfter(messages: round % 2 == 0 ? 1 + round * 20 : 1))
        }
        let phone = try FaultPhone(server)
        try provider.send(count..<count + 1)
        runs.append(try phone.numbers(upTo: count))
        phone.interrupt()

        var printed = 0
        var repeated = 0
        var start = 0
        for run in runs {
            let first = try #require(run.first)
            let isWhole = run == Array(first..<first + run.count)
            #expect(isWhole, "a run prints in order, without gaps and repetitions")
            #expect(first >= start && first <= printed, "nothing is lost, and what was taken out does not come back")
            repeated += min(printed, first + run.count) - first
            start = first
            printed = max(printed, first + run.count)
        }
        #expect(printed == count + 1)
        print("eight killed phones printed \(repeated) of \(count) messages again")
    }

    @Test func aThousandPushesForAPhoneThatIsAwayArriveInOrderUnderIdeal() throws {
        let server = try FaultServer(["--profile", "ideal"])
        let token = try FaultPhone.register(server)
        try RawProvider(server, token: token).send(0..<1000)
        #expect(try FaultPhone.run(server, count: 1000).numbers == Array(0..<1000))
        #expect(try FaultPhone.waiting(server) == 0)
    }

    @Test func ofAThousandPushesForAPhoneThatIsAwayTheNewestArrivesAndTheOthersSayReplaced() throws {
        let server = try FaultServer()
        let token = try FaultPhone.register(server)
        try RawProvider(server, token: token).send(0..<1000)
        #expect(try FaultPhone.run(server, count: 1).numbers == [999])
        #expect(try FaultPhone.states(server) == ["replaced": 999, "acknowledged": 1])
    }
}
