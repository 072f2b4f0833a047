import Foundation
import PushBytes
import PushCourier
import PushTLS
import Testing

/// Every listener gets what it never asked for; afterwards the server is as well as before.
@Suite(.serialized) struct BadInputTests {
    private let server: FaultServer
    private let token: String
    private let authority: String
    private let descriptors: Int
    private static let surfaces = ["apns", "courier", "http", "https"]
    private static let plainRequest = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    init() throws {
        server = try FaultServer(["--profile", "ideal"])
        token = try FaultPhone.register(server)
        authority = try server.text(ofFile: "ca")
        try RawProvider(server, token: token).send(0..<1)
        // The connections of the lines above may still be closing.
        var last = -1
        while last != server.descriptorCount {
            last = server.descriptorCount
            usleep(300_000)
        }
        descriptors = last
    }

    private func context(_ protocols: String...) throws -> TLSContext {
        try TLSContext.client(trust: .authorities(pem: authority), applicationProtocols: protocols)
    }

    private func courier() throws -> RawClient {
        try RawClient(port: server.port("courier"), context: try context("apns-security-v3"))
    }

    private func http2() throws -> RawClient { try RawClient(port: server.port("apns"), context: try context("h2")) }

    /// The server runs, takes a push, and holds no file and not much memory that it did not hold before.
    private func expectWell(_ memoryBefore: Int, growthMax: Int = 24 << 20) throws {
        #expect(server.isHealthy)
        let provider = try RawProvider(server, token: token)
        try provider.send(1..<2)
        #expect(provider.accepted == [1])
        provider.client.close()
        #expect(server.waitForDescriptors(atMost: descriptors), "\(server.descriptorNames), before \(descriptors)")
        let growth = server.residentBytes - memoryBefore
        #expect(growth < growthMax, "grew by \(growth) bytes")
    }

    @Test func plainHTTPOnATLSPortIsAnsweredReadably() throws {
        let memory = server.residentBytes
        for _ in 0..<20 {
            for surface in ["apns", "courier"] {
                let client = try RawClient(port: server.port(surface))
                try client.send(Self.plainRequest)
                let answer = String(decoding: try client.receiveAll(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 400 "))
                #expect(answer.contains("TLS"))
            }
            let client = try RawClient(port: server.port("https"))
            try client.send(Self.plainRequest)
            #expect(try client.receiveAll().count < 1000)
        }
        try expectWell(memory)
    }

    @Test func randomBytesEndTheConnectionOnEveryPort() throws {
        let memory = server.residentBytes
        let seed = UInt64.random(in: 0...UInt64.max)
        print("SEED=\(seed)")
        var random = SeededRandom(seed: seed)
        for surface in Self.surfaces {
            for _ in 0..<50 {
                let client = try RawClient(port: server.port(surface))
                let bytes = (0..<Int.random(in: 1...5000, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                // The server may have closed before it has all.
                try? client.send(bytes)
                shutdown(client.fd, Int32(SHUT_WR))
                _ = try client.receiveAll()
            }
        }
        try expectWell(memory)
    }

    @Test func aHandshakeThatNeverEndsIsEndedByTheServer() throws {
        let hello = try RawClient.hello(try context("h2"))
        let ports = ["apns", "courier"].map(server.port)
        let silent = try ports.map { try RawClient(port: $0) }
        for client in silent { try client.send(Array(hello.prefix(hello.count / 2))) }
        // One that gives a byte now and then is no better.
        let dripping = try ports.map { try RawClient(port: $0) }
        var turn = 0
        let ended = try eventually {
            if turn % 20 == 0 && turn / 20 < hello.count - 1 {
                for client in dripping where !client.isEnded { try? client.send([hello[turn / 20]]) }
            }
            turn += 1
            for client in silent + dripping where !client.isEnded { _ = try client.receive(waits: false) }
            return (silent + dripping).allSatisfy(\.isEnded)
        }
        #expect(ended)
        for client in silent + dripping { client.close() }
        try expectWell(server.residentBytes)
    }

    @Test func halvesOfHandshakesThatAreCutLeaveNothingBehind() throws {
        let memory = server.residentBytes
        let hello = try RawClient.hello(try context("h2", "apns-security-v3", "http/1.1"))
        for length in stride(from: 1, to: hello.count, by: 7) {
            for surface in Self.surfaces {
                let client = try RawClient(port: server.port(surface))
                try client.send(Array(hello.prefix(length)))
                client.close(linger: length % 2 == 0)
            }
        }
        try expectWell(memory)
    }

    @Test func tlsOnThePlainPortIsAnsweredOrClosed() throws {
        let client = try RawClient(port: server.port("http"))
        try client.send(try RawClient.hello(try context("http/1.1")))
        shutdown(client.fd, Int32(SHUT_WR))
        #expect(try client.receiveAll().count < 1000)
        try expectWell(server.residentBytes)
    }

    @Test func brokenCourierFramesEndTheirConnection() throws {
        let memory = server.residentBytes
        var filter = CourierFilter(baseToken: [UInt8](repeating: 1, count: 32))
        filter.enabled = (0..<100_000).map { number in
            (0..<20).map { UInt8(truncatingIfNeeded: number >> ($0 % 3 * 8)) }
        }
        var large = ByteQueue()
        filter.write(into: &large)
        let inputs: [[UInt8]] = [
            [0x07, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3],
            [0x09, 0, 0, 0, 3, 1, 0, 9],
            [0x07, 0, 0, 0, 0],
            [0xEE, 0, 0, 0, 0],
            large.bytes,
        ]
        for input in inputs {
            let client = try courier()
            // The server ends a large one in its middle.
            try? client.send(input)
            _ = try client.receiveAll()
        }
        for cut in 0..<200 {
            let client = try courier()
            try client.send(Array(([0x07, 0, 0, 2, 0] + [UInt8](repeating: 0, count: 512)).prefix(cut)))
            client.close(linger: cut % 2 == 0)
        }
        try expectWell(memory)
    }

    @Test func garbageInsideTLSEndsAProvidersConnectionWithAGoodbye() throws {
        let memory = server.residentBytes
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        // HEADERS without an end, and CONTINUATIONs without an end behind it.
        var endless: [UInt8] = [0, 0, 0, 1, 1, 0, 0, 0, 1]
        for _ in 0..<2000 { endless += [0, 0, 100, 9, 0, 0, 0, 0, 1] + [UInt8](repeating: 0x82, count: 100) }
        var pings: [UInt8] = []
        for _ in 0..<20_000 { pings += [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8] }
        let inputs: [[UInt8]] = [
            Self.plainRequest, preface + [UInt8](repeating: 0xFF, count: 4096),
            preface + settings + [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1], preface + settings + endless,
        ]
        for input in inputs {
            let client = try http2()
            try? client.send(input)
            let answer = try client.receiveAll()
            #expect(answer.count < 100_000)
        }
        // Answers that nobody takes.
        let client = try http2()
        try? client.send(preface + settings + pings)
        client.close(linger: false)
        try expectWell(memory)
    }

    @Test func tooLargeHeadersAndBodiesAreRefusedForThemselves() throws {
        let memory = server.residentBytes
        let provider = try RawProvider(server, token: token)
        try provider.submit(10, extra: [("x-large", String(repeating: "h", count: 20_000))])
        try provider.submit(11, body: [UInt8](repeating: 0x20, count: 10 << 20))
        try provider.submit(12)
        while !provider.open.isEmpty {
            try provider.flush()
            try provider.receive()
        }
        #expect(provider.ended.map(\.number) == [10])
        #expect(provider.refused.map(\.status) == [413])
        #expect(provider.refused.map(\.body) == [#"{"reason":"PayloadTooLarge"}"#])
        #expect(provider.accepted == [12])
        provider.client.close()
        for (length, status) in [(10 << 20, 404), (11 << 20, 413)] {
            let client = try RawClient(port: server.port("http"))
            try? client.send(
                Array("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(length)\r\n\r\n".utf8))
            try? client.send([UInt8](repeating: 0x20, count: length))
            #expect(String(decoding: try client.receiveAll().prefix(12), as: UTF8.self) == "HTTP/1.1 \(status)")
        }
        let client = try RawClient(port: server.port("http"))
        try? client.send(Array("GET / HTTP/1.1\r\nX: \(String(repeating: "h", count: 40_000))\r\n\r\n".utf8))
        #expect(String(decoding: try client.receiveAll().prefix(12), as: UTF8.self) == "HTTP/1.1 400")
        try expectWell(memory, growthMax: 64 << 20)
    }
}
