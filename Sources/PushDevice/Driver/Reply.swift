internal import Synchronization

/// The way back for one answer to a task that waits. An answer that nobody gives, because the loop ended before it saw
/// the question, becomes `stopped`: no task waits for ever.
final class Reply<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Result<Value, DeviceError>, Never>?>

    init(_ continuation: CheckedContinuation<Result<Value, DeviceError>, Never>) {
        self.continuation = Mutex(continuation)
    }

    deinit {
        answer(.failure(DeviceError(.stopped, "the device was stopped")))
    }

    /// Later answers are ignored.
    func answer(_ result: Result<Value, DeviceError>) {
        continuation.withLock { $0.take() }?.resume(returning: result)
    }

    /// Calls `ask` with a reply and waits for the answer.
    static func wait(_ ask: (Reply<Value>) -> Void) async -> Result<Value, DeviceError> {
        await withCheckedContinuation { ask(Reply($0)) }
    }
}
