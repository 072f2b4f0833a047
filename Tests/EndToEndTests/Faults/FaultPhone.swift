import Foundation
import PushCore
import PushStore

/// `localpush phone` against a `FaultServer`, always with the same state; and what the server tells of its pushes.
final class FaultPhone {
    private let program: Program
    private static let inOrder = #""event":"message""#

    init(_ server: FaultServer, options: [String] = []) throws {
        program = try Program(
            ["phone", "--json", "--state-dir", "phone"] + options, in: server.directory,
            environment: ["LOCALPUSH_SERVER": server.url])
    }

    /// Registers the phone and lets it go; returns its token.
    static func register(_ server: FaultServer) throws -> String {
        let phone = try FaultPhone(server)
        let token = try phone.token()
        phone.interrupt()
        _ = phone.program.end()
        // The server must know that it left, else it sends into the closing connection.
        guard try eventually({ try !device(server, "online") }) else { throw RawClient.Failure(text: "still online") }
        return token
    }

    private static func device(_ server: FaultServer, _ key: String) throws -> Bool {
        let devices = try object(server.get("/localpush/v1/devices").body)["devices"] as? [[String: Any]] ?? []
        return devices.contains { $0[key] as? Bool == true }
    }

    /// Runs a phone until it has printed so many messages.
    static func run(_ server: FaultServer, count: Int) throws -> (numbers: [Int], status: Int32) {
        let phone = try FaultPhone(server, options: ["--count", "\(count)", "--exit-after", "2m"])
        let result = phone.program.end()
        let lines = result.output.split(separator: "\n").filter { $0.contains(inOrder) }
        let numbers = try lines.map { try number(String($0)) }
        // Having ended, it has acknowledged all; the server may still be reading that.
        _ = try eventually { try waiting(server) == 0 }
        return (numbers, result.status)
    }

    func token() throws -> String {
        try object(program.line(with: #""event":"token""#))["token"] as? String ?? ""
    }

    /// Messages as they are printed, up to the one with this number.
    func numbers(upTo last: Int) throws -> [Int] {
        var numbers: [Int] = []
        while numbers.last != last {
            guard let line = program.line(with: Self.inOrder) else { break }
            numbers.append(try Self.number(line))
        }
        return numbers
    }

    /// Kills the phone when it has printed so many messages; returns all that it had printed by then.
    func killAfter(messages: Int) throws -> [Int] {
        var numbers: [Int] = []
        while numbers.count < messages, let line = program.line(with: Self.inOrder) {
            numbers.append(try Self.number(line))
        }
        Foundation.kill(program.processID, SIGKILL)
        while let line = program.line(with: Self.inOrder) { numbers.append(try Self.number(line)) }
        _ = program.end()
        return numbers
    }

    func interrupt() { program.interrupt() }

    private static func number(_ line: String) throws -> Int {
        (try object(line)["payload"] as? [String: Any])?["n"] as? Int ?? -1
    }

    // MARK: The server's view

    /// Of the newest thousand pushes: how many are in which state.
    static func states(_ server: FaultServer) throws -> [String: Int] {
        let pushes = try object(server.get("/localpush/v1/pushes?limit=1000").body)["pushes"] as? [[String: Any]] ?? []
        return pushes.reduce(into: [:]) { $0[$1["state"] as? String ?? "", default: 0] += 1 }
    }

    /// Pushes that have not ended, of the newest thousand.
    static func waiting(_ server: FaultServer) throws -> Int {
        let states = try states(server)
        return ["accepted", "stored", "sent"].reduce(0) { $0 + (states[$1] ?? 0) }
    }

    /// The numbers of the accepted pushes, in the order of the journal. Of the newest thousand.
    static func accepted(_ server: FaultServer) throws -> [Int] {
        let pushes = try object(server.get("/localpush/v1/pushes?limit=1000").body)["pushes"] as? [[String: Any]] ?? []
        return pushes.filter { $0["status"] as? Int == 200 }.map {
            ($0["payload"] as? [String: Any])?["n"] as? Int ?? -1
        }
    }
}

/// Reads a store whose server has ended.
enum StoreReader {
    /// All accepted pushes, oldest first.
    static func accepted(_ store: PushStore) throws -> [StoredPush] {
        var found: [StoredPush] = []
        var query = PushQuery()
        query.limit = PushStore.queryLimitMax
        while true {
            let page = try store.pushes(query)
            found = page.filter { $0.record.reason == nil } + found
            guard page.count == query.limit else { return found }
            query.before = page[0].record.sequence
        }
    }
}
