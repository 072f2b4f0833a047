internal import Glibc

/// Makes the directory and the file of a device, for its owner's eyes only: they hold a private key.
enum StateDirectory {
    /// Creates `path` (0700) with its parents and an empty file in it (0600) unless they exist; returns the file's
    /// path. A file that others may read is closed to them.
    static func prepare(_ path: String) throws(DeviceError) -> String {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty || made.hasSuffix("/") ? "" : "/") + part
            // The strings are copied for the calls, which keep no pointer.
            if unsafe mkdir(made, 0o700) != 0 && errno != EEXIST { throw failure("make", made) }
        }
        let file = path + "/device.db"
        let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("open", file) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw failure("protect", file) }
        return file
    }

    private static func failure(_ verb: String, _ path: String) -> DeviceError {
        let code = errno
        return DeviceError(.stateDirectory, "cannot \(verb) \(path): \(unsafe String(cString: strerror(code)))")
    }
}
