internal import PushReactor
internal import PushTLS
internal import Synchronization

/// Sends pushes to Apple's push service, or to a LocalPush server.
///
/// One connection at a time, opened by the first push and again whenever one is needed; one thread of its own. Pushes
/// wait for the service's stream limit and every `send` ends by the request deadline. Call `shutdown` when done.
/// Thread-safe.
public final class APNsClient: Sendable {
    private let thread: LoopThread
    private let door: Inbox<APNsDriver.Command>
    private let sendsMade = Atomic<UInt64>(0)

    /// Makes a client and its thread; connects to nobody yet.
    /// - Throws: `APNsError` of kind `.badConfiguration` when key, ids, certificate text or limits are unusable.
    public init(_ configuration: APNsConfiguration) throws(APNsError) {
        guard configuration.sendsMax > 0, !configuration.host.isEmpty else {
            throw APNsError(.badConfiguration, "A host is named, and at least one push may wait.")
        }
        let token = try ProviderToken(configuration.credentials)
        let trust: TLSTrust =
            switch configuration.trust {
            case .system: .system
            case .authorities(let pem): .authorities(pem: pem)
            }
        let context: TLSContext
        do {
            context = try TLSContext.client(trust: trust, applicationProtocols: ["h2"])
        } catch {
            throw APNsError(.badConfiguration, "\(error)")
        }
        do {
            (thread, door) = try LoopThread.start(name: "apns-client") { loop in
                let driver = APNsDriver(loop: loop, configuration: configuration, context: context, token: token)
                let door = Inbox<APNsDriver.Command>(loop: loop) { driver.receive($0) }
                driver.door = door
                return door
            }
        } catch {
            throw APNsError(.badConfiguration, "The client's thread does not start: \(error)")
        }
    }

    deinit { door.post(.abandon) }

    /// Sends one push to a device and waits for the service's answer, accepted or not.
    ///
    /// A push the service has verifiably not looked at is sent again by itself; any other is sent once.
    /// - Throws: `APNsError` when there is no answer, `CancellationError` when the task was cancelled.
    public func send(_ notification: APNsNotification, to token: String) async throws -> APNsResponse {
        if let flaw = APNsRequest.flaw(in: notification, token: token) { throw flaw }
        return try await send(.push(notification, token: token))
    }

    /// Does one call about channels and waits for the service's answer. Management has ports of its own: a client for it is
    /// made with that port.
    /// - Throws: as `send` does.
    public func perform(_ call: APNsChannelCall) async throws -> APNsResponse {
        if let flaw = call.flaw { throw flaw }
        return try await send(.channel(call))
    }

    private func send(_ request: APNsDriver.Request) async throws -> APNsResponse {
        try Task.checkCancellation()
        let id = sendsMade.wrappingAdd(1, ordering: .relaxed).newValue
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let send = APNsDriver.Send(request: request, continuation: continuation)
                if !door.post(.send(id, send)) {
                    continuation.resume(throwing: APNsError(.shutDown, "The client was shut down."))
                } else if Task.isCancelled {
                    // The handler below may have run before the push was known.
                    door.post(.cancel(id))
                }
            }
        } onCancel: {
            door.post(.cancel(id))
        }
    }

    /// Takes no more pushes, waits for those under way, says goodbye to the service and ends the thread.
    ///
    /// Takes at most the request deadline, and five seconds for a service that does not close its side. May be called
    /// again.
    public func shutdown() async {
        await withCheckedContinuation { continuation in
            if !door.post(.shutDown(continuation)) { continuation.resume() }
        }
        thread.stop()
    }
}
