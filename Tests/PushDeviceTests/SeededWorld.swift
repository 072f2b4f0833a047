import PushBytes
import PushCourier
import Testing

@testable import PushDevice

/// One device, its app, a bad network and a server that keeps what is not acknowledged, in virtual time.
///
/// Everything follows from the seed. Frames that are under way when a link is cut are lost; the device may hear of
/// the cut or not; the device's process may be killed between any two events; commits may fail.
struct SeededWorld {
    enum Event {
        /// What the device's driver would see, on this link.
        case device(link: Int, DeviceCore.Input)
        case server(link: Int, DeviceCore.Outgoing)
        case cut(link: Int, deviceHears: Bool)
        case serverAccepts
        case repeats(link: Int)
        case commit(life: Int)
        case consume(life: Int, sequence: Int64)
        case kill
    }

    /// How the server behaves on one link.
    enum Manner: CaseIterable { case good, mute, refusing, noKeepAlive, neverTokens }

    struct Flight {
        let number: Int
        let messageID: UInt32
    }

    static let faultsEnd: Int64 = 90_000_000_000
    static let worldEnd: Int64 = 2_000_000_000_000
    static let windowMax = 5

    var random: SeededRandom
    var now: Int64 = 0
    var events: [(time: Int64, order: Int, event: Event)] = []
    var order = 0

    // The server.
    let total: Int
    var accepted = 0
    var waiting: [Int] = []
    var flights: [Flight] = []
    var link = 0
    var isLinkUp = false
    var manner = Manner.good
    var isFiltered = false
    var nextMessageID: UInt32 = 1
    var lastFrameTime: [Int64] = [0, 0]

    // The device.
    let directory: TemporaryDirectory?
    let limits: DeviceLimits
    var core: DeviceCore
    var deviceLink = 0
    var inbox: DeviceInbox
    var change = DeviceInbox.Change()
    var receipts: [Arrival.Receipt] = []
    var isCommitDue = false
    var durableToken: [UInt8]?
    /// What the inbox must hold, by sequence, and what it must have seen.
    var held: [(sequence: Int64, number: Int)] = []
    var seen: Set<Int> = []

    // The app.
    var life = 0
    var lastHanded = -1
    var consumedNumbers: Set<Int> = []
    var problems: [String] = []
    var kills = 0
    var refusals = 0

    init(seed: UInt64, onDisk: Bool) throws {
        var random = SeededRandom(seed: seed)
        total = Int.random(in: 1...40, using: &random)
        var limits = DeviceLimits()
        limits.unconsumedMax = Int.random(in: 1...12, using: &random)
        limits.seenMax = 64
        self.limits = limits
        directory = onDisk ? try TemporaryDirectory() : nil
        inbox =
            if let directory {
                .file(try FileInbox(path: directory.file("device.db"), seenMax: limits.seenMax))
            } else {
                .memory(MemoryInbox(seenMax: limits.seenMax))
            }
        core = Self.makeCore(limits, token: nil, unconsumed: 0, seed: random.next())
        self.random = random
    }

    static func makeCore(_ limits: DeviceLimits, token: [UInt8]?, unconsumed: Int, seed: UInt64) -> DeviceCore {
        DeviceCore(
            limits: limits, topics: [DeviceTopic(exampleTopic)], baseToken: token, unconsumed: unconsumed, seed: seed)
    }

    /// Plays to the end and returns what went wrong.
    mutating func run() throws -> [String] {
        for _ in 0..<total { schedule(.serverAccepts, in: 0...Self.faultsEnd) }
        for _ in 0..<Int.random(in: 0...4, using: &random) { schedule(.kill, in: 0...Self.faultsEnd) }
        step(.start)
        while problems.isEmpty, now < Self.worldEnd, consumedNumbers.count < total || !waiting.isEmpty {
            try playNext()
        }
        if consumedNumbers.count < total { problems.append("only \(consumedNumbers.count) of \(total) arrived") }
        if !waiting.isEmpty { problems.append("\(waiting.count) stay unacknowledged") }
        inbox.close()
        return problems
    }

    private mutating func playNext() throws {
        // A plain loop: this is most of what a world costs.
        var next: Int?
        for index in 0..<events.count {
            guard let best = next else {
                next = index
                continue
            }
            let isEarlier =
                events[index].time < events[best].time
                || events[index].time == events[best].time && events[index].order < events[best].order
            if isEarlier { next = index }
        }
        let eventTime = next.map { events[$0].time } ?? .max
        if let deadline = core.nextDeadline, deadline < eventTime {
            now = max(now, deadline)
            return step(.timer)
        }
        guard let next else { return problems.append("nothing is going to happen any more") }
        let event = events.remove(at: next)
        now = event.time
        try play(event.event)
    }

    private mutating func play(_ event: Event) throws {
        switch event {
        case .device(let link, let input):
            if link == deviceLink { step(input) }
        case .server(let link, let message):
            if link == self.link, isLinkUp { serverReceived(message) }
        case .cut(let link, let deviceHears):
            guard link == self.link, isLinkUp else { return }
            isLinkUp = false
            if deviceHears {
                let reason = DisconnectReason(.closedByServer, "cut")
                schedule(.device(link: link, .disconnected(reason)), in: 0...500_000_000)
            }
        case .serverAccepts:
            waiting.append(accepted)
            accepted += 1
            serverSends()
        case .repeats(let link):
            // Impatient: everything in flight once more, in order.
            guard link == self.link, isLinkUp, isFiltered else { return }
            for flight in flights { send(flight) }
        case .commit(let life):
            if life == self.life { commit() }
        case .consume(let life, let sequence):
            if life == self.life {
                change.consumed.append(sequence)
                commitSoon()
            }
        case .kill: try kill()
        }
    }

    private mutating func schedule(_ event: Event, in delay: ClosedRange<Int64>) {
        order += 1
        events.append((now + Int64.random(in: delay, using: &random), order, event))
    }

    /// Frames of one direction keep their order.
    private mutating func scheduleFrame(_ event: Event, direction: Int) {
        order += 1
        let time = max(lastFrameTime[direction], now + Int64.random(in: 100_000...50_000_000, using: &random))
        lastFrameTime[direction] = time
        events.append((time, order, event))
    }

    private var hasFaults: Bool { now < Self.faultsEnd }

    private mutating func chance(_ percent: Int) -> Bool {
        hasFaults && Int.random(in: 0..<100, using: &random) < percent
    }

    // MARK: The device's driver

    private mutating func step(_ input: DeviceCore.Input) {
        var outputs: [DeviceCore.Output] = []
        core.step(
            input, now: DeviceCore.Moment(nanoseconds: now, wallMilliseconds: now / 1_000_000), into: &outputs)
        for output in outputs { perform(output) }
    }

    private mutating func perform(_ output: DeviceCore.Output) {
        switch output {
        case .connect: connect()
        case .disconnect:
            isLinkUp = false
            deviceLink = -1
        case .write(let message): scheduleFrame(.server(link: deviceLink, message), direction: 0)
        case .store(let arrival):
            change.arrivals.append(arrival.message)
            receipts.append(arrival.receipt)
            commitSoon()
        case .saveBaseToken(let token):
            change.baseToken = .some(token)
            commitSoon()
        case .event(let event):
            if case .inboxFull = event { refusals += 1 }
        }
    }

    private mutating func connect() {
        link += 1
        deviceLink = link
        isLinkUp = false
        isFiltered = false
        flights = []
        nextMessageID = 1
        lastFrameTime = [now, now]
        if chance(10) {
            let reason = DisconnectReason(.connectionFailed, "refused")
            return schedule(.device(link: link, .disconnected(reason)), in: 0...1_000_000_000)
        }
        if chance(5) { return }
        isLinkUp = true
        manner = chance(30) ? Manner.allCases.randomElement(using: &random)! : .good
        schedule(.device(link: link, .connected), in: 1_000_000...200_000_000)
        if chance(70) {
            schedule(.cut(link: link, deviceHears: Bool.random(using: &random)), in: 0...20_000_000_000)
        }
        if chance(30) { schedule(.repeats(link: link), in: 0...5_000_000_000) }
    }

    private mutating func commitSoon() {
        if isCommitDue { return }
        isCommitDue = true
        schedule(.commit(life: life), in: 0...3_000_000)
    }

    private mutating func commit() {
        isCommitDue = false
        let change = change
        let receipts = receipts
        self.change = DeviceInbox.Change()
        self.receipts = []
        guard !chance(5), let outcome = try? inbox.commit(change) else {
            self.change.consumed = change.consumed
            self.change.baseToken = change.baseToken
            if !self.change.isEmpty { commitSoon() }
            if !receipts.isEmpty { step(.storingFailed("injected")) }
            return
        }
        if let token = change.baseToken { durableToken = token }
        for sequence in change.consumed { noteConsumed(sequence) }
        for (index, message) in change.arrivals.enumerated() {
            let number = Int(message.payload[0])
            if let sequence = outcome.sequences[index] {
                if seen.contains(number) { problems.append("message \(number) counts as new twice") }
                seen.insert(number)
                held.append((sequence, number))
            }
        }
        // The process may die right here, after the commit and before anything has left.
        if chance(2) { return schedule(.kill, in: 0...0) }
        for (index, receipt) in receipts.enumerated() {
            step(.stored(receipt, isNew: outcome.sequences[index] != nil))
        }
        if outcome.consumed > 0 { step(.consumed(outcome.consumed)) }
        for (index, message) in change.arrivals.enumerated() {
            if let sequence = outcome.sequences[index] { hand(Int(message.payload[0]), sequence) }
        }
    }

    private mutating func noteConsumed(_ sequence: Int64) {
        guard let index = held.firstIndex(where: { $0.sequence == sequence }) else { return }
        let number = held.remove(at: index).number
        if !consumedNumbers.insert(number).inserted { problems.append("message \(number) was consumed twice") }
    }

    private mutating func kill() throws {
        kills += 1
        life += 1
        deviceLink = -1
        isLinkUp = false
        change = DeviceInbox.Change()
        receipts = []
        isCommitDue = false
        lastHanded = -1
        if let directory {
            inbox.close()
            let file = try FileInbox(path: directory.file("device.db"), seenMax: limits.seenMax)
            let kept = try file.unconsumed().map { "\($0.sequence)/\($0.message.payload[0])" }
            if kept != held.map({ "\($0.sequence)/\($0.number)" }) { problems.append("the file holds \(kept)") }
            if try file.baseToken() != durableToken { problems.append("the file holds another token") }
            inbox = .file(file)
        }
        core = Self.makeCore(limits, token: durableToken, unconsumed: held.count, seed: random.next())
        for (sequence, number) in held { hand(number, sequence) }
        step(.start)
    }

    // MARK: The app

    private mutating func hand(_ number: Int, _ sequence: Int64) {
        if number <= lastHanded { problems.append("message \(number) came after \(lastHanded)") }
        if consumedNumbers.contains(number) { problems.append("message \(number) came again after it was consumed") }
        lastHanded = number
        schedule(.consume(life: life, sequence: sequence), in: 0...(chance(20) ? 30_000_000_000 : 50_000_000))
    }

    // MARK: The server

    private mutating func serverReceived(_ message: DeviceCore.Outgoing) {
        if manner == .mute { return }
        switch message {
        case .connect(let token, _):
            let isRefused = manner == .refusing
            var response = CourierConnectResponse(
                status: isRefused ? 2 : 0, baseToken: token == nil ? exampleBaseToken : nil,
                serverTimeMilliseconds: UInt64(now / 1_000_000))
            if isRefused { response.baseToken = nil }
            reply(response)
        case .filter(let filter):
            isFiltered = filter.enabled.contains(exampleHash)
            serverSends()
        case .tokenRequest(let request):
            if manner == .neverTokens { return }
            reply(CourierTokenResponse(token: exampleAppToken, topicHash: request.topicHash))
        case .keepAlive:
            if manner != .noKeepAlive { reply(CourierKeepAliveResponse()) }
        case .acknowledgement(let answer): acknowledged(answer)
        case .activeState, .keepAliveResponse, .subscription: break
        }
    }

    private mutating func acknowledged(_ answer: CourierAcknowledgement) {
        guard answer.status == 0, let index = flights.firstIndex(where: { $0.messageID == answer.messageID })
        else { return }
        let number = flights.remove(at: index).number
        if !seen.contains(number) { problems.append("message \(number) was acknowledged and is not durable") }
        waiting.removeAll { $0 == number }
        serverSends()
    }

    private mutating func serverSends() {
        guard isLinkUp, isFiltered else { return }
        for number in waiting where !flights.contains(where: { $0.number == number }) {
            if flights.count >= Self.windowMax { return }
            let flight = Flight(number: number, messageID: nextMessageID)
            nextMessageID += 1
            flights.append(flight)
            send(flight)
            if chance(10) { send(flight) }
        }
    }

    private mutating func send(_ flight: Flight) {
        var message = CourierNotification(
            token: exampleAppToken, topicHash: exampleHash, payload: [UInt8(flight.number)],
            messageID: flight.messageID)
        message.pushID = [UInt8](repeating: UInt8(flight.number), count: 16)
        reply(message)
    }

    private mutating func reply(_ message: some CourierMessage) {
        guard let frame = try? message.frame else { return problems.append("a frame cannot be made") }
        scheduleFrame(.device(link: link, .frame(frame)), direction: 1)
    }
}
