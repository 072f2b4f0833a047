/// What `doctor` looked at; the rules only read this.
struct MachineFacts {
    enum PortState: Equatable {
        case free
        case taken(PortHolder?)
        /// The system's words.
        case refused(String)
    }

    struct Port {
        let surface: String
        let option: String
        let number: UInt16
        let state: PortState
    }

    struct CertificateFact {
        let path: String
        /// Unix seconds; `nil` when the file is no certificate.
        let validity: ClosedRange<Int64>?
    }

    var ports: [Port] = []
    var wallMilliseconds: Int64 = 0
    /// When this program was built or installed, in unix seconds.
    var programSeconds: Int64?
    var fileLimitSoft: UInt64 = 0
    var fileLimitHard: UInt64 = 0
    var dataDirectory = ""
    var isDataDirectoryThere = false
    /// Of the directory, or of the one it would be made in.
    var isDataDirectoryWritable = true
    var freeBytes: UInt64?
    var certificates: [CertificateFact] = []
    var libraries: [(name: String, version: String)] = []
}

/// One line of the doctor's report.
struct Finding: Equatable {
    enum Verdict: String {
        case good = "ok"
        case note
        /// Something needs doing.
        case bad = "fix"
    }

    let subject: String
    let verdict: Verdict
    let message: String
    var remedy: String?
}
