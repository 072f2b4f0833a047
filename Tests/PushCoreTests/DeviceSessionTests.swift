import PushCore
import Testing

@Suite struct DeviceSessionTests {
    private let registry = Registry()
    private let device: Device
    private let registration: Registration
    private let topic: Topic
    private let session: DeviceSession

    init() throws {
        let app = App(bundle: "com.example.app", team: "TEAM", storageRule: nil)
        registry.add(app)
        topic = try #require(registry.topic(named: Array("com.example.app".utf8)))
        device = Device(
            id: 1, name: "phone", identity: [], baseToken: [UInt8](repeating: 1, count: 32), environment: .sandbox,
            isVirtual: false, isSwitchedOn: false)
        registry.add(device)
        let token = try #require(AppToken(bytes: [UInt8](repeating: 2, count: 32)))
        registration = Registration(id: 1, device: device, topic: topic, token: token)
        registry.add(registration)
        _ = registration.mailboxIndex(for: topic)
        session = DeviceSession(connection: 7, environment: .sandbox, now: moment())
    }

    private func send(_ sequence: Int64, at milliseconds: Int64) -> DeviceSession.InFlight {
        session.sent(
            MailboxEntry(sequence: sequence, expiresAt: .max, isStorable: true, priority: 10), registration,
            mailboxIndex: 0, isLastStored: false, now: moment(milliseconds))
    }

    private func deadline(after milliseconds: Int64) -> Int64 { moment(milliseconds).monotonicMilliseconds }

    @Test func aFilterAnswersWithWhatIsNew() throws {
        let voip = try #require(registry.topic(named: Array("com.example.app.voip".utf8)))
        #expect(!session.listens(to: topic))
        #expect(session.enable([topic.hash]) == [topic.hash])
        #expect(session.listens(to: topic) && !session.listens(to: voip))
        #expect(session.enable([topic.hash, voip.hash]) == [voip.hash])
        #expect(session.enable([]) == [])
        #expect(!session.listens(to: topic))
        #expect(session.enable([topic.hash]) == [topic.hash])
    }

    @Test func messagesAreNumberedAndAnAcknowledgementTakesOneOnce() {
        let first = send(10, at: 0)
        let second = send(11, at: 0)
        #expect(first.messageID != second.messageID)
        #expect(session.acknowledged(second.messageID)?.sequence == 11)
        #expect(session.acknowledged(second.messageID) == nil)
        #expect(session.acknowledged(99) == nil)
        #expect(session.inFlight.map(\.sequence) == [10])
        session.forget(10)
        #expect(session.inFlight.isEmpty && session.acknowledged(first.messageID) == nil)
    }

    @Test func theWindowHasALimit() {
        for sequence in 1...Int64(CoreLimits.inFlightMax) {
            #expect(session.hasRoom)
            _ = send(sequence, at: 0)
        }
        #expect(!session.hasRoom)
        session.forget(5)
        #expect(session.hasRoom)
    }

    @Test func theDeadlineIsTheFirstThingThatMustBeDone() {
        #expect(session.deadline == deadline(after: CoreLimits.introductionMillisecondsMax))
        session.bind(to: device)
        #expect(session.deadline == deadline(after: CoreLimits.deviceSilenceMillisecondsMax))
        session.lastHeard = deadline(after: 500)
        #expect(session.deadline == deadline(after: 500 + CoreLimits.deviceSilenceMillisecondsMax))
        let record = send(1, at: 1000)
        #expect(session.deadline == deadline(after: 1000 + CoreLimits.acknowledgementMillisecondsMax))
        _ = session.acknowledged(record.messageID)
        #expect(session.deadline == deadline(after: 500 + CoreLimits.deviceSilenceMillisecondsMax))
    }

    @Test func whatIsLateIsCountedAndTheRestKeepsItsTime() {
        session.bind(to: device)
        _ = session.enable([topic.hash])
        _ = send(1, at: 0)
        _ = send(2, at: 12_000)
        #expect(session.overdue(now: moment(19_999)).isEmpty)
        #expect(session.overdue(now: moment(20_000)).map(\.sequence) == [1])
        // The second is due twenty seconds after it was sent, not after the first was sent again.
        #expect(session.deadline == deadline(after: 32_000))
        #expect(session.overdue(now: moment(31_999)).isEmpty)
        #expect(session.overdue(now: moment(32_000)).map(\.sequence) == [2])
        let again = session.overdue(now: moment(40_000))
        #expect(again.map(\.sequence) == [1] && again.map(\.attempts) == [3])
    }

    @Test func aTopicThatWasSwitchedOffIsNotLate() {
        session.bind(to: device)
        _ = session.enable([topic.hash])
        let record = send(1, at: 0)
        _ = session.enable([])
        #expect(session.overdue(now: moment(20_000)).isEmpty)
        #expect(session.deadline == deadline(after: 40_000))
        _ = session.enable([topic.hash])
        #expect(session.overdue(now: moment(40_000)).map(\.attempts) == [2])
        #expect(session.acknowledged(record.messageID)?.sequence == 1)
    }
}
