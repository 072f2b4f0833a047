import Testing

@testable import localpush

@Suite struct ServerURLTests {
    @Test(
        arguments: [
            ("http://127.0.0.1:7580", "127.0.0.1", 7580, ""), ("http://localhost", "localhost", 80, ""),
            ("http://[::1]:7580/", "::1", 7580, ""), ("http://[::1]", "::1", 80, ""),
            ("http://a.example:1/push/", "a.example", 1, "/push"),
        ] as [(String, String, UInt16, String)])
    func aURLIsTakenApart(text: String, host: String, port: UInt16, prefix: String) throws {
        let url = try ServerURL(text)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.prefix == prefix)
    }

    @Test(arguments: [
        "", "127.0.0.1:7580", "https://127.0.0.1:7543", "http://", "http://:1", "http://a:x", "http://a/b c",
        "http://a/?q",
    ])
    func whatIsNoURLOfAServerIsAUsageError(text: String) {
        #expect(performing: { try ServerURL(text) }, throws: { ($0 as? CommandFailure)?.exitCode == .usage })
    }
}

@Suite struct ControlRequestTests {
    @Test func everythingForeignIsEscaped() {
        var request = ControlRequest("GET", "devices", "a/b c")
        request.ask("match", "aps.alert.title=Grüße & more")
        request.ask("none", nil)
        #expect(
            request.target(prefix: "/x")
                == "/x/localpush/v1/devices/a%2Fb%20c?match=aps.alert.title%3DGr%C3%BC%C3%9Fe%20%26%20more")
    }

    @Test func anErrorOfTheServerBecomesOneLine() throws {
        let body = #"{"error":{"code":"unknown_device","message":"no device d9","hint":"see devices"}}"#
        let reply = ControlReply(status: 404, body: try JSONText.parse(body))
        #expect(reply.failure.description == "no device d9; see devices")
        #expect(reply.failure.exitCode == .no)
    }

    @Test func whatTheServerCallsABadFieldIsAUsageError() throws {
        let body = try JSONText.parse(#"{"error":{"code":"bad_field","message":"No.","hint":"Say yes."}}"#)
        let failure = ControlReply(status: 400, body: body).failure
        #expect(failure.exitCode == .usage)
        #expect(failure.description == "No. Say yes.")
    }

    @Test func aMissingControlTokenNamesTheOption() throws {
        let reply = ControlReply(status: 401, body: try JSONText.parse(#"{"error":{"message":"a token is needed"}}"#))
        #expect(reply.failure.description.contains("--control-token"))
    }

    @Test func anAnswerWithoutAnErrorBodyIsToldByItsStatus() throws {
        #expect(
            ControlReply(status: 502, body: try JSONText.parse("null")).failure.message == "the server answered 502")
    }
}

@Suite struct ServerSentEventsTests {
    private static let stream = "id: 7\nevent: sent\ndata: {\"a\":1}\n\n: comment\r\ndata: x\r\ndata:y\r\rdata: z\n\n\n"
    private static let expected: [ServerSentEvents.Event] = [
        .init(id: "7", name: "sent", data: "{\"a\":1}"), .init(id: "7", name: "message", data: "x\ny"),
        .init(id: "7", name: "message", data: "z"),
    ]

    @Test func eventsAreTheSameHoweverTheStreamIsCut() {
        let bytes = Array(Self.stream.utf8)
        for cut in 0...bytes.count {
            var reader = ServerSentEvents()
            let events = reader.receive(Array(bytes[..<cut])) + reader.receive(Array(bytes[cut...]))
            #expect(events == Self.expected, "cut at \(cut)")
        }
    }

    @Test func aLineBeyondTheLimitIsDroppedAndTheNextEventIsRead() {
        var reader = ServerSentEvents()
        let long = [UInt8](repeating: 0x61, count: ServerSentEvents.lineBytesMax + 1)
        #expect(reader.receive(Array("data: ".utf8) + long + Array("\n\ndata: b\n\n".utf8)).map(\.data) == ["b"])
    }
}
