internal import PushBytes
internal import PushCourier
internal import PushReactor
internal import Synchronization

/// A device that receives pushes from a courier: what a phone is to Apple's service, as a Linux process.
///
/// It connects, reconnects and keeps what arrives until the app acknowledges it, on a thread of its own. Every method
/// may be called from any thread or task. Call `stop()` when you are done: a device that is only let go runs on.
///
///     let device = PushDevice(DeviceConfiguration(trust: .authorities(pem: ca), topics: ["com.example.app"]))
///     try await device.start()
///     print(try await device.token(for: "com.example.app"))
///     for await message in device.messages {
///         handle(message.payload)
///         message.acknowledge()
///     }
public final class PushDevice: Sendable {
    /// Messages in the order in which they came, each once; first those that an earlier run left unacknowledged. Ends
    /// with `stop()`. For one consumer. Bounded by `DeviceLimits.unconsumedMax`.
    public let messages: AsyncStream<DeviceMessage>
    /// What happens to the connection. Ends with `stop()`. For one consumer; a consumer that is 256 events behind
    /// loses the oldest.
    public let events: AsyncStream<DeviceEvent>

    private let configuration: DeviceConfiguration
    private let messageSource: AsyncStream<DeviceMessage>.Continuation
    private let eventSource: AsyncStream<DeviceEvent>.Continuation
    private let state = Mutex(State.new)
    private let nextRequest = Atomic<UInt64>(1)

    private enum State {
        case new
        case starting
        case running(LoopThread, Inbox<DeviceDriver.Command>)
        case stopped
    }

    /// Nothing happens before `start()`.
    public init(_ configuration: DeviceConfiguration) {
        self.configuration = configuration
        (messages, messageSource) = AsyncStream.makeStream()
        (events, eventSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    /// Opens the state directory, makes an identity if there is none, and begins to connect; returns without waiting
    /// for the connection. A device starts once: for another run make another one.
    ///
    /// Throws `configuration`, `trust`, `stateDirectory` or `system`; the device is then stopped.
    public func start() async throws(DeviceError) {
        try configuration.check()
        try state.withLock { (state) throws(DeviceError) in
            guard case .new = state else { throw DeviceError(.stopped, "a device is started once") }
            state = .starting
        }
        let thread: LoopThread
        let door: Inbox<DeviceDriver.Command>
        do {
            (thread, door) = try startThread()
        } catch {
            state.withLock { $0 = .stopped }
            throw DeviceError(.system, "cannot start a thread: \(error)")
        }
        state.withLock { $0 = .running(thread, door) }
        let opened = await Reply.wait { door.post(.open($0)) }
        if case .failure(let error) = opened {
            await stop()
            throw error
        }
    }

    private func startThread() throws -> (LoopThread, Inbox<DeviceDriver.Command>) {
        let configuration = configuration
        let messageSource = messageSource
        let eventSource = eventSource
        return try LoopThread.start(name: "push-device") { loop in
            let driver = DeviceDriver(
                loop: loop, configuration: configuration, messages: messageSource, events: eventSource)
            let door = Inbox<DeviceDriver.Command>(loop: loop) { driver.handle($0) }
            driver.door = door
            return door
        }
    }

    /// The app's token on this device, as 64 hex digits: what a provider puts into its requests.
    ///
    /// Waits for the server, at most `timeout` (default 30 seconds), through reconnects. Throws `timedOut` with the
    /// last reason of a disconnect, `refused` when the server refuses or is not to be trusted, `configuration` for
    /// a topic that the device does not listen to, `stopped` after `stop()` or when the task is cancelled.
    public func token(for topic: String, timeout: Duration = .seconds(30)) async throws(DeviceError) -> String {
        guard let door else { throw Self.stoppedError }
        let id = nextRequest.add(1, ordering: .relaxed).oldValue
        let result = await withTaskCancellationHandler {
            await Reply.wait { reply in
                door.post(
                    .token(DeviceDriver.TokenRequest(id: id, topic: topic, timeout: timeout, reply: reply)))
                // A cancellation from before the request would overtake it.
                if Task.isCancelled { door.post(.cancelToken(id)) }
            }
        } onCancel: {
            door.post(.cancelToken(id))
        }
        return try result.get()
    }

    /// Listens to these topics and no others from now on. Throws `configuration` or `stopped`.
    public func setTopics(_ topics: [String]) throws(DeviceError) {
        try DeviceConfiguration.check(topics)
        guard let door, door.post(.setTopics(topics)) else { throw Self.stoppedError }
    }

    /// Listens to a broadcast channel from now on, through reconnects: the app's Live Activities are updated by it.
    ///
    /// `channel` is the id in base64 that its creator was told, `topic` one of this device's topics, of the channel's app.
    /// The server keeps the subscription until `unsubscribe`, even while the device is away; `events` tells its answer. What
    /// the channel has stored comes at once, unless this device has it. Throws `configuration` or `stopped`.
    public func subscribe(channel: String, topic: String) throws(DeviceError) {
        let id = try Self.channelID(channel)
        try DeviceConfiguration.check([topic])
        guard let door, door.post(.subscribe(id, name: channel, topic: topic)) else { throw Self.stoppedError }
    }

    /// Listens to the channel no more. Throws `configuration` or `stopped`.
    public func unsubscribe(channel: String) throws(DeviceError) {
        let id = try Self.channelID(channel)
        guard let door, door.post(.unsubscribe(id)) else { throw Self.stoppedError }
    }

    private static func channelID(_ text: String) throws(DeviceError) -> [UInt8] {
        guard let id = Base64.decode(text), (1...CourierChannel.idBytesMax).contains(id.count) else {
            throw DeviceError(.configuration, "the id of a channel is base64 for 1 to 64 bytes")
        }
        return id
    }

    /// Closes the connection in order, keeps what was acknowledged up to now, and ends both sequences; returns when
    /// the device's thread has ended. Messages that were not acknowledged come again with the next run. Harmless when
    /// repeated.
    public func stop() async {
        let former = state.withLock { state -> State in
            let former = state
            state = .stopped
            return former
        }
        guard case .running(let thread, let door) = former else {
            messageSource.finish()
            eventSource.finish()
            return
        }
        // An answer that says it is stopped already is as good.
        _ = await Reply.wait { door.post(.stop($0)) }
        thread.stop()
    }

    private var door: Inbox<DeviceDriver.Command>? {
        state.withLock { if case .running(_, let door) = $0 { door } else { nil } }
    }

    private static var stoppedError: DeviceError { DeviceError(.stopped, "the device is not running") }
}
