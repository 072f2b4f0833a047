import PushBytes
import PushCrypto
import Testing

@Suite struct DigestTests {
    /// FIPS 180-4 examples.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]) func sha256GivesThePublishedDigests(message: String, digest: String) {
        #expect(Hex.encode(SHA256.digest(Array(message.utf8))) == digest)
    }

    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
    ]) func sha1GivesThePublishedDigests(message: String, digest: String) {
        #expect(Hex.encode(SHA1.digest(Array(message.utf8))) == digest)
    }

    /// RFC 4231 sections 4.2 to 4.4 and 4.7.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ]) func hmacGivesThePublishedCodes(key: [UInt8], message: [UInt8], code: String) {
        #expect(Hex.encode(HMACSHA256.authenticate(message, key: key)) == code)
    }

    @Test func hmacTakesAnEmptyKeyAndDoesNotReuseTheLastOne() {
        _ = HMACSHA256.authenticate([1], key: [1, 2, 3])
        #expect(
            Hex.encode(HMACSHA256.authenticate([], key: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func secureRandomGivesAsManyBytesAsAskedAndNeverTheSame() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(33).count == 33)
        #expect(SecureRandom.bytes(16) != SecureRandom.bytes(16))
        #expect(SecureRandom.seed() != SecureRandom.seed())
    }
}
