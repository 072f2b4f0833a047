import Foundation

/// The built `localpush`, run as a process of its own.
final class Program {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private var unread = Data()

    /// Starts at once. `directory` is the current directory of the process.
    init(_ arguments: [String], in directory: URL, environment: [String: String] = [:]) throws {
        process.executableURL = Self.executable
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.environment = ["PATH": "/usr/bin:/bin", "TZ": "UTC"].merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    /// Beside the test bundle.
    static var executable: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("localpush")
    }

    var processID: Int32 { process.processIdentifier }

    /// The next line of standard output; `nil` at its end. Waits for it.
    func line() -> String? {
        while true {
            if let newline = unread.firstIndex(of: 0x0A) {
                let line = String(decoding: unread[unread.startIndex..<newline], as: UTF8.self)
                unread = Data(unread[(newline + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            unread += more
        }
    }

    /// Lines up to the first that holds `part`; `nil` when the output ends before.
    func line(with part: String) -> String? {
        while let line = line() {
            if line.contains(part) { return line }
        }
        return nil
    }

    func interrupt() { process.interrupt() }

    /// Waits for the end.
    func end() -> Result {
        var rest: [String] = []
        while let line = line() { rest.append(line) }
        let errorText = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Result(status: process.terminationStatus, output: rest.joined(separator: "\n"), errors: errorText)
    }

    struct Result {
        let status: Int32
        /// Without what `line` gave out.
        let output: String
        let errors: String
    }
}

/// A server on free ports in a directory of its own, for one test.
final class ServedDirectory {
    let directory: URL
    let ready: [String: Any]
    private let server: Program

    init(_ options: [String] = []) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("localpush-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let ports =
            ["apns", "courier", "http", "https"].flatMap { ["--\($0)-port", "0"] } + ["--broadcast-ports", "0,0"]
        server = try Program(["serve", "--ephemeral"] + ports + options, in: directory)
        guard let line = server.line(),
            let ready = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        else { throw Failure(text: server.end().errors) }
        self.ready = ready
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    struct Failure: Error {
        let text: String
    }

    var url: String { ready["http"] as? String ?? "" }

    func start(_ arguments: String...) throws -> Program {
        try Program(arguments, in: directory, environment: ["LOCALPUSH_SERVER": url])
    }

    func run(_ arguments: String...) throws -> Program.Result {
        try Program(arguments, in: directory, environment: ["LOCALPUSH_SERVER": url]).end()
    }

    /// Interrupts the server and waits for its end.
    func stop() -> Program.Result {
        server.interrupt()
        return server.end()
    }
}

/// A line of JSON, read as far as tests need it.
func object(_ line: String?) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data((line ?? "").utf8)) as? [String: Any] ?? [:]
}
