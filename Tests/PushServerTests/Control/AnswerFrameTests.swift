import Foundation
import PushBytes
import PushCrypto
import PushHTTP2
import PushJSON
import PushServer
import Testing

/// The exact frames and fields of answers to providers, over TLS.
@Suite struct AnswerFrameTests {
    /// RFC 9113, section 4.1.
    struct Frame: Equatable {
        let type: UInt8
        let flags: UInt8
        let stream: UInt32
        let payload: [UInt8]

        static let data: UInt8 = 0
        static let headers: UInt8 = 1

        static func split(_ bytes: [UInt8]) -> [Frame] {
            var frames: [Frame] = []
            var rest = bytes[...]
            while rest.count >= 9 {
                let head = Array(rest.prefix(9))
                let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
                guard rest.count >= 9 + count else { break }
                let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                frames.append(
                    Frame(
                        type: head[3], flags: head[4], stream: stream, payload: Array(rest.dropFirst(9).prefix(count))))
                rest = rest.dropFirst(9 + count)
            }
            return frames
        }
    }

    struct Answer {
        /// HEADERS and DATA of the answer's stream: type and flags.
        let frames: [[UInt8]]
        let fields: [[String]]
        let body: String

        func value(_ name: String) -> String? { fields.first { $0[0] == name }?[1] }
    }

    /// Sends one request on a connection of its own.
    static func ask(
        _ bench: ControlBench, _ token: String, _ extra: [(String, String)] = [], leaving: String? = nil
    ) throws -> Answer {
        let talk = try TLSConversation(bench.server.ready, address: bench.server.ready.apns, protocols: ["h2"])
        defer { talk.close() }
        let engine = try HTTP2ClientEngine()
        var fields = HTTP2FieldList()
        let usual = [
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "localhost"),
            ("authorization", try bearer(bench)), ("apns-topic", ControlBench.app), ("apns-push-type", "alert"),
        ]
        // Pseudo fields stand before all others.
        let all = extra.filter { $0.0.hasPrefix(":") } + usual.filter { $0.0 != leaving }
        for (name, value) in all + extra.filter({ !$0.0.hasPrefix(":") }) { fields.append(name, value) }
        let stream = try engine.submit(fields: fields, body: Array(#"{"aps":{}}"#.utf8))
        var output = ByteQueue()
        try engine.drain(into: &output)
        try talk.send(output.bytes)
        var read = 0
        var message: HTTP2Message?
        _ = try talk.turn {
            let new = Array(talk.received[read...])
            read = talk.received.count
            try engine.receive(new.span)
            while let event = engine.nextEvent() {
                if case .response(let response) = event { message = response }
            }
            return message != nil
        }
        let response = try #require(message)
        let own = Frame.split(talk.received).filter { $0.stream == UInt32(stream) }
        return Answer(
            frames: own.map { [$0.type, $0.flags] },
            fields: response.fields.map { field in
                [field.name, field.value].map { String(decoding: response.bytes[$0], as: UTF8.self) }
            }, body: String(decoding: response.body, as: UTF8.self))
    }

    static func bearer(_ bench: ControlBench) throws -> String {
        let key = try ES256PrivateKey(pem: String(contentsOfFile: bench.server.ready.keyPath, encoding: .utf8))
        let header = Base64.encode(Array(#"{"alg":"ES256","kid":"LOCALPUSH1"}"#.utf8), .url)
        let now = Int(Date().timeIntervalSince1970)
        let claims = Base64.encode(Array(#"{"iss":"LOCALTEAM1","iat":\#(now)}"#.utf8), .url)
        let signature = Base64.encode(try key.sign(Array("\(header).\(claims)".utf8)), .url)
        return "bearer \(header).\(claims).\(signature)"
    }

    static func isUpperCaseID(_ text: String?) -> Bool {
        text?.wholeMatch(of: /[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}/) != nil
    }

    @Test func anAcceptedPushIsAnsweredByHeadersAlone() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let answer = try Self.ask(bench, phone.token)
            // END_STREAM and END_HEADERS.
            #expect(answer.frames == [[Frame.headers, 0x05]])
            #expect(answer.fields.map { $0[0] } == [":status", "apns-id", "apns-unique-id"])
            #expect(answer.value(":status") == "200")
            #expect(Self.isUpperCaseID(answer.value("apns-id")))
            #expect(Self.isUpperCaseID(answer.value("apns-unique-id")))
            #expect(answer.body.isEmpty)
        }
    }

    @Test(arguments: [
        "6f1a3c1e-abcd-4000-8000-0123456789ab", "6F1A3C1E-ABCD-4000-8000-0123456789AB",
        "6f1A3c1E-AbCd-4000-8000-0123456789aB",
    ])
    func theProvidersIDComesBackAsItWasWritten(id: String) async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let accepted = try Self.ask(bench, phone.token, [("apns-id", id)])
            #expect(accepted.value("apns-id") == id)
            #expect(Self.isUpperCaseID(accepted.value("apns-unique-id")))
            let refused = try Self.ask(bench, phone.token, [("apns-id", id), ("apns-priority", "7")])
            #expect(refused.value("apns-id") == id)
        }
    }

    @Test func aRefusalIsHeadersAndOneDataFrameOfCompactJSON() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let refusals:
                [(extra: [(String, String)], leaving: String?, token: String, status: String, reason: String)] = [
                    ([("apns-priority", "7")], nil, phone.token, "400", "BadPriority"),
                    ([("apns-id", "no-uuid")], nil, phone.token, "400", "BadMessageId"),
                    ([], "apns-topic", phone.token, "400", "MissingTopic"),
                    ([], "authorization", phone.token, "403", "MissingProviderToken"),
                    ([], nil, "abc", "400", "BadDeviceToken"),
                    ([(":method", "GET")], ":method", phone.token, "405", "MethodNotAllowed"),
                    ([(":path", "/3/phone/1")], ":path", phone.token, "404", "BadPath"),
                ]
            for (extra, leaving, token, status, reason) in refusals {
                let answer = try Self.ask(bench, token, extra, leaving: leaving)
                // END_HEADERS, then END_STREAM.
                #expect(answer.frames == [[Frame.headers, 0x04], [Frame.data, 0x01]], "\(reason)")
                #expect(answer.fields.map { $0[0] } == [":status", "apns-id", "content-type"])
                #expect(answer.value(":status") == status)
                #expect(answer.value("content-type") == "application/json")
                #expect(Self.isUpperCaseID(answer.value("apns-id")))
                #expect(answer.body == #"{"reason":"\#(reason)"}"#)
            }
        }
    }

    @Test func aTokenThatEndedIsAnsweredWithTheTimeInMilliseconds() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            try await bench.change(phone, ["registered": false])
            let answer = try Self.ask(bench, phone.token)
            #expect(answer.frames == [[Frame.headers, 0x04], [Frame.data, 0x01]])
            #expect(answer.value(":status") == "410")
            let found = try #require(answer.body.wholeMatch(of: /\{"reason":"Unregistered","timestamp":(\d{13})\}/))
            #expect(try #require(Int64(found.1)) > 1_600_000_000_000)
        }
    }

    @Test func theControlAPISpeaksTLSToo() async throws {
        try await ControlBench.run { bench in
            let address = bench.server.ready.https.replacing("https://", with: "")
            let talk = try TLSConversation(bench.server.ready, address: address, protocols: ["http/1.1"])
            try talk.send(Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
            _ = talk.turn { talk.isClosed }
            let text = String(decoding: talk.received, as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 200 "))
            #expect(text.contains("Content-Type: application/json\r\n"))
            #expect(text.hasSuffix("\r\n\r\n{\"status\":\"ok\"}"))
        }
    }
}
