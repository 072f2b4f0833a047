import PushBytes
import PushCore
import PushCrypto
import PushHTTP2
import PushServer

/// A provider with one HTTP/2 connection in memory. It sends numbered pushes, never again after a cut, and notes
/// which were answered 200.
final class SimulatedProvider {
    static let key: ES256PrivateKey = {
        guard let key = try? ES256PrivateKey() else { preconditionFailure("a key can be made") }
        return key
    }()

    let bearer: String
    let token: String
    private(set) var lastNumber = 0
    private(set) var accepted: [Int] = []
    private(set) var refused: [Int: Int] = [:]
    private(set) var problems: [String] = []
    private var engine: HTTP2ClientEngine?
    private var outstanding: [Int32: Int] = [:]
    private var fields = HTTP2FieldList()

    init(token: String, unixSeconds: Int64) {
        self.token = token
        bearer = Self.makeBearer(unixSeconds: unixSeconds)
    }

    static func makeBearer(unixSeconds: Int64) -> String {
        let header = Base64.encode(Array(#"{"alg":"ES256","kid":"KEY1"}"#.utf8), .url)
        let claims = Base64.encode(Array(#"{"iss":"TEAM1","iat":\#(unixSeconds)}"#.utf8), .url)
        let signature = (try? key.sign(Array("\(header).\(claims)".utf8))) ?? []
        return "bearer \(header).\(claims).\(Base64.encode(signature, .url))"
    }

    func connect() {
        engine = try? HTTP2ClientEngine()
        outstanding = [:]
    }

    /// The answers of what is outstanding will never come.
    func cut() {
        engine = nil
        outstanding = [:]
    }

    var isIdle: Bool { outstanding.isEmpty }

    func send() {
        guard let engine, engine.canSubmit else { return }
        lastNumber += 1
        fields.removeAll()
        fields.append(":method", "POST")
        fields.append(":scheme", "https")
        fields.append(":authority", "localhost")
        fields.append(":path", "/3/device/\(token)")
        fields.append("authorization", bearer)
        fields.append("apns-topic", "com.example.app")
        do {
            let stream = try engine.submit(fields: fields, body: Array(#"{"n":\#(lastNumber)}"#.utf8))
            outstanding[stream] = lastNumber
        } catch {
            problems.append("push \(lastNumber) could not be submitted: \(error)")
        }
    }

    func receive(_ bytes: Span<UInt8>) {
        guard let engine else { return }
        do { try engine.receive(bytes) } catch { problems.append("the server broke HTTP/2: \(error)") }
        while let event = engine.nextEvent() {
            guard case .response(let message) = event else { continue }
            if let number = outstanding.removeValue(forKey: message.streamID) {
                switch message.text(of: ":status") {
                case "200": accepted.append(number)
                case let status: refused[number] = Int(status ?? "") ?? 0
                }
            }
            engine.recycle(message)
        }
    }

    func drain(into queue: inout ByteQueue) { try? engine?.drain(into: &queue) }
}
