internal import Glibc

/// Reads a small text file whole, such as a key.
enum SmallFile {
    private static let bytesMax = 64 * 1024

    /// `nil` when it cannot be read, is larger than 64 KiB, or is not UTF-8.
    static func text(_ path: String) -> String? {
        // Safe: the C string lives for the call, and the buffer outlives the read that fills it.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes {
                unsafe read(file, $0.baseAddress! + count, $0.count - count)
            }
            if got < 0 { return nil }
            if got == 0 { break }
            count += got
        }
        return count > bytesMax ? nil : String(validating: bytes[..<count], as: UTF8.self)
    }
}
