import PushBytes
import PushCrypto
import Testing

@testable import PushTLS

@Suite struct HandshakeTests {
    @Test func handshakeIsDoneAndTLS13IsUsed() throws {
        let pair = try TLSPair()
        pair.run()
        #expect(pair.client.isEstablished && pair.server.isEstablished)
        #expect(pair.clientError == nil && pair.serverError == nil)
        #expect(pair.client.protocolVersion == "TLSv1.3")
    }

    @Test func handshakeMayBeSplitAfterEachByte() throws {
        for step in 1...64 {
            let pair = try TLSPair()
            try pair.client.send(Array("early".utf8))
            pair.run(step: step)
            #expect(pair.client.isEstablished && pair.server.isEstablished, "step \(step)")
            #expect(pair.serverPlain.bytes == Array("early".utf8))
        }
    }

    /// Each flight cut once, at every position.
    @Test func firstFlightMayBeCutAnywhere() throws {
        let length = try {
            let client = try TLSPair().client; return client.waitingBytes
        }()
        #expect(length > 100)
        for cut in 0...length {
            let pair = try TLSPair()
            var hello = ByteQueue()
            pair.client.drain(into: &hello)
            try pair.server.receive(Array(hello.bytes[..<cut]), into: &pair.serverPlain)
            #expect(pair.server.waitingBytes == 0 || cut == length)
            try pair.server.receive(Array(hello.bytes[cut...]), into: &pair.serverPlain)
            pair.run()
            #expect(pair.client.isEstablished && pair.server.isEstablished, "cut \(cut)")
        }
    }

    @Test(arguments: [
        (["h2", "http/1.1"], ["http/1.1", "h2"], "h2"),
        (["h2"], ["h2"], "h2"),
        (["apns-security-v3", "apns-pack-v1"], ["apns-pack-v1"], "apns-pack-v1"),
        (["h2"], [], nil),
        (["h2"], ["spdy/3"], nil),
        ([], ["h2"], nil),
    ]) func firstOfOurProtocolsThatIsOfferedIsChosen(ours: [String], offered: [String], chosen: String?) throws {
        let pair = try TLSPair(
            client: TestIdentity.good.client(offered), server: TestIdentity.good.server(ours))
        #expect(pair.server.applicationProtocol == nil)
        pair.run()
        #expect(pair.client.isEstablished && pair.server.isEstablished)
        #expect(pair.server.applicationProtocol == chosen)
        #expect(pair.client.applicationProtocol == chosen)
    }

    @Test(arguments: [
        ("localhost", nil, "localhost"), ("push.test", nil, "push.test"), ("127.0.0.1", nil, nil),
        ("[::1]", nil, nil), ("localhost", "api.push.apple.com", "api.push.apple.com"),
        ("127.0.0.1", "courier.push.apple.com", "courier.push.apple.com"),
    ]) func serverSeesTheNameTheClientAskedFor(host: String, serverName: String?, seen: String?) throws {
        let pair = try TLSPair(host: host, serverName: serverName)
        pair.run()
        #expect(pair.server.isEstablished)
        #expect(pair.server.serverName == seen)
    }

    @Test(arguments: ["localhost", "LOCALHOST", "push.test", "a.wild.test", "127.0.0.1", "::1", "[::1]"])
    func hostInTheCertificateIsAccepted(host: String) throws {
        let pair = try TLSPair(host: host)
        pair.run()
        #expect(pair.client.isEstablished && pair.clientError == nil)
    }

    @Test(arguments: ["other.test", "a.b.wild.test", "wild.test", "127.0.0.2", "::2", "localhost.evil.test"])
    func hostNotInTheCertificateIsRefused(host: String) throws {
        let pair = try TLSPair(host: host)
        pair.run()
        #expect(pair.clientError?.kind == .wrongHost)
        #expect(!pair.client.isEstablished && !pair.server.isEstablished)
        #expect(pair.serverError?.kind.isRefusal == true)
    }

    @Test func emptyHostIsRefused() throws {
        #expect(throws: TLSError.self) { try TLSPair(host: "") }
        #expect(throws: TLSError.self) { try TLSPair(host: "[]") }
    }

    @Test func unknownAuthorityIsRefusedAndTheServerHearsIt() throws {
        let pair = try TLSPair(client: TestIdentity.stranger.client())
        pair.run()
        guard case .untrusted(let why) = pair.clientError?.kind else {
            Issue.record("\(String(describing: pair.clientError))")
            return
        }
        #expect(why.contains("certificate"))
        #expect(pair.serverError?.kind.isRefusal == true)
        #expect(pair.serverError?.description.contains("unknown ca") == true)
    }

    @Test func systemAuthoritiesDoNotKnowOurs() throws {
        let pair = try TLSPair(client: .client(trust: .system, applicationProtocols: []))
        pair.run()
        guard case .untrusted = pair.clientError?.kind else {
            Issue.record("\(String(describing: pair.clientError))")
            return
        }
    }

    @Test func authorityBesidesTheSystemsIsBelieved() throws {
        let pair = try TLSPair(
            client: .client(trust: .systemAnd(pem: TestIdentity.good.authority), applicationProtocols: []))
        pair.run()
        #expect(pair.client.isEstablished)
    }

    @Test func certificateOutOfDateIsRefusedWithThatReason() throws {
        let pair = try TLSPair(
            client: TestIdentity.expired.client(), server: TestIdentity.expired.server())
        pair.run()
        #expect(pair.clientError?.kind == .untrusted("certificate has expired"))
    }

    @Test func unusablePEMIsRefused() throws {
        let good = TestIdentity.good
        for (chain, key) in [
            ("", good.key), ("nonsense", good.key), (good.chain, ""), (good.chain, good.chain),
            (good.chain, TestIdentity.stranger.key),
        ] {
            #expect {
                try TLSContext.server(certificateChain: chain, privateKey: key, applicationProtocols: [])
            } throws: {
                ($0 as? TLSError)?.kind == .noCertificate
            }
        }
        #expect(throws: TLSError.self) {
            try TLSContext.client(trust: .authorities(pem: "none"), applicationProtocols: [])
        }
    }

    @Test func clientCertificateIsOptionalWhenRequested() throws {
        let server = try TestIdentity.good.server(requestsClientCertificate: true)
        let pair = try TLSPair(server: server)
        pair.run()
        #expect(pair.server.isEstablished && pair.client.isEstablished)
        #expect(pair.server.peerCertificate == nil)
    }

    @Test func anyClientCertificateIsAcceptedAndReadable() throws {
        let key = try RSAPrivateKey()
        let device = try CertificateMaker.selfSigned(
            commonName: "device", key: key, serial: [1], notBefore: 1_600_000_000, notAfter: 4_000_000_000)
        let server = try TestIdentity.good.server(requestsClientCertificate: true)
        let client = try TLSContext.client(
            trust: .authorities(pem: TestIdentity.good.authority), applicationProtocols: [],
            certificateChain: device.pem, privateKey: key.pem)
        let pair = try TLSPair(client: client, server: server)
        pair.run()
        #expect(pair.serverError == nil)
        #expect(pair.server.peerCertificate == device.der)
        #expect(try pair.client.peerCertificate == Certificate(pem: TestIdentity.good.chain).der)
    }

    @Test func clientWithTLS12IsAccepted() throws {
        let client = try TestIdentity.good.client(["h2"])
        client.limitToTLS12()
        let pair = try TLSPair(client: client, server: TestIdentity.good.server(["h2"]))
        pair.run(step: 7)
        #expect(pair.server.protocolVersion == "TLSv1.2")
        try pair.client.send([1, 2, 3])
        try pair.server.send([4, 5])
        pair.run()
        #expect(pair.serverPlain.bytes == [1, 2, 3] && pair.clientPlain.bytes == [4, 5])
        #expect(pair.server.applicationProtocol == "h2" && pair.server.serverName == "localhost")
    }
}

extension TLSError.Kind {
    var isRefusal: Bool { if case .refusedByPeer = self { true } else { false } }
}
