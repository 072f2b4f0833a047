internal import CPushOpenSSL

/// SHA-256 (FIPS 180-4): 32 bytes.
package enum SHA256 {
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { hash(bytes, .sha256, count: 32) }
}

/// SHA-1 (FIPS 180-4): 20 bytes. Broken for signatures of strangers; the device protocol still asks for it.
package enum SHA1 {
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { hash(bytes, .sha1, count: 20) }
}

/// HMAC with SHA-256 (RFC 2104): 32 bytes.
package enum HMACSHA256 {
    package static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, used in
            var count: UInt32 = 0
            // OpenSSL takes a null key for "the key of last time", so an empty key must still have an address.
            let made = (key.isEmpty ? [0] : key).withUnsafeBytes { keyBytes in
                HMAC(
                    Algorithm.sha256.handle, keyBytes.baseAddress, Int32(key.count), message, message.count,
                    buffer.baseAddress, &count)
            }
            precondition(made != nil && count == 32, "HMAC-SHA-256 is always available")
            used = 32
        }
    }
}

/// Bytes from OpenSSL's generator, fit for secrets. Slow for anything else: see `SeededRandom`.
package enum SecureRandom {
    package static func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0 && count <= Int32.max, "a number of bytes")
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            precondition(count == 0 || RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "the system gives randomness")
            used = count
        }
    }

    /// A seed for `SeededRandom`.
    package static func seed() -> UInt64 {
        bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A digest algorithm, looked up once for the process: the look-up costs more than hashing a short message.
// Sendable unchecked: the handle is made once, never changed, never freed, and EVP_MD may be used by all threads.
struct Algorithm: @unchecked Sendable {
    let handle: OpaquePointer

    static let sha256 = Algorithm("SHA256")
    static let sha1 = Algorithm("SHA1")

    private init(_ name: String) {
        guard let handle = EVP_MD_fetch(nil, name, nil) else { preconditionFailure("OpenSSL has \(name)") }
        self.handle = handle
    }
}

private func hash(_ bytes: [UInt8], _ algorithm: Algorithm, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
        let result = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, algorithm.handle, nil)
        precondition(result == 1, "hashing in memory does not fail")
        used = count
    }
}
