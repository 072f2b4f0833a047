/// From facts to findings. Pure.
enum DoctorRules {
    /// A device, a provider and a control call hold one file each; with less, a small farm of devices does not fit.
    static let fileLimitMin: UInt64 = 1024
    /// The store of a long test run fits.
    static let freeBytesMin: UInt64 = 100 << 20
    /// Certificates that end within this time are reported, in seconds.
    static let expiryWarning: Int64 = 14 * 86_400
    /// 2025-01-01 in unix seconds: before this release existed.
    static let earliestSeconds: Int64 = 1_735_689_600

    static func findings(_ facts: MachineFacts) -> [Finding] {
        facts.ports.map(port) + [clock(facts), files(facts), data(facts)]
            + facts.certificates.map { certificate($0, now: facts.wallMilliseconds / 1000) }
            + facts.libraries.map { Finding(subject: $0.name, verdict: .good, message: $0.version) }
    }

    private static func port(_ fact: MachineFacts.Port) -> Finding {
        let subject = "port \(fact.number) (\(fact.surface))"
        switch fact.state {
        case .free:
            return Finding(subject: subject, verdict: .good, message: "free")
        case .taken(let holder?) where holder.name == "localpush":
            return Finding(
                subject: subject, verdict: .note, message: "a LocalPush holds it (process \(holder.pid))")
        case .taken(let holder):
            let who = holder.map { "taken by \($0.name) (process \($0.pid))" } ?? "taken by another user's process"
            return Finding(
                subject: subject, verdict: .bad, message: who,
                remedy: "stop it, or start with another port: localpush serve \(fact.option) 0")
        case .refused(let reason):
            return Finding(
                subject: subject, verdict: .bad, message: "cannot be opened: \(reason)",
                remedy: "start with another port: localpush serve \(fact.option) 0")
        }
    }

    private static func clock(_ facts: MachineFacts) -> Finding {
        let seconds = facts.wallMilliseconds / 1000
        let earliest = max(earliestSeconds, (facts.programSeconds ?? 0) - 86_400)
        if seconds < earliest {
            return Finding(
                subject: "clock", verdict: .bad, message: "stands before this program was made",
                remedy: "set it: provider tokens and certificates are judged by it")
        }
        return Finding(subject: "clock", verdict: .good, message: "plausible")
    }

    private static func files(_ facts: MachineFacts) -> Finding {
        let limits = "\(facts.fileLimitSoft) now, \(facts.fileLimitHard) at most"
        if facts.fileLimitHard < fileLimitMin {
            return Finding(
                subject: "open files", verdict: .bad, message: limits,
                remedy: "allow at least \(fileLimitMin) (hard limit, 'ulimit -Hn'): each connection holds one")
        }
        return Finding(subject: "open files", verdict: .good, message: limits)
    }

    private static func data(_ facts: MachineFacts) -> Finding {
        let subject = "data directory"
        let path = TextQuote.plain(facts.dataDirectory)
        if !facts.isDataDirectoryWritable {
            return Finding(
                subject: subject, verdict: .bad, message: "\(path) cannot be written",
                remedy: "choose another with --data, or run with --ephemeral")
        }
        if let free = facts.freeBytes, free < freeBytesMin {
            return Finding(
                subject: subject, verdict: .bad, message: "only \(free >> 20) MiB are free at \(path)",
                remedy: "make room, or choose another directory with --data")
        }
        if !facts.isDataDirectoryThere {
            return Finding(
                subject: subject, verdict: .note, message: "\(path) does not exist yet; 'localpush serve' makes it")
        }
        return Finding(subject: subject, verdict: .good, message: "\(path) can be written")
    }

    private static func certificate(_ fact: MachineFacts.CertificateFact, now: Int64) -> Finding {
        let subject = "certificate"
        let path = TextQuote.plain(fact.path)
        let renew = "stop the server and delete the file; the next start makes a new one"
        guard let validity = fact.validity else {
            return Finding(subject: subject, verdict: .bad, message: "\(path) cannot be read", remedy: renew)
        }
        if now < validity.lowerBound {
            return Finding(
                subject: subject, verdict: .bad, message: "\(path) is not valid yet", remedy: "check the clock")
        }
        if now > validity.upperBound {
            return Finding(subject: subject, verdict: .bad, message: "\(path) has expired", remedy: renew)
        }
        let days = (validity.upperBound - now) / 86_400
        if validity.upperBound - now < expiryWarning {
            return Finding(
                subject: subject, verdict: .bad, message: "\(path) expires in \(days) days", remedy: renew)
        }
        return Finding(subject: subject, verdict: .good, message: "\(path) is valid for \(days) more days")
    }
}
