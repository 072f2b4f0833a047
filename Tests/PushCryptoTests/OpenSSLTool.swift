import Foundation

/// The `openssl` command, as an independent maker and judge of keys and certificates.
enum OpenSSLTool {
    struct Failed: Error { let arguments: [String], text: String }

    static func run(_ arguments: String..., input: String = "") throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let (input_, output) = (Pipe(), Pipe())
        process.standardInput = input_
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        input_.fileHandleForWriting.write(Data(input.utf8))
        try input_.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(arguments: arguments, text: text) }
        return text
    }

    /// Runs `body` with an empty directory that is gone afterwards.
    static func withDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
        let path = NSTemporaryDirectory() + "push-crypto-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    static func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}
