import PushBytes
@testable import PushCore
import Testing

@Suite struct MailboxTests {
    private static let hour: Int64 = 3_600_000

    private func entry(_ sequence: Int64, expiresAt: Int64 = hour, isStorable: Bool = true) -> MailboxEntry {
        MailboxEntry(sequence: sequence, expiresAt: expiresAt, isStorable: isStorable, priority: 10)
    }

    private func filled(
        _ sequences: ClosedRange<Int64>, canDeliver: Bool = false, rule: StorageRule = .ideal
    ) -> (Mailbox, [MailboxDeparture]) {
        var mailbox = Mailbox()
        var departures: [MailboxDeparture] = []
        for sequence in sequences {
            mailbox.admit(entry(sequence), canDeliver: canDeliver, rule: rule, departures: &departures)
        }
        return (mailbox, departures)
    }

    @Test func theIdealRuleKeepsEverythingInOrder() {
        let (mailbox, departures) = filled(1...5)
        #expect(mailbox.sequences == [1, 2, 3, 4, 5])
        #expect(departures.isEmpty)
    }

    @Test func applesRuleKeepsTheNewestAndSaysWhatReplacedWhat() {
        let (mailbox, departures) = filled(1...3, rule: .apns)
        #expect(mailbox.sequences == [3])
        #expect(
            departures == [
                MailboxDeparture(sequence: 1, cause: .replaced(by: 2)),
                MailboxDeparture(sequence: 2, cause: .replaced(by: 3)),
            ])
    }

    @Test(arguments: StorageRule.allCases)
    func aPushThatMayNotBeStoredIsNotKeptForADeviceThatIsAway(rule: StorageRule) {
        var (mailbox, departures) = filled(1...1, rule: rule)
        mailbox.admit(entry(2, isStorable: false), canDeliver: false, rule: rule, departures: &departures)
        #expect(departures == [MailboxDeparture(sequence: 2, cause: .notStorable)])
        #expect(mailbox.sequences == [1])
    }

    @Test func onlyTheLastOfAReplayIsMarkedAsLast() {
        var (mailbox, departures) = filled(1...3)
        mailbox.beginReplay(now: 0, departures: &departures)
        mailbox.admit(entry(4), canDeliver: true, rule: .ideal, departures: &departures)
        var taken: [(Int64, Bool, Bool)] = []
        while let next = mailbox.takeNext(now: 0, departures: &departures) {
            taken.append((next.entry.sequence, next.entry.isFromStorage, next.isLastStored))
        }
        #expect(taken.map(\.0) == [1, 2, 3, 4])
        #expect(taken.map(\.1) == [true, true, true, false])
        #expect(taken.map(\.2) == [false, false, true, false])
        #expect(departures.isEmpty)
    }

    @Test func theLastOfAReplayMovesForwardWhenWhatFollowsHasExpired() {
        var mailbox = Mailbox()
        var departures: [MailboxDeparture] = []
        mailbox.admit(entry(1), canDeliver: false, rule: .ideal, departures: &departures)
        mailbox.admit(entry(2, expiresAt: 100), canDeliver: false, rule: .ideal, departures: &departures)
        mailbox.beginReplay(now: 0, departures: &departures)
        let first = mailbox.takeNext(now: 100, departures: &departures)
        #expect(first?.entry.sequence == 1 && first?.isLastStored == true)
        let second = mailbox.takeNext(now: 100, departures: &departures)
        #expect(second == nil)
        #expect(departures == [MailboxDeparture(sequence: 2, cause: .expired(at: 100))])
    }

    @Test func anExpiredPushIsNeverTakenEvenAtTheEndOfAReplay() {
        var mailbox = Mailbox()
        var departures: [MailboxDeparture] = []
        mailbox.admit(entry(1, expiresAt: 100), canDeliver: false, rule: .ideal, departures: &departures)
        mailbox.beginReplay(now: 99, departures: &departures)
        let next = mailbox.takeNext(now: 100, departures: &departures)
        #expect(next == nil)
        #expect(departures == [MailboxDeparture(sequence: 1, cause: .expired(at: 100))])
    }

    @Test(arguments: [(Int64(99), false), (100, true), (101, true)])
    func aPushExpiresAtItsTimeAndNotBefore(now: Int64, isGone: Bool) {
        var mailbox = Mailbox()
        var departures: [MailboxDeparture] = []
        mailbox.admit(entry(1, expiresAt: 100), canDeliver: false, rule: .ideal, departures: &departures)
        #expect(mailbox.earliestExpiry == 100)
        mailbox.expire(at: now, departures: &departures)
        #expect(mailbox.isEmpty == isGone)
        #expect(departures == (isGone ? [MailboxDeparture(sequence: 1, cause: .expired(at: 100))] : []))
    }

    @Test func whatIsInFlightDoesNotExpireUntilItComesBack() {
        var mailbox = Mailbox()
        var departures: [MailboxDeparture] = []
        mailbox.admit(entry(1, expiresAt: 100), canDeliver: true, rule: .apns, departures: &departures)
        mailbox.admit(entry(2, expiresAt: 500), canDeliver: true, rule: .apns, departures: &departures)
        _ = mailbox.takeNext(now: 0, departures: &departures)
        mailbox.expire(at: 200, departures: &departures)
        #expect(mailbox.sequences == [1, 2] && departures.isEmpty)
        // The one in flight must not hide when the one that waits expires.
        #expect(mailbox.earliestExpiry == 500)
        mailbox.deviceLeft(rule: .apns, departures: &departures)
        #expect(mailbox.earliestExpiry == 100)
        mailbox.expire(at: 200, departures: &departures)
        #expect(departures == [MailboxDeparture(sequence: 1, cause: .expired(at: 100))])
    }

    @Test func whatWasSentSurvivesTheLossOfTheDeviceUnderApplesRule() {
        var (mailbox, departures) = filled(1...5, canDeliver: true, rule: .apns)
        for _ in 1...2 { _ = mailbox.takeNext(now: 0, departures: &departures) }
        mailbox.deviceLeft(rule: .apns, departures: &departures)
        #expect(mailbox.sequences == [1, 2, 5])
        #expect(mailbox.inFlightCount == 0)
        #expect(
            departures == [
                MailboxDeparture(sequence: 3, cause: .replaced(by: 5)),
                MailboxDeparture(sequence: 4, cause: .replaced(by: 5)),
            ])
        departures = []
        mailbox.admit(entry(6), canDeliver: false, rule: .apns, departures: &departures)
        #expect(mailbox.sequences == [1, 2, 6])
        #expect(departures == [MailboxDeparture(sequence: 5, cause: .replaced(by: 6))])
        mailbox.admit(entry(7), canDeliver: false, rule: .apns, departures: &departures)
        #expect(mailbox.sequences == [1, 2, 7])
    }

    @Test func aPushThatMayNotBeStoredIsDroppedWhenTheDeviceLeaves() {
        var mailbox = Mailbox()
        var departures: [MailboxDeparture] = []
        mailbox.admit(entry(1, isStorable: false), canDeliver: true, rule: .ideal, departures: &departures)
        _ = mailbox.takeNext(now: .max, departures: &departures)
        #expect(mailbox.inFlightCount == 1)
        mailbox.deviceLeft(rule: .ideal, departures: &departures)
        #expect(mailbox.isEmpty)
        #expect(departures == [MailboxDeparture(sequence: 1, cause: .notStorable)])
    }

    @Test func aFullMailboxDropsTheOldestThatNeverLeft() {
        var mailbox = Mailbox()
        var departures: [MailboxDeparture] = []
        for sequence in 1...Int64(CoreLimits.mailboxMax) {
            mailbox.admit(entry(sequence), canDeliver: true, rule: .ideal, departures: &departures)
        }
        for _ in 1...3 { _ = mailbox.takeNext(now: 0, departures: &departures) }
        #expect(departures.isEmpty && mailbox.count == CoreLimits.mailboxMax)
        let next = Int64(CoreLimits.mailboxMax) + 1
        mailbox.admit(entry(next), canDeliver: true, rule: .ideal, departures: &departures)
        #expect(departures == [MailboxDeparture(sequence: 4, cause: .queueFull)])
        #expect(mailbox.count == CoreLimits.mailboxMax)
        #expect(mailbox.contains(1) && mailbox.contains(3) && !mailbox.contains(4) && mailbox.contains(next))
        let following = mailbox.takeNext(now: 0, departures: &departures)
        #expect(following?.entry.sequence == 5)
    }

    @Test func removingSomethingThatIsNotThereSaysSo() {
        var (mailbox, _) = filled(2...4)
        let answers = [1, 5, 3, 3].map { mailbox.remove($0) }
        #expect(answers == [false, false, true, false])
        #expect(mailbox.sequences == [2, 4])
        let rest = mailbox.removeAll()
        #expect(rest == [2, 4])
        #expect(mailbox.isEmpty && mailbox.earliestExpiry == .max)
    }
}

/// The same rules, written down without any cleverness.
private struct NaiveMailbox {
    struct Entry {
        var sequence: Int64
        var expiresAt: Int64
        var isStorable: Bool
        var isInFlight = false
        var wasSent = false
        var isFromStorage = false
    }

    var entries: [Entry] = []
    var departures: [MailboxDeparture] = []

    mutating func depart(_ sequence: Int64, _ cause: MailboxDeparture.Cause) {
        departures.append(MailboxDeparture(sequence: sequence, cause: cause))
        entries.removeAll { $0.sequence == sequence }
    }

    mutating func admit(_ entry: Entry, canDeliver: Bool, rule: StorageRule) {
        if !canDeliver && !entry.isStorable { return depart(entry.sequence, .notStorable) }
        let previous = entries.last
        entries.append(entry)
        if !canDeliver, rule == .apns, let previous, !previous.wasSent {
            depart(previous.sequence, .replaced(by: entry.sequence))
        }
    }

    mutating func expire(_ now: Int64) {
        for entry in entries where !entry.isInFlight && entry.isStorable && entry.expiresAt <= now {
            depart(entry.sequence, .expired(at: entry.expiresAt))
        }
    }

    mutating func beginReplay(_ now: Int64) {
        expire(now)
        for index in entries.indices where !entries[index].isInFlight { entries[index].isFromStorage = true }
    }

    mutating func takeNext(_ now: Int64) -> (sequence: Int64, isFromStorage: Bool, isLastStored: Bool)? {
        while let entry = entries.first(where: { !$0.isInFlight }) {
            if entry.isStorable && entry.expiresAt <= now {
                depart(entry.sequence, .expired(at: entry.expiresAt))
                continue
            }
            let index = entries.firstIndex { $0.sequence == entry.sequence }!
            entries[index].isInFlight = true
            entries[index].wasSent = true
            let more = entries.contains {
                !$0.isInFlight && $0.isFromStorage && !($0.isStorable && $0.expiresAt <= now)
            }
            return (entry.sequence, entry.isFromStorage, entry.isFromStorage && !more)
        }
        return nil
    }

    mutating func deviceLeft(_ rule: StorageRule) {
        for entry in entries where !entry.isStorable { depart(entry.sequence, .notStorable) }
        for index in entries.indices { entries[index].isInFlight = false }
        let unsent = entries.filter { !$0.wasSent }
        if rule == .apns, let newest = unsent.last {
            for entry in unsent.dropLast() { depart(entry.sequence, .replaced(by: newest.sequence)) }
        }
    }
}

@Suite struct MailboxSeededTests {
    @Test(arguments: StorageRule.allCases)
    func aMailboxDoesWhatTheNaiveModelDoes(rule: StorageRule) {
        for round in 0..<300 {
            let seed = testSeed() &+ UInt64(round)
            guard run(rule, seed: seed) else { return }
        }
    }

    /// One life of a mailbox; `false` after the first difference.
    private func run(_ rule: StorageRule, seed: UInt64) -> Bool {
        var random = SeededRandom(seed: seed)
        var mailbox = Mailbox()
        var model = NaiveMailbox()
        var departures: [MailboxDeparture] = []
        var admitted: Set<Int64> = []
        var removed: Set<Int64> = []
        var sent: Set<Int64> = []
        var isThere = false
        var now: Int64 = 1000
        var last: Int64 = 0
        for step in 0..<120 {
            let what: String
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<35:
                last += Int64.random(in: 1...3, using: &random)
                let expiresAt = now + Int64.random(in: -5...60, using: &random)
                let isStorable = random.chance(85)
                let canDeliver = isThere && random.chance(80)
                what = "admit \(last) \(isStorable) \(canDeliver)"
                admitted.insert(last)
                model.admit(
                    .init(sequence: last, expiresAt: expiresAt, isStorable: isStorable), canDeliver: canDeliver,
                    rule: rule)
                mailbox.admit(
                    MailboxEntry(sequence: last, expiresAt: expiresAt, isStorable: isStorable, priority: 10),
                    canDeliver: canDeliver, rule: rule, departures: &departures)
            case 35..<60 where isThere:
                what = "take"
                let expected = model.takeNext(now)
                let next = mailbox.takeNext(now: now, departures: &departures)
                if let next { sent.insert(next.entry.sequence) }
                guard next?.entry.sequence == expected?.sequence,
                    next?.entry.isFromStorage == expected?.isFromStorage,
                    next?.isLastStored == expected?.isLastStored
                else {
                    Issue.record("take differs at step \(step), SEED=\(seed)")
                    return false
                }
            case 60..<72:
                let known = model.entries.filter(\.isInFlight).map(\.sequence)
                let sequence = known.randomElement(using: &random) ?? Int64.random(in: 0...last + 1, using: &random)
                what = "remove \(sequence)"
                let wasThere = model.entries.contains { $0.sequence == sequence }
                model.entries.removeAll { $0.sequence == sequence }
                if wasThere { removed.insert(sequence) }
                guard mailbox.remove(sequence) == wasThere else {
                    Issue.record("remove differs at step \(step), SEED=\(seed)")
                    return false
                }
            case 72..<80:
                what = isThere ? "leave" : "come"
                isThere.toggle()
                if isThere {
                    model.beginReplay(now)
                    mailbox.beginReplay(now: now, departures: &departures)
                } else {
                    model.deviceLeft(rule)
                    mailbox.deviceLeft(rule: rule, departures: &departures)
                }
            case 80..<84 where isThere:
                what = "replay again"
                model.beginReplay(now)
                mailbox.beginReplay(now: now, departures: &departures)
            case 84..<92:
                what = "expire"
                model.expire(now)
                mailbox.expire(at: now, departures: &departures)
            default:
                what = "wait"
                now += Int64.random(in: 1...20, using: &random)
            }
            let left = Set(departures.map(\.sequence))
            let waiting = model.entries.filter { !$0.isInFlight && $0.isStorable }
            let isSame =
                mailbox.sequences == model.entries.map(\.sequence) && departures == model.departures
                && mailbox.count == model.entries.count
                && mailbox.inFlightCount == model.entries.count { $0.isInFlight }
                && mailbox.earliestExpiry == waiting.map(\.expiresAt).min() ?? .max
                && model.entries.allSatisfy { mailbox.contains($0.sequence) }
            // What holds whatever the model says.
            let inside = mailbox.sequences
            let holds =
                inside == inside.sorted() && left.count == departures.count
                && admitted == Set(inside).union(left).union(removed)
                && left.isDisjoint(with: inside)
                && departures.allSatisfy { isAllowed($0, sent: sent, rule: rule) }
                && (isThere || rule == .ideal || inside.count { !sent.contains($0) } <= 1)
                && (isThere || mailbox.inFlightCount == 0)
            guard isSame && holds else {
                let problem = isSame ? "an invariant broke" : "the model differs"
                Issue.record("\(problem) after \(what), step \(step), SEED=\(seed)")
                return false
            }
        }
        return true
    }

    /// What was sent is never replaced or dropped for want of room; what replaces is newer.
    private func isAllowed(_ departure: MailboxDeparture, sent: Set<Int64>, rule: StorageRule) -> Bool {
        switch departure.cause {
        case .replaced(let by): rule == .apns && by > departure.sequence && !sent.contains(departure.sequence)
        case .queueFull: false
        case .expired, .notStorable: true
        }
    }
}
