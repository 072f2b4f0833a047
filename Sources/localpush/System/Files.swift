import Glibc

/// The few things we ask of the file system.
enum Files {
    /// All bytes of a file, or of standard input for `-`. Throws a `CommandFailure` that names the file, also when it
    /// is longer than `bytesMax`.
    static func read(_ path: String, bytesMax: Int = 16 << 20) throws(CommandFailure) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot read", path) }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            // Safe: the call writes at most as many bytes as the array holds, while it is borrowed.
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("cannot read", path)
            }
            bytes += chunk[..<count]
            if bytes.count > bytesMax { throw CommandFailure("\(path) is longer than \(bytesMax) bytes") }
        }
    }

    static func readText(_ path: String) -> String? {
        (try? read(path)).map { String(decoding: $0, as: UTF8.self) }
    }

    // Safe, here and below: a path is lent for the call only.
    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    static func isWritable(_ path: String) -> Bool { unsafe access(path, W_OK) == 0 }

    /// Names in a directory, without `.` and `..`; empty when it cannot be read.
    static func names(in directory: String) -> [String] {
        // Safe: the handle is ours until `closedir`, and an entry is copied before the next one is read.
        guard let handle = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// What a symbolic link says, or `nil`.
    static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        // Safe: the call writes at most as many bytes as the array holds, while it is borrowed.
        let count = unsafe buffer.withUnsafeMutableBytes { space in
            guard let start = space.baseAddress else { return -1 }
            return unsafe readlink(path, start.assumingMemoryBound(to: CChar.self), space.count)
        }
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// When a file was last changed, in unix seconds, or `nil`.
    static func modifiedSeconds(_ path: String) -> Int64? {
        var status = stat()
        // Safe: the call fills the structure it is given and keeps no pointer.
        return unsafe stat(path, &status) == 0 ? Int64(status.st_mtim.tv_sec) : nil
    }

    /// Bytes an ordinary user can still write beside `path`, or `nil`.
    static func freeBytes(at path: String) -> UInt64? {
        var status = statvfs()
        // Safe: the call fills the structure it is given and keeps no pointer.
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    static func join(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    }

    /// Removes a file; one that is not there is fine.
    static func remove(_ path: String) { _ = unsafe unlink(path) }

    /// Puts `text` in the place of a file in one step: a reader sees all of it or the former file.
    static func replace(_ path: String, with text: String) throws(CommandFailure) {
        let draft = "\(path).\(getpid())"
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure("cannot write", path) }
        guard writeAndClose(descriptor, text), unsafe rename(draft, path) == 0 else {
            let error = failure("cannot write", path)
            remove(draft)
            throw error
        }
    }

    /// Writes a file that must not exist yet; one with a secret is readable for its owner only.
    static func create(_ path: String, _ text: String, isSecret: Bool) throws(CommandFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else {
            if errno == EEXIST {
                throw CommandFailure(
                    "\(TextQuote.plain(path)) exists already", remedy: "move it away or choose another name")
            }
            throw failure("cannot write", path)
        }
        guard writeAndClose(descriptor, text) else {
            let error = failure("cannot write", path)
            remove(path)
            throw error
        }
    }

    private static func writeAndClose(_ descriptor: Int32, _ text: String) -> Bool {
        let bytes = Array(text.utf8)
        // Safe: the bytes are lent for the call.
        let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        return count == bytes.count
    }

    /// The directory that holds `path`.
    static func parent(_ path: String) -> String {
        var trimmed = Substring(path)
        while trimmed.hasSuffix("/") && trimmed.count > 1 { trimmed = trimmed.dropLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    /// `path` from the root, without resolving links.
    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        // Safe: with no buffer given the call allocates one, which is ours to free.
        guard let here = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(here) }
        return join(unsafe String(cString: here), path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }

    private static func failure(_ verb: String, _ path: String) -> CommandFailure {
        CommandFailure("\(verb) \(TextQuote.plain(path)): \(SystemError.text(errno))")
    }
}

/// What the operating system calls an error.
enum SystemError {
    static func text(_ code: Int32) -> String {
        // Safe: the text is copied at once.
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
