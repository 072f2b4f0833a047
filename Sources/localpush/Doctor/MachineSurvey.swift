import Glibc
internal import PushCrypto

/// Looks at this machine.
enum MachineSurvey {
    static let defaultPorts: [(surface: String, option: String, number: UInt16)] = [
        ("APNs provider", "--apns-port", 2197),
        ("channels, sandbox", "--broadcast-ports", 2195), ("channels, production", "--broadcast-ports", 2196),
        ("courier", "--courier-port", 5223), ("http", "--http-port", 7580),
        ("https", "--https-port", 7543),
    ]

    /// `host` is an IPv4 literal.
    static func port(_ number: UInt16, host: String) -> MachineFacts.PortState {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .refused(SystemError.text(errno)) }
        defer { close(descriptor) }
        var yes: Int32 = 1
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = number.bigEndian
        // Safe: each call reads a structure of ours, of the length it is told, and keeps no pointer.
        guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return .refused("no such address") }
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if bound == 0 && listen(descriptor, 1) == 0 { return .free }
        let code = errno
        return code == EADDRINUSE ? .taken(holder(of: number)) : .refused(SystemError.text(code))
    }

    /// The process that listens on `port`, if we may see it.
    static func holder(of port: UInt16) -> PortHolder? {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap { Files.readText($0) }
        let inodes = tables.flatMap(ListeningSocket.parse).filter { $0.port == port }.map { "socket:[\($0.inode)]" }
        if inodes.isEmpty { return nil }
        for name in Files.names(in: "/proc") {
            guard let pid = Int(name) else { continue }
            let files = "/proc/\(name)/fd"
            for file in Files.names(in: files) {
                guard let target = Files.link("\(files)/\(file)"), inodes.contains(target) else { continue }
                let text = Files.readText("/proc/\(name)/comm") ?? "?"
                return PortHolder(pid: pid, name: TextQuote.plain(String(text.prefix { $0 != "\n" })))
            }
        }
        return nil
    }

    static func fileLimits() -> (soft: UInt64, hard: UInt64) {
        var limits = rlimit()
        // Safe: the call fills the structure it is given and keeps no pointer.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return (0, 0) }
        return (UInt64(limits.rlim_cur), UInt64(limits.rlim_max))
    }

    /// Allows this process as many open files as it may have; each connection holds one.
    static func raiseFileLimit() {
        var limits = rlimit()
        // Safe: both calls use a structure of ours and keep no pointer.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return }
        limits.rlim_cur = limits.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }
}

extension MachineSurvey {
    /// Everything the rules want to know. Ports are tried on `host`, an IPv4 literal.
    static func facts(dataDirectory: String, host: String) -> MachineFacts {
        var facts = MachineFacts()
        facts.ports = defaultPorts.map { entry in
            MachineFacts.Port(
                surface: entry.surface, option: entry.option, number: entry.number,
                state: port(entry.number, host: host))
        }
        facts.wallMilliseconds = LocalClock.wallMilliseconds
        facts.programSeconds = Files.modifiedSeconds("/proc/self/exe")
        (facts.fileLimitSoft, facts.fileLimitHard) = fileLimits()
        facts.dataDirectory = dataDirectory
        facts.isDataDirectoryThere = Files.exists(dataDirectory)
        let place = facts.isDataDirectoryThere ? dataDirectory : Files.parent(dataDirectory)
        facts.isDataDirectoryWritable = Files.isWritable(place)
        facts.freeBytes = Files.freeBytes(at: place)
        facts.certificates = certificates(in: dataDirectory)
        facts.libraries = LoadedLibraries.versions()
        return facts
    }

    /// All certificates in a directory, by name; a bundle counts with its first.
    private static func certificates(in directory: String) -> [MachineFacts.CertificateFact] {
        Files.names(in: directory).sorted().compactMap { name in
            guard name.hasSuffix(".pem") else { return nil }
            let path = Files.join(directory, name)
            guard let text = Files.readText(path) else {
                return MachineFacts.CertificateFact(path: path, validity: nil)
            }
            guard text.contains("BEGIN CERTIFICATE") else { return nil }
            guard let certificate = try? Certificate(pem: text), certificate.notBefore <= certificate.notAfter
            else { return MachineFacts.CertificateFact(path: path, validity: nil) }
            return MachineFacts.CertificateFact(path: path, validity: certificate.notBefore...certificate.notAfter)
        }
    }
}
