import Foundation
import PushBytes
import PushCrypto
import PushHTTP2
import PushTLS

/// A provider on one connection that sends in a known order and notes what became of each push.
final class RawProvider {
    let client: RawClient
    private let engine = try! HTTP2ClientEngine()
    private let authorization: String
    private let token: String
    /// Numbers of pushes by stream, while there is no answer.
    private(set) var open: [Int32: Int] = [:]
    /// Numbers of pushes that were answered, in the order of the answers.
    private(set) var accepted: [Int] = []
    private(set) var refused: [(number: Int, status: Int, body: String)] = []
    /// Pushes whose stream ended without an answer: the code of the end.
    private(set) var ended: [(number: Int, code: UInt32)] = []
    private(set) var goodbye: String?

    init(_ server: FaultServer, token: String) throws {
        let context = try TLSContext.client(
            trust: .authorities(pem: try server.text(ofFile: "ca")), applicationProtocols: ["h2"])
        client = try RawClient(port: server.port("apns"), context: context)
        self.token = token
        authorization = try Self.authorization(server)
        try flush()
    }

    private static func authorization(_ server: FaultServer) throws -> String {
        let key = server.ready["key"] as? [String: Any] ?? [:]
        let header = Base64.encode(Array(#"{"alg":"ES256","kid":"\#(key["id"] ?? "")"}"#.utf8), .url)
        let claims = #"{"iss":"\#(key["team"] ?? "")","iat":\#(Int(Date().timeIntervalSince1970))}"#
        let signed = header + "." + Base64.encode(Array(claims.utf8), .url)
        let signer = try ES256PrivateKey(pem: try server.text(ofFile: "key"))
        return "bearer " + signed + "." + Base64.encode(try signer.sign(Array(signed.utf8)), .url)
    }

    static func payload(_ number: Int, padding: Int = 0) -> String {
        #"{"aps":{"alert":"x"},"n":\#(number),"p":"\#(String(repeating: "p", count: padding))"}"#
    }

    /// The number in such a payload.
    static func number(_ payload: some Sequence<UInt8>) -> Int? {
        let object = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
        return object?["n"] as? Int
    }

    func submit(_ number: Int, padding: Int = 0, body: [UInt8]? = nil, extra: [(String, String)] = []) throws {
        var fields = HTTP2FieldList()
        fields.append(":method", "POST")
        fields.append(":scheme", "https")
        fields.append(":authority", "127.0.0.1")
        fields.append(":path", "/3/device/\(token)")
        fields.append("authorization", authorization)
        fields.append("apns-topic", "com.example.app")
        fields.append("apns-push-type", "alert")
        for (name, value) in extra { fields.append(name, value) }
        let stream = try engine.submit(
            fields: fields, body: body ?? Array(Self.payload(number, padding: padding).utf8))
        open[stream] = number
    }

    /// Room for another push.
    var canSubmit: Bool { goodbye == nil && engine.canSubmit }

    func flush() throws {
        var bytes = ByteQueue()
        try engine.drain(into: &bytes)
        if !bytes.isEmpty { try client.send(bytes.bytes) }
    }

    /// Takes what has come, and waits for something when `waits`.
    func receive(waits: Bool = true) throws {
        let bytes = try client.receive(waits: waits)
        try bytes.withUnsafeBufferPointer { try engine.receive($0.span) }
        while let event = engine.nextEvent() { note(event) }
    }

    private func note(_ event: HTTP2ClientEngine.Event) {
        switch event {
        case .response(let message):
            let status = Int(message.text(of: ":status") ?? "") ?? 0
            if let number = open.removeValue(forKey: message.streamID) {
                if status == 200 {
                    accepted.append(number)
                } else {
                    refused.append((number, status, String(decoding: message.body, as: UTF8.self)))
                }
            }
            engine.recycle(message)
        case .streamClosed(let stream, let code):
            if let number = open.removeValue(forKey: stream) { ended.append((number, code)) }
        case .goAway(_, _, let data): goodbye = String(decoding: data, as: UTF8.self)
        case .settings, .pingAcknowledged: break
        }
    }

    /// Sends pushes with these numbers and waits for all their answers.
    func send(_ numbers: Range<Int>, padding: Int = 0) throws {
        var next = numbers.lowerBound
        while next < numbers.upperBound || !open.isEmpty {
            while next < numbers.upperBound && open.count < 200 && canSubmit {
                try submit(next, padding: padding)
                next += 1
            }
            try flush()
            try receive()
            if client.isEnded { throw RawClient.Failure(text: "the server has closed") }
        }
    }
}
