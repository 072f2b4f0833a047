import Glibc
import PushBytes
import PushReactor
import Testing

/// A handler that records what it hears and hands it to closures.
final class Recorder: SocketHandler {
    var connects = 0
    var bytes: [UInt8] = []
    var ends = 0
    var drains = 0
    var closes: [SocketCloseReason] = []
    var onReceive: ((Socket) -> Void)?
    var onConnect: ((Socket) -> Void)?
    var onDrain: ((Socket) -> Void)?
    var onClose: ((Socket) -> Void)?
    /// When set, the peer's end does not close the socket.
    var onEnd: ((Socket) -> Void)?
    var isEcho = false
    var keepsBytes = true
    var received = 0

    func socketDidConnect(_ socket: Socket) {
        #expect(closes.isEmpty)
        connects += 1
        onConnect?(socket)
    }

    func socketDidReceive(_ socket: Socket, _ bytes: Span<UInt8>) {
        #expect(closes.isEmpty && bytes.count <= EventLoop.readBytesMax)
        received += bytes.count
        if isEcho {
            socket.output.append(bytes)
            socket.wantsFlush()
        }
        if keepsBytes { bytes.withUnsafeBufferPointer { self.bytes.append(contentsOf: $0) } }
        onReceive?(socket)
    }

    func socketDidReachEnd(_ socket: Socket) {
        ends += 1
        if let onEnd { onEnd(socket) } else { socket.close() }
    }

    func socketDidDrain(_ socket: Socket) {
        #expect(closes.isEmpty && socket.output.isEmpty)
        drains += 1
        onDrain?(socket)
    }

    func socketDidClose(_ socket: Socket, _ reason: SocketCloseReason) {
        closes.append(reason)
        onClose?(socket)
    }
}

/// A listener whose connections all go to handlers made by `make`.
final class TestServer {
    let loop: EventLoop
    private(set) var listener: Listener!
    private(set) var sockets: [Socket] = []
    private(set) var handlers: [Recorder] = []

    init(_ loop: EventLoop, host: String = "127.0.0.1", sendBuffer: Int32? = nil, make: @escaping () -> Recorder)
        throws
    {
        self.loop = loop
        listener = try Listener(loop: loop, host: host, port: 0) { [unowned self, unowned loop] fd in
            if let sendBuffer { setSendBuffer(fd, sendBuffer) }
            let handler = make()
            handlers.append(handler)
            sockets.append(Socket(loop: loop, accepted: fd, handler: handler))
        }
    }

    var port: UInt16 { listener.port }
}

/// A small send buffer makes short writes; a small receive buffer would make the kernel wait for its probe timer.
func setSendBuffer(_ fd: Int32, _ size: Int32) {
    var size = size
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, 4)
}

/// Turns until `condition` holds; gives up after a number of turns, not of seconds.
func turn(
    _ loop: EventLoop, turnsMax: Int = 200_000, until condition: () -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    var turns = 0
    while !condition() && turns < turnsMax {
        loop.turn(wait: .milliseconds(100))
        turns += 1
    }
    #expect(condition(), "it happened within \(turnsMax) turns", sourceLocation: sourceLocation)
}

/// A blocking client socket, to play a peer without manners.
final class RawClient {
    private(set) var fd: Int32

    init(port: UInt16) {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let fd = fd
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(result == 0)
    }

    deinit { end() }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(send(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    /// What is there now; nil at the end, `[]` when nothing is there yet.
    func readNow() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(fd, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { return Array(buffer[..<count]) }
        return count == 0 ? nil : []
    }

    /// The code of a failed read, 0 otherwise.
    func readError() -> Int32 {
        var byte: UInt8 = 0
        return recv(fd, &byte, 1, Int32(MSG_DONTWAIT)) < 0 ? errno : 0
    }

    func halfClose() { shutdown(fd, Int32(SHUT_WR)) }

    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        end()
    }

    func end() {
        if fd >= 0 { close(fd) }
        fd = -1
    }
}

/// Open descriptors of this process that are sockets on `port`, at either end. Counting all of /proc/self/fd would
/// count those of tests that run beside this one.
func descriptorsOnPort(_ port: UInt16) -> Int {
    guard let folder = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard let fd = Int32(name) else { continue }
        let ports = [getsockname, getpeername].map { ask in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(fd, $0, &length) }
            }
            return result == 0 && address.sin_family == AF_INET ? UInt16(bigEndian: address.sin_port) : 0
        }
        if ports.contains(port) { count += 1 }
    }
    return count
}

extension RawClient {
    /// Appends what is there; true once the peer has ended.
    func collect(into bytes: inout [UInt8]) -> Bool {
        while let some = readNow() {
            if some.isEmpty { return false }
            bytes += some
        }
        return true
    }
}
