import PushHTTP1
import PushReactor
import Synchronization

/// Calls over HTTP from any task, all on one loop of their own.
final class HTTPCaller: Sendable {
    private enum Command: Sendable {
        case send(Int, Call)
        case cancel(Int)
    }

    struct Call: Sendable {
        var port: UInt16
        var method: String
        var target: String
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
        var onChunk: (@Sendable ([UInt8]) -> Void)?
        var done: @Sendable (Result<HTTP1Response, HTTP1Error>) -> Void = { _ in }
    }

    private let thread: LoopThread
    private let door: Inbox<Command>
    private let calls = Atomic(0)

    init() throws {
        (thread, door) = try LoopThread.start(name: "caller") { loop in
            var open: [Int: HTTP1Client] = [:]
            return Inbox<Command>(loop: loop) { command in
                switch command {
                case .cancel(let id): open[id]?.cancel()
                case .send(let id, let call):
                    // No time limit: beside tests that keep all cores busy a wait may take minutes, and the one who runs
                    // the tests ends what hangs.
                    open[id] = HTTP1Client.send(
                        loop: loop, host: "127.0.0.1", port: call.port, method: call.method, target: call.target,
                        headers: call.headers, body: call.body, timeout: nil, onChunk: call.onChunk
                    ) { result in
                        open[id] = nil
                        call.done(result)
                    }
                }
            }
        }
    }

    /// Sends and returns at once; the number is for `cancel`.
    @discardableResult
    func start(_ call: Call) -> Int {
        let id = calls.add(1, ordering: .relaxed).newValue
        door.post(.send(id, call))
        return id
    }

    /// Ends a call's connection.
    func cancel(_ id: Int) { door.post(.cancel(id)) }

    func send(_ call: Call) async throws -> HTTP1Response {
        try await withCheckedThrowingContinuation { continuation in
            var call = call
            call.done = { continuation.resume(with: $0) }
            start(call)
        }
    }

    func stop() { thread.stop() }
}
