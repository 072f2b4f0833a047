import Glibc
import PushHTTP1
import PushReactor
import Testing

/// A server and a client in one loop.
final class World {
    let loop: EventLoop
    private(set) var server: HTTP1Server!
    var seen: [HTTP1Request] = []

    init(bodyBytesMax: Int = 1 << 20, handler: @escaping (HTTP1Exchange) -> Void) throws {
        loop = try EventLoop()
        server = try HTTP1Server(loop: loop, host: "127.0.0.1", port: 0, bodyBytesMax: bodyBytesMax) {
            [unowned self] exchange in
            seen.append(exchange.request)
            handler(exchange)
        }
    }

    deinit { server.close() }

    /// Turns until `condition` holds; gives up after a number of turns, not of seconds.
    func turn(
        turnsMax: Int = 20_000, until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var turns = 0
        while !condition() && turns < turnsMax {
            loop.turn(wait: .milliseconds(20))
            turns += 1
        }
        #expect(condition(), "it happened within \(turnsMax) turns", sourceLocation: sourceLocation)
    }

    func send(
        _ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration? = .seconds(60), onChunk: (([UInt8]) -> Void)? = nil,
        completion: @escaping (Result<HTTP1Response, HTTP1Error>) -> Void
    ) -> HTTP1Client {
        HTTP1Client.send(
            loop: loop, host: "127.0.0.1", port: server.port, method: method, target: target, headers: headers,
            body: body, timeout: timeout, onChunk: onChunk, completion: completion)
    }

    /// Sends and waits.
    func call(
        _ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration? = .seconds(60)
    ) throws -> HTTP1Response {
        var outcome: Result<HTTP1Response, HTTP1Error>?
        _ = send(method, target, headers: headers, body: body, timeout: timeout) {
            #expect(outcome == nil, "the completion is called once")
            outcome = $0
        }
        turn { outcome != nil }
        return try #require(outcome).get()
    }

    /// Sends raw bytes on `client` and turns until what came back satisfies `isComplete`, or the end.
    func exchange(_ client: RawClient, _ text: String, until isComplete: (String) -> Bool = { _ in false }) -> String {
        client.write(text)
        var bytes: [UInt8] = []
        turn { client.collect(into: &bytes) || isComplete(String(decoding: bytes, as: UTF8.self)) }
        return String(decoding: bytes, as: UTF8.self)
    }
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

    /// Appends what is there; true once the peer has ended.
    func collect(into bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(fd, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count == 0 { return true }
            if count < 0 { return errno != EAGAIN }
            bytes += buffer[..<count]
        }
    }

    func halfClose() { shutdown(fd, Int32(SHUT_WR)) }

    func end() {
        if fd >= 0 { close(fd) }
        fd = -1
    }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
