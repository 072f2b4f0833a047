internal import CPushOpenSSL

/// OpenSSL's PEM readers and writers over strings.
enum PEM {
    /// Lends a copy of `text` as a readable BIO.
    static func read<Result>(_ text: String, _ body: (OpaquePointer) -> Result) -> Result {
        var copy = text
        return copy.withUTF8 { bytes in
            let bio = newBIO()
            defer { BIO_free(bio) }
            BIO_write(bio, bytes.baseAddress, Int32(bytes.count))
            ERR_clear_error()
            return body(bio)
        }
    }

    /// What `body` wrote; `nil` when it says that writing failed.
    static func write(_ body: (OpaquePointer) -> Int32) -> String? {
        let bio = newBIO()
        defer { BIO_free(bio) }
        guard body(bio) == 1 else { return nil }
        var start: UnsafeMutablePointer<CChar>?
        let count = cpush_bio_memory(bio, &start)
        guard let start else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// Without it OpenSSL would ask for the passphrase of an encrypted key on the terminal.
    static let refusePassphrase:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            _, _, _, _ in -1
        }

    private static func newBIO() -> OpaquePointer {
        guard let bio = BIO_new(BIO_s_mem()) else { fatalError("memory for a BIO") }
        return bio
    }
}
