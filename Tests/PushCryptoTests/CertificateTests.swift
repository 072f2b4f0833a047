import PushBytes
import PushCrypto
import Testing

@Suite struct CertificateTests {
    private static let start: Int64 = 1_700_000_000
    private static let end: Int64 = 2_000_000_000
    private static let names = ["localhost", "*.push.test", "127.0.0.1", "::1", "fe80::1:2"]

    private let authorityKey: ES256PrivateKey
    private let authority: Certificate
    private let server: Certificate

    init() throws {
        authorityKey = try ES256PrivateKey()
        authority = try CertificateMaker.authority(
            commonName: "LocalPush Ünit", key: authorityKey, serial: [0x12, 0x34], notBefore: Self.start,
            notAfter: Self.end)
        server = try CertificateMaker.server(
            names: Self.names, key: ES256PrivateKey(), issuer: authority, issuerKey: authorityKey, serial: [0, 0, 7],
            notBefore: Self.start, notAfter: Self.end)
    }

    @Test func whatWasAskedForStandsInIt() {
        #expect(authority.commonName == "LocalPush Ünit")
        #expect(authority.notBefore == Self.start && authority.notAfter == Self.end)
        #expect(authority.subjectAlternativeNames.isEmpty)
        #expect(server.commonName == "localhost")
        #expect(server.subjectAlternativeNames == Self.names)
        #expect(server.notBefore == Self.start && server.notAfter == Self.end)
    }

    @Test func datesBeforeAndAfterTheTwoDigitYearsAreKept() throws {
        let far = try CertificateMaker.authority(
            commonName: "far", key: authorityKey, serial: [1], notBefore: 0, notAfter: 4_102_444_800)
        #expect(far.notBefore == 0 && far.notAfter == 4_102_444_800)
    }

    @Test func issuerIsRecognised() throws {
        #expect(server.isIssued(by: authority))
        #expect(authority.isIssued(by: authority))
        #expect(!authority.isIssued(by: server))
        #expect(!server.isIssued(by: server))
        // Same name, other key.
        let impostor = try CertificateMaker.authority(
            commonName: "LocalPush Ünit", key: ES256PrivateKey(), serial: [0x12, 0x34], notBefore: Self.start,
            notAfter: Self.end)
        #expect(!server.isIssued(by: impostor))
    }

    @Test func commandLineVerifiesTheChainStrictly() throws {
        try OpenSSLTool.withDirectory { directory in
            try OpenSSLTool.write(Array(authority.pem.utf8), directory + "/ca")
            try OpenSSLTool.write(Array(server.pem.utf8), directory + "/server")
            let answer = try OpenSSLTool.run(
                "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", "localhost", "-attime",
                "1800000000", "-CAfile", directory + "/ca", directory + "/server")
            #expect(answer.hasSuffix("OK\n"))
            let text = try OpenSSLTool.run("x509", "-noout", "-text", "-in", directory + "/server")
            #expect(text.contains("TLS Web Server Authentication") && text.contains("CA:FALSE"))
            #expect(text.contains("Version: 3"))
        }
    }

    @Test func certificateBelongsToItsOwnKeyOnly() throws {
        #expect(authority.belongs(to: authorityKey))
        #expect(authority.belongs(to: try ES256PrivateKey(pem: authorityKey.pem)))
        #expect(!server.belongs(to: authorityKey))
    }

    @Test func certificateSurvivesBothItsForms() throws {
        #expect(try Certificate(pem: server.pem).der == server.der)
        #expect(try Certificate(der: server.der).pem == server.pem)
        #expect(try Certificate(pem: server.pem + authority.pem).der == server.der)
        #expect(server.fingerprint == SHA256.digest(server.der))
    }

    @Test func cutOrPaddedCertificatesAreRefused() {
        for count in 0..<server.der.count {
            #expect(throws: CryptoError.self) { try Certificate(der: Array(server.der.prefix(count))) }
        }
        #expect(throws: CryptoError.self) { try Certificate(der: server.der + [0]) }
        #expect(throws: CryptoError.self) { try Certificate(pem: "") }
    }

    @Test func randomChangesNeverCrash() {
        var random = SeededRandom(seed: 5)
        var readable = 0
        for _ in 0..<2000 {
            var der = server.der
            der[Int(random.next() % UInt64(der.count))] ^= UInt8(truncatingIfNeeded: random.next() | 1)
            guard let certificate = try? Certificate(der: der) else { continue }
            readable += 1
            _ = (certificate.commonName, certificate.subjectAlternativeNames, certificate.notAfter, certificate.pem)
            #expect(!certificate.isIssued(by: authority))
            #expect(!certificate.verifySHA1([1], of: [2]))
        }
        #expect(readable > 100)
    }

    @Test(arguments: ["", "a,b", "DNS:x", "a b", "host:443", "ü.test", "a\n", "1.2.3.4,DNS:evil"])
    func nameThatIsNoHostIsRefused(name: String) throws {
        #expect(throws: CryptoError.self) {
            try CertificateMaker.server(
                names: [name], key: ES256PrivateKey(), issuer: authority, issuerKey: authorityKey, serial: [1],
                notBefore: Self.start, notAfter: Self.end)
        }
    }

    @Test func serverWithoutNamesIsRefused() throws {
        #expect(throws: CryptoError.self) {
            try CertificateMaker.server(
                names: [], key: ES256PrivateKey(), issuer: authority, issuerKey: authorityKey, serial: [1],
                notBefore: Self.start, notAfter: Self.end)
        }
    }
}

@Suite struct DeviceProofTests {
    private static let key = try! RSAPrivateKey()
    private static let certificate = try! CertificateMaker.selfSigned(
        commonName: "device", key: key, serial: [9], notBefore: 1_700_000_000, notAfter: 2_000_000_000)
    private let nonce = [UInt8](0..<17)

    @Test func proofVerifiesWithTheCertificate() throws {
        let proof = try Self.key.signSHA1(nonce)
        #expect(proof.count == 256)
        #expect(Self.certificate.verifySHA1(proof, of: nonce))
        #expect(Self.certificate.commonName == "device")
    }

    @Test func changedProofFails() throws {
        let proof = try Self.key.signSHA1(nonce)
        for index in proof.indices {
            var changed = proof
            changed[index] ^= 1
            #expect(!Self.certificate.verifySHA1(changed, of: nonce), "byte \(index)")
        }
        #expect(!Self.certificate.verifySHA1(proof, of: nonce + [0]))
        #expect(!Self.certificate.verifySHA1([], of: nonce))
        #expect(!Self.certificate.verifySHA1(proof + [0], of: nonce))
    }

    @Test func proofOfAnotherKeyFails() throws {
        let other = try RSAPrivateKey(bits: 1024)
        #expect(!Self.certificate.verifySHA1(try other.signSHA1(nonce), of: nonce))
    }

    @Test func certificateWithAnotherKindOfKeyProvesNothing() throws {
        let curve = try CertificateMaker.authority(
            commonName: "curve", key: ES256PrivateKey(), serial: [1], notBefore: 1_700_000_000,
            notAfter: 2_000_000_000)
        #expect(!curve.verifySHA1(try Self.key.signSHA1(nonce), of: nonce))
    }

    @Test func keySurvivesItsPEMAndTheCommandLineVerifies() throws {
        let again = try RSAPrivateKey(pem: Self.key.pem)
        let proof = try again.signSHA1(nonce)
        try OpenSSLTool.withDirectory { directory in
            let publicPEM = try OpenSSLTool.run("pkey", "-pubout", input: Self.key.pem)
            try OpenSSLTool.write(Array(publicPEM.utf8), directory + "/key")
            try OpenSSLTool.write(proof, directory + "/signature")
            try OpenSSLTool.write(nonce, directory + "/message")
            let answer = try OpenSSLTool.run(
                "dgst", "-sha1", "-verify", directory + "/key", "-signature", directory + "/signature",
                directory + "/message")
            #expect(answer.contains("Verified OK"))
        }
    }
}
