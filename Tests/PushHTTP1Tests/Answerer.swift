import PushBytes
import PushReactor

/// Answers whatever comes with fixed bytes and the end.
final class Answerer: SocketHandler {
    private let answer: String

    init(_ answer: String) { self.answer = answer }

    func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
        socket.output.append(answer)
        socket.close()
    }

    func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) {}
}
