/// Why a socket is no more.
package enum SocketCloseReason: Sendable, Equatable {
    /// The peer ended its side first, and we closed ours.
    case endOfFile
    /// The connection was never made, or broke: reset by the peer, timed out, unreachable.
    case failed(ReactorError)
    /// We closed it.
    case local
}

/// How a socket is closed.
package enum CloseKind: Sendable {
    /// In order: what is in `output` still goes out, then FIN; the peer gets `Socket.lingerMax` to take it.
    case fin
    /// At once with RST; what waits in `output` is lost.
    case reset
}

/// Who is told what happens on a socket. Every call comes on the loop; any socket may be closed from within any.
///
/// A socket holds its handler from its making until `socketDidClose` has returned, and calls nothing after that.
package protocol SocketHandler: AnyObject {
    /// A socket made by `Socket.connect` is connected. Accepted sockets are from the start and do not say so.
    func socketDidConnect(_ socket: Socket)
    /// Bytes arrived, at most `EventLoop.readBytesMax`; they are gone when the call returns.
    func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>)
    /// The peer will send no more. Unless overridden, closes the socket after its output has gone out; who overrides
    /// it may go on sending and calls `close` later.
    func socketDidReachEnd(_ socket: Socket)
    /// The output is empty again after the peer was too slow to take all of it at once. Called in phase `.flush`.
    func socketDidDrain(_ socket: Socket)
    /// The last call, exactly once, never from within `close`: in phase `.sweep`.
    func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason)
}

extension SocketHandler {
    package func socketDidConnect(_ socket: Socket) {}
    package func socketDidReachEnd(_ socket: Socket) { socket.close() }
    package func socketDidDrain(_ socket: Socket) {}
}
