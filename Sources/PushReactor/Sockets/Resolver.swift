internal import CPushLibevent
internal import Glibc
internal import Synchronization

/// Resolves names without blocking the loop: a short-lived thread asks the system's resolver, which knows hosts
/// files, search domains and name services, and posts the answer to the loop.
final class Resolver {
    /// Threads at a time; more lookups wait. A resolver that hangs then costs a few threads, not one per connection.
    static let threadsMax = 4

    private struct Answer: Sendable {
        var id: UInt64
        var result: Result<[SocketAddress], ReactorError>
    }

    private struct Question: Sendable {
        var id: UInt64
        var host: String
        var port: UInt16
    }

    private var inbox: Inbox<Answer>?
    private var asked: [UInt64: (Result<[SocketAddress], ReactorError>) -> Void] = [:]
    private var waiting: [Question] = []
    private var running = 0
    private var nextID: UInt64 = 0

    init(loop: EventLoop) {
        inbox = Inbox(loop: loop) { [weak self] answer in self?.answered(answer) }
    }

    /// Calls `body` on the loop, later, once.
    func resolve(
        host: String, port: UInt16, _ body: @escaping (Result<[SocketAddress], ReactorError>) -> Void
    ) {
        nextID += 1
        asked[nextID] = body
        waiting.append(Question(id: nextID, host: host, port: port))
        startWaiting()
    }

    private func answered(_ answer: Answer) {
        running -= 1
        startWaiting()
        asked.removeValue(forKey: answer.id)?(answer.result)
    }

    private func startWaiting() {
        guard let inbox else { return }
        while running < Self.threadsMax && !waiting.isEmpty {
            let question = waiting.removeFirst()
            running += 1
            let started = DetachedThread.start(name: "resolver") {
                inbox.post(Answer(id: question.id, result: Self.ask(question)))
            }
            if let error = started {
                inbox.post(Answer(id: question.id, result: .failure(error)))
            }
        }
    }

    private static func ask(_ question: Question) -> Result<[SocketAddress], ReactorError> {
        do throws(ReactorError) {
            return .success(try SocketAddress.resolve(host: question.host, port: question.port))
        } catch {
            return .failure(error)
        }
    }
}
