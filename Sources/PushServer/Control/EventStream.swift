import PushCore
import PushHTTP1
import PushJSON
import PushReactor
import PushStore

/// The journal as server-sent events for one reader, from a place in it to the present and on. Bound to the loop.
///
/// A reader gets every line, however slow it is: the journal keeps them. One that takes nothing at all is closed by
/// the HTTP server, after `HTTP1Server.silenceMax`.
final class EventStream {
    /// Lines sent per turn, so that a long backlog does not hold the loop.
    static let linesPerTurnMax = 500
    /// What may wait for a slow reader before we wait for it: less than a turn's lines below the exchange's limit.
    static let bytesWaitingMax = 1 << 20
    /// How soon we look again whether a slow reader has caught up.
    static let pause = Duration.milliseconds(50)

    private let exchange: HTTP1Exchange
    private let service: PushService
    private let loop: EventLoop
    private let pushID: (Int64) -> String?
    private var cursor: Int64
    private var timer: Timer?

    init(
        _ exchange: HTTP1Exchange, service: PushService, loop: EventLoop, after: Int64,
        pushID: @escaping (Int64) -> String?
    ) {
        self.exchange = exchange
        self.service = service
        self.loop = loop
        self.pushID = pushID
        cursor = after
        timer = Timer(loop: loop) { [weak self] in self?.sendMore() }
    }

    func begin() {
        exchange.beginStream(
            status: 200, headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")])
        // A comment opens the stream at once, so that a reader knows it is there.
        exchange.send(Array(": localpush\n\n".utf8))
        sendMore()
    }

    /// The journal has moved.
    func advance() {
        // Who is behind gets this with the rest.
        if timer?.isScheduled != true { sendMore() }
    }

    private func sendMore() {
        guard exchange.isOpen else { return }
        guard exchange.streamBytesWaiting < Self.bytesWaitingMax else {
            timer?.schedule(after: Self.pause)
            return
        }
        guard let events = try? service.store.events(after: cursor, limit: Self.linesPerTurnMax),
            let last = events.last
        else { return }
        cursor = last.sequence
        exchange.send(Array(events.map(line).joined().utf8))
        if events.count == Self.linesPerTurnMax { timer?.schedule(after: .zero) }
    }

    private func line(_ event: JournalEvent) -> String {
        var members = [JSONMember("seq", .int(event.sequence)), JSONMember("state", .string(event.milestone.text))]
        members.append(JSONMember("at", .int(event.at)))
        if event.push != 0, let id = pushID(event.push) { members.append(JSONMember("push", .string(id))) }
        if event.device != 0 { members.append(JSONMember("device", .string("d\(event.device)"))) }
        if let detail = Self.detail(event) { members.append(JSONMember("detail", .string(detail))) }
        return "id: \(event.sequence)\nevent: \(event.milestone.text)\ndata: \(JSONValue.object(members).text)\n\n"
    }

    private static func detail(_ event: JournalEvent) -> String? {
        switch event.milestone {
        case .rejected: APNsReason(rawValue: UInt8(clamping: event.detail))?.text
        case .dropped: DropCause(rawValue: event.detail)?.explanation
        case .sent: "attempt \(event.detail)"
        default: nil
        }
    }
}
