import PushBytes
@testable import PushCrypto
import Testing

@Suite struct PushExtensionsTests {
    private static let now: Int64 = 1_800_000_000
    private static let authorityKey = try! ES256PrivateKey()
    private static let authority = try! CertificateMaker.authority(
        commonName: "Test CA", key: authorityKey, serial: [1], notBefore: now - 60, notAfter: now + 3600)

    private func make(_ purpose: PushExtensions) throws -> Certificate {
        try CertificateMaker.pushClient(
            purpose, key: ES256PrivateKey(), issuer: Self.authority, issuerKey: Self.authorityKey, serial: [2],
            notBefore: Self.now - 60, notAfter: Self.now + 3600)
    }

    // MARK: Made here

    private static let bundle = "com.example.app"

    /// Marks (development, production, VoIP), listed topics, and the topics that follow.
    private static let purposes: [(marks: [Bool], listed: [String]?, topics: [String])] = [
        ([true, false, false], nil, [bundle]),
        ([false, true, false], nil, [bundle]),
        ([true, true, false], nil, [bundle]),
        ([true, true, true], nil, [bundle, bundle + ".voip"]),
        ([true, true, false], [bundle], [bundle]),
        ([true, true, false], [bundle, bundle + ".voip"], [bundle, bundle + ".voip"]),
        (
            [false, true, true], [bundle, bundle + ".voip", bundle + ".complication"],
            [bundle, bundle + ".voip", bundle + ".complication"]
        ),
        ([false, false, false], nil, [bundle]),
        ([true, true, false], [], []),
        ([true, false, false], ["other"], ["other"]),
    ]

    @Test(arguments: purposes.indices)
    func whatIsPutInIsReadBack(index: Int) throws {
        let (marks, listed, topics) = Self.purposes[index]
        var purpose = PushExtensions(bundle: Self.bundle)
        purpose.isForDevelopment = marks[0]
        purpose.isForProduction = marks[1]
        purpose.isForVoIP = marks[2]
        purpose.listed = listed.map { $0.map { PushExtensions.Topic($0) } }
        let certificate = try make(purpose)
        #expect(try certificate.pushExtensions() == purpose)
        #expect(purpose.topics == topics)
        #expect(certificate.isIssued(by: Self.authority))
        #expect(certificate.commonName == "\(marks[2] ? "VoIP Services" : "Apple Push Services"): com.example.app")
    }

    @Test func labelsFollowTheSuffix() {
        let labels = ["a.b", "a.b.voip", "a.b.complication"].map { PushExtensions.Topic($0).labels }
        #expect(labels == [["app"], ["voip"], ["complication"]])
    }

    @Test func aVoIPCertificateForTheVoIPTopicAloneHasThatOneOnly() {
        var purpose = PushExtensions(bundle: "com.example.app.voip")
        purpose.isForVoIP = true
        #expect(purpose.topics == ["com.example.app.voip"])
    }

    @Test func aLongBundleIDIsWholeInTheUID() throws {
        let bundle = "com.example." + String(repeating: "a", count: 143)
        var purpose = PushExtensions(bundle: bundle)
        purpose.isForProduction = true
        let certificate = try make(purpose)
        #expect(try certificate.pushExtensions().bundle == bundle)
        #expect(certificate.commonName?.count == 64)
    }

    @Test func manyTopicsAreReadAndTooManyAreNot() throws {
        func topics(_ count: Int) -> [PushExtensions.Topic]? {
            var purpose = PushExtensions(bundle: "a")
            purpose.listed = (0..<count).map { PushExtensions.Topic("com.example.app\($0)") }
            return PushExtensions.topics(der: purpose.encoded[0].der)
        }
        #expect(topics(PushExtensions.topicsMax)?.count == PushExtensions.topicsMax)
        #expect(topics(PushExtensions.topicsMax + 1) == nil)
    }

    @Test func aServersCertificateIsNoPushCertificate() throws {
        let server = try CertificateMaker.server(
            names: ["localhost"], key: ES256PrivateKey(), issuer: Self.authority, issuerKey: Self.authorityKey,
            serial: [3], notBefore: Self.now - 60, notAfter: Self.now + 60)
        #expect(try server.pushExtensions() == PushExtensions(bundle: nil))
        #expect(try server.pushExtensions().topics.isEmpty)
    }

    // MARK: Made by openssl

    private static let mark = "ASN1:NULL"

    /// Lines of the extension section, and what is read from them; `nil` stands for damage.
    private static let configurations: [(lines: [String], expected: (Bool, Bool, Bool, [String])?)] = [
        (["1.2.840.113635.100.6.3.1=\(mark)"], (true, false, false, [bundle])),
        (["1.2.840.113635.100.6.3.2=\(mark)"], (false, true, false, [bundle])),
        (
            ["1.2.840.113635.100.6.3.1=\(mark)", "1.2.840.113635.100.6.3.2=\(mark)"],
            (true, true, false, [bundle])
        ),
        (["1.2.840.113635.100.6.3.2=critical,\(mark)"], (false, true, false, [bundle])),
        (
            [
                "1.2.840.113635.100.6.3.1=\(mark)", "1.2.840.113635.100.6.3.2=\(mark)",
                "1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:topics",
            ],
            (true, true, false, [bundle, bundle + ".voip", bundle + ".complication"])
        ),
        (
            ["1.2.840.113635.100.6.3.2=\(mark)", "1.2.840.113635.100.6.3.4=\(mark)"],
            (false, true, true, [bundle, bundle + ".voip"])
        ),
        (["1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:empty"], (false, false, false, [])),
        (["1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:half"], nil),
        (["1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:numbers"], nil),
        (["1.2.840.113635.100.6.3.6=\(mark)"], nil),
        (["1.2.840.113635.100.6.3.6=DER:30:82"], nil),
        (["1.2.840.113635.100.6.3.6=DER:FF"], nil),
        ([], (false, false, false, [bundle])),
    ]

    @Test(arguments: configurations.indices)
    func certificatesOfOpenSSLAreUnderstood(index: Int) throws {
        let (lines, expected) = Self.configurations[index]
        let certificate = try OpenSSLTool.withDirectory { directory in
            let text = """
                [req]
                distinguished_name=name
                prompt=no
                [name]
                UID=com.example.app
                CN=Apple Push Services: com.example.app
                [extensions]
                keyUsage=digitalSignature
                \(lines.joined(separator: "\n"))
                [topics]
                1=UTF8:com.example.app
                2=SEQUENCE:app
                3=UTF8:com.example.app.voip
                4=SEQUENCE:voip
                5=UTF8:com.example.app.complication
                6=SEQUENCE:complication
                [app]
                1=UTF8:app
                [voip]
                1=UTF8:voip
                [complication]
                1=UTF8:complication
                [empty]
                [half]
                1=UTF8:com.example.app
                [numbers]
                1=INTEGER:1
                2=INTEGER:2
                """
            try OpenSSLTool.write(Array(text.utf8), directory + "/cnf")
            return try Certificate(
                pem: OpenSSLTool.run(
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config",
                    directory + "/cnf", "-extensions", "extensions", "-keyout", directory + "/key"))
        }
        guard let expected else {
            #expect(throws: CryptoError.self) { try certificate.pushExtensions() }
            return
        }
        let found = try certificate.pushExtensions()
        #expect(found.bundle == Self.bundle)
        #expect(
            [found.isForDevelopment, found.isForProduction, found.isForVoIP] == [expected.0, expected.1, expected.2])
        #expect(found.topics == expected.3)
    }

    @Test func opensslReadsWhatWeMake() throws {
        var purpose = PushExtensions(bundle: Self.bundle)
        purpose.isForProduction = true
        purpose.listed = [PushExtensions.Topic(Self.bundle), PushExtensions.Topic(Self.bundle + ".voip")]
        let certificate = try make(purpose)
        let text = try OpenSSLTool.run("x509", "-noout", "-subject", "-ext", "extendedKeyUsage", input: certificate.pem)
        #expect(text.contains("UID = com.example.app") && text.contains("TLS Web Client Authentication"))
        let parsed = try OpenSSLTool.run("asn1parse", input: certificate.pem)
        for oid in [PushExtensions.OID.production, PushExtensions.OID.topics] { #expect(parsed.contains(oid)) }
        #expect(!parsed.contains(PushExtensions.OID.development))
    }

    // MARK: Damage

    @Test func damagedListsAreNoListsAndNeverTrap() {
        let good = DERWriter.value(
            .sequence, DERWriter.text("com.example.app") + DERWriter.value(.sequence, DERWriter.text("app")))
        #expect(PushExtensions.topics(der: good) == [.init(name: "com.example.app", labels: ["app"])])
        for count in 0..<good.count { #expect(PushExtensions.topics(der: Array(good.prefix(count))) == nil) }
        #expect(PushExtensions.topics(der: good + [0]) == nil)
        let broken: [[UInt8]] = [
            [0x30, 0x80], [0x30, 0x81, 0x00], [0x30, 0x81, 0x7F], [0x30, 0x84, 0, 0, 0, 0],
            [0x30, 0x83, 0xFF, 0xFF, 0xFF],
            [0x30, 0x82, 0x00, 0x01, 0x05], [0x30, 0x02, 0x0C, 0x00], [0x30, 0x03, 0x0C, 0x01, 0xFF],
            [0x30, 0x05, 0x0C, 0x01, 0x41, 0x0C, 0x00], [0x31, 0x00],
        ]
        for bytes in broken { #expect(PushExtensions.topics(der: bytes) == nil, "\(Hex.encode(bytes))") }
    }

    @Test func anyBytesAreReadWithoutTrapping() throws {
        let seed = SecureRandom.seed()
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        var purpose = PushExtensions(bundle: Self.bundle)
        purpose.isForProduction = true
        purpose.isForVoIP = true
        purpose.listed = (0..<5).map { PushExtensions.Topic("com.example.app\($0)") }
        let list = try #require(purpose.encoded.last).der
        let whole = try make(purpose).der
        for _ in 0..<20_000 {
            var bytes = list
            for _ in 0...Int(random.next() % 4) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = PushExtensions.topics(der: Array(bytes.prefix(Int(random.next() % UInt64(bytes.count + 1)))))
            _ = PushExtensions.topics(der: bytes)
        }
        for _ in 0..<3000 {
            var bytes = whole
            bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            guard let certificate = try? Certificate(der: bytes) else { continue }
            _ = try? certificate.pushExtensions()
            _ = certificate.isIssued(by: Self.authority)
        }
    }
}
