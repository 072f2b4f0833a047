import Glibc

/// The versions of the C libraries that this process has loaded, asked of the libraries themselves.
enum LoadedLibraries {
    private typealias Text = @convention(c) () -> UnsafePointer<CChar>?
    private typealias TextOfNumber = @convention(c) (Int32) -> UnsafePointer<CChar>?
    private typealias Information = @convention(c) (Int32) -> UnsafeRawPointer?

    /// Where `nghttp2_info` keeps its text, after two numbers of four bytes.
    private static let textOffset = 8

    static func versions() -> [(name: String, version: String)] {
        // Safe: the types above are those of the libraries' headers, whose texts are constants.
        var found: [(name: String, version: String?)] = []
        if let call = unsafe symbol("OpenSSL_version", as: TextOfNumber.self) {
            found.append(("openssl", unsafe text(call(0))))
        }
        if let call = unsafe symbol("nghttp2_version", as: Information.self) {
            let information = unsafe call(0)
            let pointer = unsafe information?.load(fromByteOffset: textOffset, as: UnsafePointer<CChar>?.self)
            found.append(("nghttp2", unsafe text(pointer ?? nil)))
        }
        if let call = unsafe symbol("event_get_version", as: Text.self) {
            found.append(("libevent", unsafe text(call())))
        }
        if let call = unsafe symbol("sqlite3_libversion", as: Text.self) {
            found.append(("sqlite", unsafe text(call())))
        }
        return found.compactMap { entry in entry.version.map { (entry.name, $0) } }
    }

    private static func symbol<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let address = unsafe dlsym(nil, name) else { return nil }
        return unsafe unsafeBitCast(address, to: type)
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
    }
}
