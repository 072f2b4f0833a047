internal import Glibc

/// The directory that holds the identity: small files, written whole or not at all.
///
/// While this value lives, no other process works on the same directory's identity.
struct IdentityDirectory: ~Copyable {
    /// Largest file that is read: a chain takes 2 kB, so 64 KiB means that it is some other file.
    static let fileBytesMax = 64 * 1024

    /// Absolute, without symbolic links.
    let path: String
    private let descriptor: Int32

    /// Makes the directory, and those above it that are missing, for the owner only (0700); one that exists keeps its
    /// permissions. Waits for another process that has it open here.
    static func open(_ given: String) throws(IdentityError) -> IdentityDirectory {
        try make(given)
        // Safe: Swift lends the path as a C string for each call; realpath's answer is copied, then freed.
        guard let resolved = unsafe realpath(given, nil) else { throw refusal(given, "cannot be resolved") }
        let path = unsafe String(cString: resolved)
        unsafe free(resolved)
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(path, "cannot be opened as a directory") }
        let directory = IdentityDirectory(path: path, descriptor: descriptor)
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw refusal(path, "cannot be locked") }
        }
        return directory
    }

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func path(of name: String) -> String { path == "/" ? "/" + name : path + "/" + name }

    /// The whole file; `nil` when there is none, or an empty one, as a power cut may leave behind. A secret that others
    /// may read is closed to them first.
    func read(_ name: String, isSecret: Bool) throws(IdentityError) -> String? {
        let file = path(of: name)
        // Safe: as above; the buffer outlives the call that fills it.
        let opened = unsafe Glibc.open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.refusal(file, "cannot be read")
        }
        defer { close(opened) }
        var status = stat()
        guard unsafe fstat(opened, &status) == 0 else { throw Self.refusal(file, "cannot be read") }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.fileBytesMax else {
            throw IdentityError(
                path: file, problem: "is no file of at most \(Self.fileBytesMax) bytes", remedy: "move it away")
        }
        if isSecret && status.st_mode & 0o077 != 0 {
            guard fchmod(opened, 0o600) == 0 else { throw Self.refusal(file, "may be read by others") }
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var have = 0
        while have < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(opened, buffer.baseAddress! + have, buffer.count - have)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Self.refusal(file, "cannot be read") }
            if count == 0 { break }
            have += count
        }
        return have == 0 ? nil : String(decoding: bytes.prefix(have), as: UTF8.self)
    }

    /// Puts a new file in place of the old one in one step: a reader sees one or the other.
    func write(_ text: String, to name: String, isSecret: Bool) throws(IdentityError) {
        let file = path(of: name)
        let draft = file + ".new"
        // Safe: Swift lends paths and bytes for each call. The draft has one name, since we hold the lock.
        unsafe unlink(draft)
        let mode: mode_t = isSecret ? 0o600 : 0o644
        let opened = unsafe Glibc.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard opened >= 0 else { throw Self.refusal(file, "cannot be written") }
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(opened, buffer.baseAddress! + done, buffer.count - done)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let error = Self.refusal(file, "cannot be written")
                close(opened)
                unsafe unlink(draft)
                throw error
            }
            done += count
        }
        close(opened)
        guard unsafe rename(draft, file) == 0 else {
            let error = Self.refusal(file, "cannot be written")
            unsafe unlink(draft)
            throw error
        }
    }

    private static func make(_ path: String) throws(IdentityError) {
        // Safe: Swift lends the path as a C string for the call.
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try make(String(path[..<slash]))
            if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        }
        throw refusal(path, "cannot be made")
    }

    /// Reads `errno`, so call it first.
    private static func refusal(_ path: String, _ problem: String) -> IdentityError {
        let code = errno
        let reason = unsafe String(cString: strerror(code))  // Safe: copied before the next call.
        let remedy =
            switch code {
            case EACCES, EPERM, EROFS: "choose a data directory that this user may write to"
            case ENOSPC, EDQUOT: "free some space, or choose another data directory"
            case ENOTDIR, EEXIST: "choose a data directory that is no file"
            default: "choose another data directory"
            }
        return IdentityError(path: path, problem: "\(problem) (\(reason))", remedy: remedy, code: code)
    }
}
