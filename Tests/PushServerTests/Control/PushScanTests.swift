import PushCore
import PushStore
import Testing

@testable import PushServer

/// Scans over journals that are too long to send by hand.
@Suite struct PushScanTests {
    static func store(_ count: Int64, each: (inout PushRecord) -> Void = { _ in }) throws -> PushStore {
        let store = try PushStore(.temporary)
        for sequence in 1...count {
            var record = PushRecord(
                sequence: sequence, id: nil, registration: 1, at: 0, reason: nil, environment: .sandbox)
            record.previous = sequence - 1
            each(&record)
            let payload: [UInt8] = []
            store.add(record, payload: payload.span)
        }
        try store.commit()
        return store
    }

    static func query(_ change: (inout PushQuery) -> Void) -> PushQuery {
        var query = PushQuery()
        change(&query)
        return query
    }

    @Test(arguments: [1, 199, 200, 201, 400, 401, 1000] as [Int64])
    func everyPushIsSeenOnceInOrder(count: Int64) throws {
        let store = try Self.store(count)
        for (query, wanted) in [
            (Self.query { _ in }, Array((1...count).reversed())),
            (Self.query { $0.chain = count }, Array((1...count).reversed())),
            (Self.query { $0.prefersOldest = true }, Array(1...count)),
            (
                Self.query {
                    $0.prefersOldest = true; $0.after = 100
                }, Array(1...count).filter { $0 > 100 }
            ),
        ] {
            var seen: [Int64] = []
            let isWhole = try PushScan(store: store, query: query).run { push in
                seen.append(push.record.sequence)
                return true
            }
            #expect(isWhole)
            #expect(seen == wanted)
        }
    }

    @Test func whoStopsIsToldWhetherPushesAreLeft() throws {
        let store = try Self.store(3)
        for (stop, isWhole) in [(1, false), (2, false), (3, true)] {
            var seen = 0
            let result = try PushScan(store: store, query: PushQuery()).run { _ in
                seen += 1
                return seen < stop
            }
            #expect(result == isWhole)
            #expect(seen == stop)
        }
    }

    @Test func aScanStopsAtItsLimitAndSaysSo() throws {
        let count = Int64(PushScan.pushesMax)
        let store = try Self.store(count + 1)
        for query in [PushQuery(), Self.query { $0.chain = count + 1 }, Self.query { $0.prefersOldest = true }] {
            var seen = 0
            let isWhole = try PushScan(store: store, query: query).run { _ in
                seen += 1
                return true
            }
            #expect(!isWhole)
            #expect(seen == PushScan.pushesMax)
        }
        let rest = Self.query { $0.after = 1 }
        #expect(try PushScan(store: store, query: rest).run { _ in true })
    }

    @Test func rejectedOnesAreFoundHoweverManyWereAcceptedSince() throws {
        let store = try Self.store(Int64(PushScan.pushesMax) + 100) { $0.reason = $0.sequence == 5 ? .badTopic : nil }
        var seen: [Int64] = []
        let isWhole = try PushScan(store: store, query: Self.query { $0.isRejected = true }).run { push in
            seen.append(push.record.sequence)
            return true
        }
        #expect(isWhole)
        #expect(seen == [5])
    }
}
