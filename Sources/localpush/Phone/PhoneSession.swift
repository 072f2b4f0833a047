internal import PushDevice
internal import PushReactor

/// One phone from start to end: a device of the SDK, whose doings come to the loop of this process to be printed.
/// Loop-bound.
final class PhoneSession {
    struct Plan {
        var configuration: DeviceConfiguration
        /// Ends after so many messages; `nil` for no end.
        var messagesMax: Int?
        /// Ends after this time; `nil` for no end.
        var exitAfter: Duration?
        var text: PhoneText
        /// Ids of broadcast channels to subscribe to, under the first topic.
        var channels: [String] = []
    }

    private enum Occurrence: Sendable {
        case event(DeviceEvent)
        case message(DeviceMessage)
        case failed(DeviceError)
        case key(UInt8)
        case ended
    }

    private let loop: EventLoop
    private let plan: Plan
    private let device: PushDevice
    private var inbox: Inbox<Occurrence>?
    private var deadline: Timer?
    private var keys: KeyReader?
    private var received = 0
    private var isStopping = false
    private var failure: DeviceError?

    init(loop: EventLoop, plan: Plan) {
        self.loop = loop
        self.plan = plan
        device = PushDevice(plan.configuration)
    }

    /// Runs until a signal, the last message, the time limit or a failure; prints as things happen.
    func run() throws(CommandFailure) -> ExitCode {
        let inbox = Inbox<Occurrence>(loop: loop) { [unowned self] in handle($0) }
        self.inbox = inbox
        for signal in TerminationSignal.all { loop.onSignal(signal) { [unowned self] in stop() } }
        if let exitAfter = plan.exitAfter {
            deadline = Timer(loop: loop) { [unowned self] in stop() }
            deadline?.schedule(after: exitAfter)
        }
        keys = KeyReader { inbox.post(.key($0)) }
        Self.listen(to: device, plan.channels, topic: plan.configuration.topics.first ?? "", inbox)
        loop.run()
        keys?.end()
        if let failure { throw CommandFailure(TextQuote.plain(failure.detail)) }
        guard let wanted = plan.messagesMax, received < wanted else { return .done }
        return .no
    }

    private static func listen(
        to device: PushDevice, _ channels: [String], topic: String, _ inbox: Inbox<Occurrence>
    ) {
        Task {
            do throws(DeviceError) {
                try await device.start()
                for channel in channels { try device.subscribe(channel: channel, topic: topic) }
            } catch {
                inbox.post(.failed(error))
            }
        }
        Task { for await event in device.events { inbox.post(.event(event)) } }
        Task { for await message in device.messages { inbox.post(.message(message)) } }
    }

    private func handle(_ occurrence: Occurrence) {
        switch occurrence {
        case .event(let event):
            Terminal.outLine(plan.text.line(event, at: LocalClock.wallMilliseconds))
        case .message(let message): receive(message)
        case .failed(let error):
            failure = error
            stop()
        case .key(let key):
            if key == UInt8(ascii: "q") { stop() }
        case .ended: loop.stop()
        }
    }

    private func receive(_ message: DeviceMessage) {
        // Beyond what was asked for: not acknowledged, so the next run gets it.
        if let wanted = plan.messagesMax, received >= wanted { return }
        Terminal.outLine(plan.text.line(ReceivedPush(message)))
        message.acknowledge()
        received += 1
        if received == plan.messagesMax { stop() }
    }

    private func stop() {
        guard !isStopping, let inbox else { return }
        isStopping = true
        deadline?.cancel()
        let device = device
        Task {
            await device.stop()
            inbox.post(.ended)
        }
    }
}
