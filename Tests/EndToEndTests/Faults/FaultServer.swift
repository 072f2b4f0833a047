import Foundation

/// A server that tests may kill and start again: always the same data directory and the same ports.
final class FaultServer {
    let directory: URL
    private(set) var process: Process
    private(set) var ready: [String: Any] = [:]
    private let options: [String]
    private let shellPrefix: String
    private let ownsDirectory: Bool
    private var ports: [(name: String, number: Int)] = []

    /// `shellPrefix` runs in the shell that becomes the server, for limits. `directory` is kept when it is given.
    init(_ options: [String] = [], shellPrefix: String = "", directory: URL? = nil) throws {
        self.options = options
        self.shellPrefix = shellPrefix
        ownsDirectory = directory == nil
        self.directory =
            directory ?? FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.directory, withIntermediateDirectories: true)
        process = Process()
        // Fixed ports, so that clients find the server again; below those that the system gives to clients.
        for _ in 0..<20 {
            ports = ["apns", "courier", "http", "https"].map { ($0, Int.random(in: 10_000..<32_000)) }
            do {
                try start()
                return
            } catch let error as Failure where error.text.contains("-port") {
                continue
            }
        }
        throw Failure(text: "no free ports")
    }

    deinit {
        if process.isRunning { kill() }
        if ownsDirectory { try? FileManager.default.removeItem(at: directory) }
    }

    struct Failure: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }

    /// Starts and waits for the ready line.
    func start() throws {
        let words =
            ["serve", "--data", directory.appendingPathComponent("data").path]
            + ports.flatMap { ["--\($0.name)-port", "\($0.number)"] } + ["--broadcast-ports", "0,0"] + options
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", "\(shellPrefix) exec \"$0\" \"$@\"", Program.executable.path] + words
        process.currentDirectoryURL = directory
        process.environment = ["PATH": "/usr/bin:/bin", "TZ": "UTC"]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        // A file: a pipe that nobody reads would stop the server once it is full.
        if !FileManager.default.fileExists(atPath: logFile.path) { try Data().write(to: logFile) }
        let log = try FileHandle(forWritingTo: logFile)
        try log.seekToEnd()
        process.standardError = log
        try process.run()
        try log.close()
        var line = Data()
        while !line.contains(0x0A) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else {
                process.waitUntilExit()
                throw Failure(text: "status \(process.terminationStatus): \(self.log)")
            }
            line += more
        }
        ready = try object(String(decoding: line, as: UTF8.self))
    }

    /// SIGKILL; returns when the process is gone.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// SIGTERM; returns at once.
    func terminate() { Foundation.kill(process.processIdentifier, SIGTERM) }

    /// SIGTERM; returns the exit code.
    @discardableResult
    func stop() -> Int32 {
        terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    var processID: Int32 { process.processIdentifier }
    private var logFile: URL { directory.appendingPathComponent("log") }
    var log: String { (try? String(contentsOf: logFile, encoding: .utf8)) ?? "" }
    var storePath: String { directory.appendingPathComponent("data/store.sqlite").path }
    var url: String { ready["http"] as? String ?? "" }
    func port(_ name: String) -> UInt16 { UInt16(ports.first { $0.name == name }?.number ?? 0) }

    func text(ofFile key: String) throws -> String {
        let path = key == "key" ? (ready["key"] as? [String: Any])?["path"] : ready[key]
        return try String(contentsOfFile: path as? String ?? "", encoding: .utf8)
    }

    // MARK: Health

    /// Open files of the process, without those that SQLite makes when it needs one to roll a statement back.
    var descriptorNames: [String] {
        let directory = "/proc/\(processID)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.map { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\($0)")) ?? "?" }
            .filter { !$0.contains("etilqs_") }.sorted()
    }

    var descriptorCount: Int { descriptorNames.count }

    var residentBytes: Int {
        let status = (try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0)
            * 1024
    }

    /// Waits until not more than `count` files are open; false when that does not come.
    func waitForDescriptors(atMost count: Int) -> Bool { eventually { descriptorCount <= count } }

    /// One request of the control API on a connection of its own.
    func get(_ path: String) throws -> (status: Int, body: String) {
        let client = try RawClient(port: port("http"))
        try client.send(Array("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
        let text = String(decoding: try client.receiveAll(), as: UTF8.self)
        let status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return (status, text.range(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? "")
    }

    var isHealthy: Bool { (try? get("/healthz").status) == 200 }
}

/// Asks again and again, for a minute at most: a deadline that only stops a hang.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<3000 {
        if try condition() { return true }
        usleep(20_000)
    }
    return try condition()
}
