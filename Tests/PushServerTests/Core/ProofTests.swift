import PushBytes
import PushCore
import PushCourier
import PushCrypto
import Testing

@testable import PushServer

@Suite struct ProofTests {
    /// Making RSA keys is slow: two serve all tests.
    private static let keys = try! [RSAPrivateKey(bits: 1024), RSAPrivateKey(bits: 1024)]
    private static let certificates = try! keys.map {
        try CertificateMaker.selfSigned(
            commonName: "test phone", key: $0, serial: [1], notBefore: CoreHarness.start / 1000 - 60,
            notAfter: CoreHarness.start / 1000 + 86_400)
    }

    private let harness = CoreHarness(mode: .proof)

    private func nonce(offset milliseconds: Int64 = 0) -> [UInt8] {
        var queue = ByteQueue(capacity: 17)
        queue.append(0)
        queue.appendBigEndian(UInt64(bitPattern: CoreHarness.start + harness.elapsed + milliseconds))
        for byte in UInt8(1)...8 { queue.append(byte) }
        return queue.bytes
    }

    private func proof(
        _ who: Int = 0, nonce: [UInt8]? = nil, token: [UInt8]? = nil, signer: Int? = nil
    ) throws -> CourierConnect {
        let nonce = nonce ?? self.nonce()
        var message = CourierConnect()
        message.baseToken = token
        message.certificate = Self.certificates[who].der
        message.nonce = nonce
        message.signature = [1, 1] + (try Self.keys[signer ?? who].signSHA1(nonce))
        return message
    }

    private func connect(_ connection: Int, _ message: CourierConnect) -> Device? {
        harness.connect(connection, message)
    }

    @Test func theSameCertificateIsTheSameDevice() throws {
        let device = try #require(connect(1, proof()))
        #expect(harness.lines().first == "reply 1 accepted \(Hex.encode(device.baseToken))")
        harness.core.deviceDisconnected(1, now: harness.now)
        #expect(connect(2, try proof()) === device)
        #expect(harness.lines().contains("reply 2 accepted \(Hex.encode(device.baseToken))"))
        #expect(connect(3, try proof(token: device.baseToken)) === device)
        #expect(harness.lines().contains("reply 3 accepted as before"))
        #expect(connect(4, try proof(1)) !== device)
        #expect(harness.core.registry.devices.count == 2)
    }

    @Test func aDeviceIsNamedAfterItsCertificate() throws {
        #expect(try #require(connect(1, proof())).name == "test phone")
    }

    @Test func aDeviceThatLostItsTokenGetsItAgainFromAFreshServerWithTheSameSecret() throws {
        let device = try #require(connect(1, proof()))
        let other = CoreHarness(mode: .proof)
        #expect(other.connect(1, try proof())?.baseToken == device.baseToken)
        let stranger = CoreHarness(mode: .proof, secret: 2)
        #expect(stranger.connect(1, try proof())?.baseToken != device.baseToken)
    }

    @Test func aTokenOfAnotherDeviceIsRefused() throws {
        let device = try #require(connect(1, proof()))
        harness.core.outputs = []
        #expect(connect(2, try proof(1, token: device.baseToken)) == nil)
        #expect(harness.lines() == ["reply 2 refused", "close 2: its introduction was refused"])
        #expect(device.session?.connection == 1)
    }

    @Test func aTokenOfADeviceThatIsNotKnownIsRefused() throws {
        #expect(connect(1, try proof(token: [UInt8](repeating: 7, count: 32))) == nil)
        #expect(harness.core.registry.devices.isEmpty)
        #expect(connect(2, try proof()) != nil)
    }

    @Test func eachEnvironmentHasADeviceOfItsOwn() throws {
        let sandbox = try #require(harness.connect(1, proof(), environment: .sandbox))
        let production = try #require(harness.connect(2, proof(), environment: .production))
        #expect(sandbox !== production && sandbox.baseToken != production.baseToken)
        #expect(sandbox.environment == .sandbox && production.environment == .production)
        #expect(sandbox.isOnline && production.isOnline)
    }

    @Test func eachPartOfTheProofCounts() throws {
        let breaks: [(String, (inout CourierConnect) -> Void)] = [
            ("no certificate", { $0.certificate = nil }), ("no nonce", { $0.nonce = nil }),
            ("no signature", { $0.signature = nil }), ("empty certificate", { $0.certificate = [] }),
            ("damaged certificate", { $0.certificate?.removeLast() }),
            ("another certificate", { $0.certificate = Self.certificates[1].der }),
            ("other nonce", { $0.nonce?[16] ^= 1 }), ("other type of nonce", { $0.nonce?[0] = 1 }),
            ("short nonce", { $0.nonce?.removeLast() }), ("long nonce", { $0.nonce?.append(0) }),
            ("empty nonce", { $0.nonce = [] }), ("no prefix", { $0.signature?.removeFirst(2) }),
            ("other prefix", { $0.signature?[1] = 2 }), ("prefix only", { $0.signature = [1, 1] }),
            ("empty signature", { $0.signature = [] }), ("damaged signature", { $0.signature?[20] ^= 1 }),
            ("short signature", { $0.signature?.removeLast() }), ("long signature", { $0.signature?.append(0) }),
        ]
        for (connection, (name, damage)) in breaks.enumerated() {
            var message = try proof()
            damage(&message)
            #expect(connect(connection, message) == nil, "\(name)")
            #expect(
                harness.lines() == [
                    "reply \(connection) refused", "close \(connection): its introduction was refused",
                ], "\(name)")
        }
        #expect(harness.core.registry.devices.isEmpty)
    }

    @Test func theSignatureMustComeFromTheKeyOfTheCertificate() throws {
        #expect(connect(1, try proof(0, signer: 1)) == nil)
    }

    @Test func theTypeOfNonceCountsEvenWhenItIsSigned() throws {
        var other = nonce()
        other[0] = 1
        #expect(connect(1, try proof(nonce: other)) == nil)
        #expect(connect(2, try proof(nonce: nonce() + [0])) == nil)
        #expect(connect(3, try proof(nonce: nonce().dropLast())) == nil)
    }

    private static let clocks: [(Int64, Bool)] = [
        (0, true), (CoreLimits.proofClockMillisecondsMax, true), (-CoreLimits.proofClockMillisecondsMax, true),
        (CoreLimits.proofClockMillisecondsMax + 1, false), (-CoreLimits.proofClockMillisecondsMax - 1, false),
        (-CoreHarness.start, false), (Int64.max - CoreHarness.start, false),
    ]

    @Test(arguments: clocks)
    func theClockOfADeviceMayBeOffByMinutes(offset: Int64, isGood: Bool) throws {
        #expect((connect(1, try proof(nonce: nonce(offset: offset))) != nil) == isGood)
    }

    @Test func aTimeBeyondSixtyThreeBitsIsRefused() throws {
        let late = [0] + [UInt8](repeating: 0xFF, count: 8) + [UInt8](repeating: 1, count: 8)
        #expect(connect(1, try proof(nonce: late)) == nil)
        let edge = [0, 0x80] + [UInt8](repeating: 0, count: 15)
        #expect(connect(2, try proof(nonce: edge)) == nil)
    }
}
