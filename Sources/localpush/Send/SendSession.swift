internal import PushProvider
internal import PushReactor

/// Sends pushes through the provider SDK; its answers come to the loop of this process to be printed. Loop-bound.
final class SendSession {
    struct Plan {
        var configuration: APNsConfiguration
        var message: Message
        var count: Int
        /// Pushes a second; `nil` for as fast as answers come.
        var rate: Double?
        /// Prints one result.
        var report: (SendResult) -> Void
    }

    /// To one device, or to all that listen to a channel.
    enum Message: Sendable {
        case push(APNsNotification, token: String)
        case broadcast(APNsChannelCall)
    }

    /// Pushes under way at a time: enough to fill one connection, and below the service's limit of streams.
    private static let inFlightMax = 500

    private enum Occurrence: Sendable {
        case result(SendResult)
        case done
    }

    private let loop: EventLoop
    private let plan: Plan
    private var inbox: Inbox<Occurrence>?
    private var tally = SendTally()

    init(loop: EventLoop, plan: Plan) {
        self.loop = loop
        self.plan = plan
    }

    /// Returns when all are answered, or earlier at a signal.
    func run() throws(CommandFailure) -> SendTally {
        let client: APNsClient
        do throws(APNsError) {
            client = try APNsClient(plan.configuration)
        } catch {
            throw CommandFailure(TextQuote.plain(error.message))
        }
        let inbox = Inbox<Occurrence>(loop: loop) { [unowned self] in handle($0) }
        self.inbox = inbox
        let work = Self.work(client, plan.message, count: plan.count, rate: plan.rate, inbox)
        for signal in TerminationSignal.all { loop.onSignal(signal) { work.cancel() } }
        loop.run()
        return tally
    }

    private func handle(_ occurrence: Occurrence) {
        switch occurrence {
        case .result(let result):
            tally.add(result)
            plan.report(result)
        case .done: loop.stop()
        }
    }

    private static func work(
        _ client: APNsClient, _ message: Message, count: Int, rate: Double?,
        _ inbox: Inbox<Occurrence>
    ) -> Task<Void, Never> {
        Task {
            let start = ContinuousClock.now
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    if number >= inFlightMax { await group.next() }
                    if let rate {
                        let due = start + .seconds(Double(number) / rate)
                        try? await Task.sleep(until: due, clock: .continuous)
                    }
                    if Task.isCancelled { break }
                    group.addTask {
                        inbox.post(.result(await send(client, message)))
                    }
                }
            }
            await client.shutdown()
            inbox.post(.done)
        }
    }

    private static func send(_ client: APNsClient, _ message: Message) async -> SendResult {
        do {
            let response =
                switch message {
                case .push(let notification, let token): try await client.send(notification, to: token)
                case .broadcast(let call): try await client.perform(call)
                }
            return SendResult(
                id: response.apnsID, status: response.status, reason: response.reason?.rawValue,
                timestampMilliseconds: response.timestampMilliseconds)
        } catch let error as APNsError {
            return SendResult(failure: error.message)
        } catch {
            return SendResult(failure: "interrupted")
        }
    }
}
