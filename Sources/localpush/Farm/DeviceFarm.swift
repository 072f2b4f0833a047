internal import PushBytes
internal import PushCrypto
internal import PushDevice
internal import PushReactor
internal import PushTLS

/// Many simulated phones in one process on one loop, for load. They keep nothing when the process ends. Loop-bound.
final class DeviceFarm {
    struct Plan {
        var target: CourierTarget
        var app: String
        var devices: Int
        var isFlaky: Bool
        var seed: UInt64
        var messagesMax: Int?
        var exitAfter: Duration?
        /// Prints one summary.
        var report: (FarmTally) -> Void
    }

    /// Devices made at a time: a handshake takes about a millisecond of one core, and the loop must stay lively.
    private static let batch = 20
    private static let batchPause: Duration = .milliseconds(10)
    private static let reportPause: Duration = .seconds(1)
    /// A flaky device stays connected for five seconds on average.
    private static let flakyPause: Duration = .milliseconds(100)
    private static let flakyCutsOneIn = 50

    private let loop: EventLoop
    private let deviceLoop: DeviceLoop
    private let plan: Plan
    private let server: DeviceConnection.Server
    private let key: RSAPrivateKey
    private var random: SeededRandom
    private var devices: [FarmDevice] = []
    private var reported: FarmTally?
    private var timers: [Timer] = []
    private var isStopping = false
    var tally = FarmTally()

    init(loop: EventLoop, plan: Plan) throws {
        self.loop = loop
        self.plan = plan
        deviceLoop = DeviceLoop(loop)
        random = SeededRandom(seed: plan.seed)
        key = try RSAPrivateKey(bits: 2048)
        server = try plan.target.server()
    }

    /// Runs until a signal, the last message or the time limit.
    func run() -> ExitCode {
        for signal in TerminationSignal.all { loop.onSignal(signal) { [unowned self] in stop() } }
        every(Self.batchPause) { farm in farm.grow() }
        every(Self.reportPause) { farm in farm.report() }
        if plan.isFlaky { every(Self.flakyPause) { farm in farm.cutSome() } }
        if let exitAfter = plan.exitAfter { after(exitAfter) { farm in farm.stop() } }
        loop.run()
        report()
        if let wanted = plan.messagesMax, tally.received < wanted { return .no }
        return .done
    }

    func received() {
        tally.received += 1
        if let wanted = plan.messagesMax, tally.received >= wanted { stop() }
    }

    private func grow() {
        let count = min(Self.batch, plan.devices - devices.count)
        for _ in 0..<max(0, count) where !isStopping {
            let number = devices.count + 1
            do {
                let identity = try DeviceIdentity(
                    name: "farm-\(number)", key: key, serial: SecureRandom.bytes(16),
                    unixSeconds: loop.wallMilliseconds / 1000)
                let device = FarmDevice(farm: self)
                device.start(on: deviceLoop, server: server, identity: identity, app: plan.app, seed: random.next())
                devices.append(device)
                tally.devices += 1
            } catch {
                tally.lastReason = "\(error)"
            }
        }
    }

    private func cutSome() {
        for device in devices where Int.random(in: 0..<Self.flakyCutsOneIn, using: &random) == 0 { device.cut() }
    }

    private func report() {
        if tally == reported { return }
        reported = tally
        plan.report(tally)
    }

    private func stop() {
        if isStopping { return }
        isStopping = true
        report()
        for device in devices { device.stop() }
        // The last acknowledgements and the closing of connections leave in the turns that follow.
        after(.milliseconds(200)) { farm in farm.loop.stop() }
    }

    private func every(_ pause: Duration, _ body: @escaping (DeviceFarm) -> Void) {
        var timer: Timer?
        timer = Timer(loop: loop) { [unowned self] in
            if isStopping { return }
            body(self)
            timer?.schedule(after: pause)
        }
        if let timer {
            timer.schedule(after: .zero)
            timers.append(timer)
        }
    }

    private func after(_ delay: Duration, _ body: @escaping (DeviceFarm) -> Void) {
        let timer = Timer(loop: loop) { [unowned self] in body(self) }
        timer.schedule(after: delay)
        timers.append(timer)
    }
}

extension CourierTarget {
    /// The same for many devices of one loop.
    func server() throws(CommandFailure) -> DeviceConnection.Server {
        let name: String? =
            switch environment {
            case "sandbox": "courier.sandbox.push.apple.com"
            case "production": "courier.push.apple.com"
            default: nil
            }
        do throws(TLSError) {
            return try DeviceConnection.Server(
                host: address.host, port: address.port, serverName: name, trust: .authorities(pem: ca))
        } catch {
            throw CommandFailure(error.description)
        }
    }
}
