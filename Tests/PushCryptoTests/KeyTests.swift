import PushBytes
import Testing

@testable import PushCrypto

@Suite struct KeyTests {
    private static let key = try! ES256PrivateKey()
    private let message = Array("header.claims".utf8)

    @Test func rawSignatureVerifies() throws {
        let signature = try Self.key.sign(message)
        #expect(signature.count == 64)
        #expect(Self.key.publicKey.verify(signature, of: message))
    }

    @Test func derSignatureVerifies() throws {
        for _ in 0..<50 {
            let raw = try Self.key.sign(message)
            let der = try #require(ECDSASignature.der(raw: raw))
            #expect(der[0] == 0x30)
            #expect(Self.key.publicKey.verify(der, of: message))
            #expect(ECDSASignature.raw(der: der) == raw)
        }
    }

    @Test func changeOfAnyByteOfTheSignatureFails() throws {
        let signature = try Self.key.sign(message)
        for index in signature.indices {
            for bit in [0x01, 0x80] as [UInt8] {
                var changed = signature
                changed[index] ^= bit
                #expect(!Self.key.publicKey.verify(changed, of: message), "byte \(index)")
            }
        }
    }

    @Test func changeOfAnyByteOfTheDERSignatureFails() throws {
        let signature = try #require(ECDSASignature.der(raw: Self.key.sign(message)))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!Self.key.publicKey.verify(changed, of: message), "byte \(index)")
        }
        #expect(!Self.key.publicKey.verify(signature + [0], of: message))
    }

    @Test func changeOfAnyByteOfTheMessageFails() throws {
        let signature = try Self.key.sign(message)
        for index in message.indices {
            var changed = message
            changed[index] ^= 1
            #expect(!Self.key.publicKey.verify(signature, of: changed), "byte \(index)")
        }
    }

    @Test func signatureOfAnyOtherLengthFails() throws {
        let signature = try Self.key.sign(message)
        for count in 0..<64 {
            #expect(!Self.key.publicKey.verify(Array(signature.prefix(count)), of: message))
        }
        #expect(!Self.key.publicKey.verify(signature + [0], of: message))
        let zeros = [UInt8](repeating: 0, count: 64)
        #expect(!Self.key.publicKey.verify(zeros, of: message))
        #expect(!Self.key.publicKey.verify([UInt8](repeating: 0xFF, count: 64), of: message))
    }

    @Test func signatureOfAnotherKeyFails() throws {
        let other = try ES256PrivateKey()
        #expect(!Self.key.publicKey.verify(try other.sign(message), of: message))
    }

    @Test func keysSurviveTheirPEM() throws {
        #expect(Self.key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let again = try ES256PrivateKey(pem: Self.key.pem)
        #expect(again.pem == Self.key.pem)
        let signature = try again.sign(message)
        let publicPEM = Self.key.publicKey.pem
        #expect(publicPEM.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
        #expect(try ES256PublicKey(pem: publicPEM).verify(signature, of: message))
        #expect(try ES256PublicKey(pem: Self.key.pem).verify(signature, of: message))
        #expect(try ES256PublicKey(pem: Self.key.pem).pem == publicPEM)
    }

    @Test func keysOfTheCommandLineAreAccepted() throws {
        let pkcs8 = try OpenSSLTool.run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        let sec1 = try OpenSSLTool.run("ecparam", "-genkey", "-noout", "-name", "prime256v1")
        #expect(sec1.contains("BEGIN EC PRIVATE KEY"))
        // Without -noout the parameters come first, and files may start with words.
        let withParameters = try OpenSSLTool.run("ecparam", "-genkey", "-name", "prime256v1")
        #expect(withParameters.contains("BEGIN EC PARAMETERS"))
        for pem in [pkcs8, sec1, withParameters, "Some words.\n" + pkcs8] {
            let key = try ES256PrivateKey(pem: pem)
            #expect(key.publicKey.verify(try key.sign(message), of: message))
            let publicPEM = try OpenSSLTool.run("pkey", "-pubout", input: pem)
            #expect(publicPEM == key.publicKey.pem)
        }
    }

    @Test func commandLineAcceptsOurSignature() throws {
        let der = try #require(ECDSASignature.der(raw: Self.key.sign(message)))
        try OpenSSLTool.withDirectory { directory in
            try OpenSSLTool.write(Array(Self.key.publicKey.pem.utf8), directory + "/key")
            try OpenSSLTool.write(der, directory + "/signature")
            try OpenSSLTool.write(message, directory + "/message")
            let answer = try OpenSSLTool.run(
                "dgst", "-sha256", "-verify", directory + "/key", "-signature", directory + "/signature",
                directory + "/message")
            #expect(answer.contains("Verified OK"))
        }
    }

    @Test func otherKeysAreRefused() throws {
        let rsa = try RSAPrivateKey(bits: 2048)
        let otherCurve = try OpenSSLTool.run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
        let otherKind = try OpenSSLTool.run("genpkey", "-algorithm", "ED25519")
        let locked = try OpenSSLTool.run("pkcs8", "-topk8", "-passout", "pass:word", input: Self.key.pem)
        #expect(locked.contains("ENCRYPTED"))
        for pem in [rsa.pem, otherCurve, otherKind, locked, "", "nonsense", Self.key.publicKey.pem] {
            #expect(throws: CryptoError.self) { try ES256PrivateKey(pem: pem) }
        }
        for pem in [rsa.pem, otherCurve, otherKind, locked, "", "nonsense"] {
            #expect(throws: CryptoError.self) { try ES256PublicKey(pem: pem) }
        }
        #expect(throws: CryptoError.self) { try RSAPrivateKey(pem: Self.key.pem) }
    }

    @Test func errorTellsTheOperationAndNotTheKey() throws {
        let otherCurve = try OpenSSLTool.run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
        let error = #expect(throws: CryptoError.self) { try ES256PrivateKey(pem: otherCurve) }
        #expect(error?.description == "read a private key: not a P-256 key")
    }
}
