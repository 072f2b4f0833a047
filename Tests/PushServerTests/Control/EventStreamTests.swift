import Glibc
import PushCore
import PushHTTP1
import PushReactor
import PushStore
import Testing

@testable import PushServer

/// A stream whose reader is slow.
@Suite struct EventStreamTests {
    private static let eventCount: Int64 = 60_000

    private static func service() throws -> PushService {
        let store = try PushStore(.temporary)
        for sequence in 1...eventCount {
            store.add(JournalEvent(sequence: sequence, milestone: .connected, push: 0, device: 1, at: 0, detail: 0))
        }
        try store.commit()
        return try PushService(
            store: store, setup: ServiceSetup(), secret: [UInt8](repeating: 1, count: 32),
            now: Moment(monotonicMilliseconds: 0, unixMilliseconds: 0))
    }

    @Test func aReaderThatPausesCostsLittleAndMissesNothing() throws {
        let service = try Self.service()
        let loop = try EventLoop()
        var exchange: HTTP1Exchange?
        var stream: EventStream?
        let server = try HTTP1Server(loop: loop, host: "127.0.0.1", port: 0) { arrived in
            exchange = arrived
            stream = EventStream(arrived, service: service, loop: loop, after: 0) { _ in nil }
            stream?.begin()
        }
        defer { server.close() }
        let reader = try SlowReader(port: server.port)
        defer { reader.close() }
        reader.ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")

        // Until it holds back: 60,000 lines have more than 6 MB.
        var mostWaiting = 0
        for _ in 0..<2000 where mostWaiting < EventStream.bytesWaitingMax {
            loop.turn(wait: .milliseconds(20))
            mostWaiting = max(mostWaiting, exchange?.streamBytesWaiting ?? 0)
        }
        for _ in 0..<50 {
            stream?.advance()
            loop.turn(wait: .zero)
            mostWaiting = max(mostWaiting, exchange?.streamBytesWaiting ?? 0)
        }
        #expect(mostWaiting >= EventStream.bytesWaitingMax)
        #expect(mostWaiting < EventStream.bytesWaitingMax + 200 * EventStream.linesPerTurnMax)
        #expect(exchange?.isOpen == true)

        var turns = 0
        while reader.ids.count < Self.eventCount && turns < 20_000 {
            loop.turn(wait: .milliseconds(1))
            reader.read()
            turns += 1
        }
        #expect(reader.ids == Array(1...Self.eventCount))
    }
}

/// A client that reads only when it is told to, with a small window.
private final class SlowReader {
    private let fd: Int32
    /// Of the events that came.
    private(set) var ids: [Int64] = []
    private var unread: [UInt8] = []

    init(port: UInt16) throws {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var small: Int32 = 4096
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw ReactorError(operation: "connect", errno: errno) }
        _ = fcntl(fd, F_SETFL, O_NONBLOCK)
    }

    func ask(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { write(fd, $0.baseAddress, $0.count) } }

    /// Takes what is there now.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(fd, $0.baseAddress, $0.count, 0) }
            if count <= 0 { break }
            unread += buffer.prefix(count)
        }
        guard let end = unread.lastIndex(of: 0x0A) else { return }
        for line in unread[...end].split(separator: 0x0A) where line.starts(with: "id: ".utf8) {
            ids.append(Int64(String(decoding: line.dropFirst(4), as: UTF8.self)) ?? 0)
        }
        unread.removeSubrange(...end)
    }

    func close() { Glibc.close(fd) }
}
