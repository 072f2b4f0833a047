import PushBytes
import PushCourier
import PushCrypto
import PushDevice
import PushSQLite

/// A phone: the SDK's own core and inbox, with the wire in memory. What it keeps survives its crashes.
final class SimulatedPhone {
    static let key: RSAPrivateKey = {
        guard let key = try? RSAPrivateKey(bits: 2048) else { preconditionFailure("a key can be made") }
        return key
    }()

    enum LinkWish { case none, open, close }

    let identity: DeviceIdentity
    private(set) var received: [InboxMessage] = []
    private(set) var token: String?
    private(set) var problems: [String] = []
    /// Frames on their way out.
    var output = ByteQueue()
    /// What the core wants of the link; the world grants it.
    private(set) var wish = LinkWish.none

    private var core: DeviceCore
    private var decoder = CourierDecoder()
    private var inbox = DeviceInbox.memory(MemoryInbox(seenMax: 10_000))
    private var baseToken: [UInt8]?
    private var change = DeviceInbox.Change()
    private var receipts: [Arrival.Receipt] = []
    private var seed: UInt64

    init(seed: UInt64, unixSeconds: Int64) {
        self.seed = seed
        do {
            identity = try DeviceIdentity(
                name: "simulated", key: Self.key, serial: [1, 2, 3, 4, 5, 6, 7, 8], unixSeconds: unixSeconds)
        } catch {
            preconditionFailure("a certificate can be made: \(error)")
        }
        core = DeviceCore(topics: [DeviceTopic("com.example.app")], seed: seed)
    }

    var isOnline: Bool { core.isOnline }
    var nextDeadline: Int64? { core.nextDeadline }

    func start(_ now: DeviceCore.Moment) { step(.start, now) }

    func grantWish() { wish = .none }

    func linkOpened(_ now: DeviceCore.Moment) {
        decoder = CourierDecoder()
        output.removeAll()
        step(.connected, now)
    }

    func linkLost(_ now: DeviceCore.Moment) {
        output.removeAll()
        step(.disconnected(DisconnectReason(.connectionFailed, "cut")), now)
    }

    func receive(_ bytes: Span<UInt8>, _ now: DeviceCore.Moment) {
        decoder.receive(bytes)
        do {
            while let frame = try decoder.next() { step(.frame(frame), now) }
        } catch {
            problems.append("the server broke the framing: \(error)")
        }
    }

    func timePassed(_ now: DeviceCore.Moment) {
        if let deadline = core.nextDeadline, deadline <= now.nanoseconds { step(.timer, now) }
    }

    /// One commit for what came in the turn; only then is it acknowledged.
    func endTurn(_ now: DeviceCore.Moment) {
        guard !change.isEmpty else { return }
        let kept = change
        let toAnswer = receipts
        change = DeviceInbox.Change()
        receipts = []
        guard let outcome = try? inbox.commit(kept) else { return }
        if let token = kept.baseToken { baseToken = token }
        for (index, message) in kept.arrivals.enumerated() {
            if let sequence = outcome.sequences[index] {
                received.append(message)
                change.consumed.append(sequence)
            }
            step(.stored(toAnswer[index], isNew: outcome.sequences[index] != nil), now)
        }
        if outcome.consumed > 0 { step(.consumed(outcome.consumed), now) }
    }

    /// The process is killed: what was not committed is gone; the next start begins from what was.
    func crash(_ now: DeviceCore.Moment) {
        change = DeviceInbox.Change()
        receipts = []
        output.removeAll()
        wish = .none
        seed = SeededRandom.mix(seed)
        core = DeviceCore(topics: [DeviceTopic("com.example.app")], baseToken: baseToken, seed: seed)
        step(.start, now)
    }

    private func step(_ input: DeviceCore.Input, _ now: DeviceCore.Moment) {
        var outputs: [DeviceCore.Output] = []
        core.step(input, now: now, into: &outputs)
        for output in outputs { perform(output) }
    }

    private func perform(_ output: DeviceCore.Output) {
        switch output {
        case .connect: wish = .open
        case .disconnect: wish = .close
        case .write(let message): write(message)
        case .store(let arrival):
            change.arrivals.append(arrival.message)
            receipts.append(arrival.receipt)
        case .saveBaseToken(let token): change.baseToken = .some(token)
        case .event(.token(_, let text)): token = text
        case .event: break
        }
    }

    private func write(_ message: DeviceCore.Outgoing) {
        switch message {
        case .connect(let baseToken, let clock):
            let frame = try? identity.connectFrame(
                baseToken: baseToken, clockMilliseconds: clock, random: [UInt8](repeating: 7, count: 8))
            frame?.write(into: &output)
        case .filter(let filter): filter.write(into: &output)
        case .tokenRequest(let request): request.write(into: &output)
        case .subscription(let subscription): subscription.write(into: &output)
        case .activeState(let state): state.write(into: &output)
        case .acknowledgement(let acknowledgement): acknowledgement.write(into: &output)
        case .keepAlive: CourierKeepAlive().write(into: &output)
        case .keepAliveResponse: CourierKeepAliveResponse().write(into: &output)
        }
    }
}
