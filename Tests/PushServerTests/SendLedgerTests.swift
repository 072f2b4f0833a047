import PushBytes
import PushReactor
import Testing

@testable import PushProvider

/// A ledger in a box: `#expect` takes no mutating calls.
private final class Ledger {
    typealias Key = SendLedger.StreamKey

    private var ledger: SendLedger

    init(sendsMax: Int) { ledger = SendLedger(sendsMax: sendsMax) }

    var count: Int { ledger.count }
    var isEmpty: Bool { ledger.isEmpty }
    func add(_ id: UInt64, deadline: MonotonicTime) -> Bool { ledger.add(id, deadline: deadline) }
    func next() -> UInt64? { ledger.next() }
    func submitted(_ id: UInt64, _ key: Key) { ledger.submitted(id, key) }
    func finished(_ key: Key) -> UInt64? { ledger.finished(key) }
    func unseen(_ key: Key, _ why: SendLedger.Unseen) -> SendLedger.Verdict { ledger.unseen(key, why) }
    func remove(_ id: UInt64) -> Key? { ledger.remove(id) }
    func lost(connection: Int) -> [UInt64] { ledger.lost(connection: connection) }
    func removeWaiting() -> [UInt64] { ledger.removeWaiting() }
    func expired(now: MonotonicTime) -> (id: UInt64, key: Key?)? { ledger.expired(now: now) }
    func nextDeadline() -> MonotonicTime? { ledger.nextDeadline() }
    func contains(_ id: UInt64) -> Bool { ledger.contains(id) }
}

@Suite struct SendLedgerTests {
    typealias Key = SendLedger.StreamKey

    func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    /// A ledger with pushes 1 to `count`, due at second 10.
    private func ledger(_ count: UInt64, sendsMax: Int = 100) -> Ledger {
        let ledger = Ledger(sendsMax: sendsMax)
        for id in 1...count { #expect(ledger.add(id, deadline: time(10))) }
        return ledger
    }

    @Test func pushesGoOutInTheOrderTheyCame() {
        let ledger = ledger(3)
        for id in UInt64(1)...3 {
            #expect(ledger.next() == id)
            #expect(ledger.next() == id)
            ledger.submitted(id, Key(connection: 1, stream: Int32(id)))
        }
        #expect(ledger.next() == nil)
        #expect(ledger.finished(Key(connection: 1, stream: 2)) == 2)
        #expect(ledger.finished(Key(connection: 1, stream: 2)) == nil)
        #expect(ledger.count == 2)
    }

    @Test func fullLedgerTakesNoMore() {
        let ledger = ledger(2, sendsMax: 2)
        #expect(!ledger.add(3, deadline: time(10)))
        _ = ledger.remove(1)
        #expect(ledger.add(4, deadline: time(10)))
    }

    @Test func pushThatWentAwayUnseenGoesFirstAndOnlyOnce() {
        let ledger = ledger(2)
        ledger.submitted(1, Key(connection: 1, stream: 1))
        #expect(ledger.unseen(Key(connection: 1, stream: 1), .goneAway) == .again)
        #expect(ledger.next() == 1)
        ledger.submitted(1, Key(connection: 2, stream: 1))
        #expect(ledger.next() == 2)
        #expect(ledger.unseen(Key(connection: 2, stream: 1), .goneAway) == .over(1))
        #expect(ledger.unseen(Key(connection: 2, stream: 1), .goneAway) == .unknown)
        #expect(ledger.count == 1)
    }

    @Test func refusedPushIsRepeatedUpToItsLimit() {
        let ledger = ledger(1)
        for stream in 1...Int32(SendLedger.refusalsMax) {
            ledger.submitted(1, Key(connection: 1, stream: stream))
            #expect(ledger.unseen(Key(connection: 1, stream: stream), .refused) == .again)
        }
        ledger.submitted(1, Key(connection: 1, stream: 99))
        #expect(ledger.unseen(Key(connection: 1, stream: 99), .refused) == .over(1))
        #expect(ledger.isEmpty)
    }

    @Test func lostConnectionTakesOnlyItsOwnPushes() {
        let ledger = ledger(4)
        ledger.submitted(1, Key(connection: 1, stream: 1))
        ledger.submitted(2, Key(connection: 2, stream: 1))
        ledger.submitted(3, Key(connection: 1, stream: 3))
        #expect(ledger.lost(connection: 1) == [1, 3])
        #expect(ledger.removeWaiting() == [4])
        #expect(ledger.count == 1)
    }

    @Test func pushesEndAtTheirDeadlineAndNotBefore() {
        let ledger = Ledger(sendsMax: 10)
        for id in UInt64(1)...3 { _ = ledger.add(id, deadline: time(Int64(id))) }
        ledger.submitted(2, Key(connection: 1, stream: 1))
        #expect(ledger.nextDeadline() == time(1))
        #expect(ledger.expired(now: time(0)) == nil)
        #expect(ledger.expired(now: time(2))?.id == 1)
        let second = ledger.expired(now: time(2))
        #expect(second?.id == 2)
        #expect(second?.key == Key(connection: 1, stream: 1))
        #expect(ledger.expired(now: time(2)) == nil)
        _ = ledger.remove(3)
        #expect(ledger.nextDeadline() == nil)
        #expect(ledger.isEmpty)
    }

    /// Every push that was added ends exactly once, whatever happens in between.
    @Test(arguments: 0..<50 as Range<UInt64>) func everyPushEndsOnce(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let ledger = Ledger(sendsMax: 20)
        var added = Set<UInt64>()
        var ended: [UInt64] = []
        var flying: [Key] = []
        var now: Int64 = 0
        for id in UInt64(1)...500 {
            if ledger.add(id, deadline: time(now + 10)) { added.insert(id) }
            let connection = Int.random(in: 1...3, using: &random)
            if Bool.random(using: &random), let next = ledger.next() {
                let key = Key(connection: connection, stream: Int32(id))
                ledger.submitted(next, key)
                flying.append(key)
            }
            let key = flying.randomElement(using: &random) ?? Key(connection: 0, stream: 0)
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1: if let done = ledger.finished(key) { ended.append(done) }
            case 2: if case .over(let done) = ledger.unseen(key, .goneAway) { ended.append(done) }
            case 3: if case .over(let done) = ledger.unseen(key, .refused) { ended.append(done) }
            case 4: if Int.random(in: 0..<10, using: &random) == 0 { ended += ledger.lost(connection: connection) }
            case 5:
                if ledger.contains(id) {
                    _ = ledger.remove(id)
                    ended.append(id)
                }
            default: now += 1
            }
            while let (done, _) = ledger.expired(now: time(now)) { ended.append(done) }
        }
        while let (done, _) = ledger.expired(now: time(now + 10)) { ended.append(done) }
        #expect(ledger.isEmpty)
        #expect(ended.count == added.count)
        #expect(Set(ended) == added)
    }
}
