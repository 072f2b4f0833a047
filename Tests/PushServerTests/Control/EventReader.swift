import Foundation
import PushHTTP1
import PushJSON

/// Reads the journal's event stream line by line.
final class EventReader {
    struct Event: Equatable {
        let id: Int64
        let name: String
        let data: JSONValue
    }

    private let bench: ControlBench
    private let call: Int
    private var chunks: AsyncStream<[UInt8]>.Iterator
    private var unread = ""
    private let parser = JSONParser()

    /// Returns when the stream is open.
    init(_ bench: ControlBench, _ target: String, lastEventID: Int64? = nil) async throws {
        self.bench = bench
        let (chunks, source) = AsyncStream<[UInt8]>.makeStream()
        var plan = bench.plan("GET", target, headers: lastEventID.map { [("Last-Event-ID", "\($0)")] } ?? [])
        plan.onChunk = { source.yield($0) }
        plan.done = { _ in source.finish() }
        call = bench.caller.start(plan)
        self.chunks = chunks.makeAsyncIterator()
        while !unread.hasPrefix(": localpush\n\n") {
            guard let chunk = await self.chunks.next() else { throw HTTP1Error.connectionLost }
            unread += String(decoding: chunk, as: UTF8.self)
        }
        unread.removeFirst(": localpush\n\n".count)
    }

    /// The next event; `nil` when the stream has ended.
    func next() async throws -> Event? {
        while true {
            if let end = unread.range(of: "\n\n") {
                let lines = unread[..<end.lowerBound].split(separator: "\n").map {
                    $0.split(separator: ": ", maxSplits: 1)
                }
                unread.removeSubrange(..<end.upperBound)
                guard lines.count == 3, lines.map({ String($0[0]) }) == ["id", "event", "data"] else { return nil }
                return Event(
                    id: Int64(lines[0][1]) ?? 0, name: String(lines[1][1]), data: try parser.parse(String(lines[2][1])))
            }
            guard let chunk = await chunks.next() else { return nil }
            unread += String(decoding: chunk, as: UTF8.self)
        }
    }

    func next(_ count: Int) async throws -> [Event] {
        var events: [Event] = []
        while events.count < count, let event = try await next() { events.append(event) }
        return events
    }

    func close() { bench.caller.cancel(call) }
}
