import PushBytes
import Testing

@testable import PushTLS

@Suite struct ForeignBytesTests {
    private func failure(_ bytes: [UInt8], step: Int = .max) throws -> TLSError? {
        let server = try TLSEngine(server: TestIdentity.good.server(["h2"]))
        return failure(of: server, bytes, step)
    }

    private func failure(of engine: TLSEngine, _ bytes: [UInt8], _ step: Int = .max) -> TLSError? {
        var rest = bytes[...]
        var plain = ByteQueue()
        while !rest.isEmpty {
            let part = Array(rest.prefix(step))
            rest = rest.dropFirst(part.count)
            do throws(TLSError) { try engine.receive(part, into: &plain) } catch let error { return error }
        }
        #expect(plain.isEmpty)
        return nil
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "POST /v2/x HTTP/1.1\r\n\r\n", "PUT / HTTP/1.1\r\n\r\n",
        "HEAD / HTTP/1.1\r\n\r\n", "DELETE / HTTP/1.1\r\n\r\n", "PATCH / HTTP/1.1\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]) func plainHTTPIsRecognised(text: String) throws {
        #expect(try failure(Array(text.utf8))?.kind == .plainHTTP)
        #expect(try failure(Array(text.utf8), step: 1)?.kind == .plainHTTP)
    }

    @Test func plainHTTPAnswerIsRecognisedByTheClient() throws {
        let client = try TLSEngine(client: TestIdentity.good.client(), host: "localhost")
        try client.start()
        #expect(failure(of: client, Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))?.kind == .plainHTTP)
    }

    @Test(arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "\0\0\0\0\0\0\0\0\0", "EHLO localhost\r\n", "\u{7}\0\0\0\u{2}\u{1}\0"])
    func otherProtocolsAreNotTLS(text: String) throws {
        #expect(try failure(Array(text.utf8))?.kind == .notTLS)
    }

    @Test func randomBytesNeverEstablishAndNeverCrash() throws {
        for seed in 0..<400 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var bytes = (0..<600).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if seed.isMultiple(of: 2) {
                // A record header, so that the bytes get further in.
                bytes.replaceSubrange(0..<6, with: [22, 3, 1, 1, 0, 1])
            }
            let server = try TLSEngine(server: TestIdentity.goodServer)
            let error = failure(of: server, bytes, Int(random.next() % 40 + 1))
            #expect(error != nil, "seed \(seed)")
            #expect(error?.kind != .other, "seed \(seed): \(String(describing: error))")
            #expect(!server.isEstablished)
        }
    }

    @Test func changedHelloNeverCrashes() throws {
        var established = 0
        for seed in 0..<400 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let pair = try TLSPair()
            var hello = ByteQueue()
            pair.client.drain(into: &hello)
            var bytes = hello.bytes
            bytes[Int(random.next() % UInt64(bytes.count))] ^= UInt8(random.next() & 0xFF)
            _ = failure(of: pair.server, bytes)
            pair.run()
            if pair.client.isEstablished { established += 1 }
            #expect(pair.client.isEstablished == pair.server.isEstablished, "seed \(seed)")
        }
        #expect(established < 100)
    }

    @Test func tooOldTLSIsAProtocolViolation() throws {
        // A ClientHello of TLS 1.0 with one cipher suite and no extensions.
        let body: [UInt8] = [3, 1] + [UInt8](repeating: 9, count: 32) + [0, 0, 2, 0, 0x2F, 1, 0]
        let message: [UInt8] = [1, 0, 0, UInt8(body.count)] + body
        let record: [UInt8] = [22, 3, 1, 0, UInt8(message.count)] + message
        let error = try failure(record)
        #expect(error?.kind == .protocolViolation)
        #expect(error?.reason == "unsupported protocol")
    }
}
