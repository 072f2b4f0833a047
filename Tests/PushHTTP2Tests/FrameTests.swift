import PushBytes
import Testing

@testable import PushHTTP2

@Suite struct FrameTests {
    @Test func firstFrameIsTheSettingsAppleSends() throws {
        let frames = try HTTP2ServerEngine().frames()
        let expected: [UInt8] = [
            0, 1, 0, 0, 0x10, 0, 0, 3, 0, 0, 0x03, 0xE8, 0, 4, 0, 0, 0xFF, 0xFF, 0, 5, 0, 0, 0x40, 0, 0, 6, 0, 0, 0x1F,
            0x40,
        ]
        #expect(frames == [Frame(type: Frame.settings, payload: expected)])
    }

    @Test func successIsOneHeadersFrameThatEndsTheStream() throws {
        let server = try HTTP2ServerEngine.started()
        try server.receive(
            Frame(type: Frame.headers, flags: Frame.endHeaders, stream: 1, payload: Frame.request),
            Frame(type: Frame.data, flags: Frame.endStream, stream: 1, payload: Array("{}".utf8)))
        server.respond(to: 1, fields: .status(200, ("apns-id", "x")))
        let frames = try server.frames()
        #expect(frames.map(\.type) == [Frame.headers])
        #expect(frames[0].flags == Frame.endHeaders | Frame.endStream)
        #expect(frames[0].stream == 1)
    }

    @Test func rejectionIsHeadersAndOneDataFrameThatEndsTheStream() throws {
        let server = try HTTP2ServerEngine.started()
        try server.receive(
            Frame(type: Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: Frame.request))
        let body = Array(#"{"reason":"BadDeviceToken"}"#.utf8)
        server.respond(to: 1, fields: .status(400), body: body)
        let frames = try server.frames()
        #expect(frames.map(\.type) == [Frame.headers, Frame.data])
        #expect(frames[0].flags == Frame.endHeaders)
        #expect(frames[1] == Frame(type: Frame.data, flags: Frame.endStream, stream: 1, payload: body))
    }

    @Test func trailersEndARequestAndAreReadOver() throws {
        let server = try HTTP2ServerEngine.started()
        try server.receive(
            Frame(type: Frame.headers, flags: Frame.endHeaders, stream: 1, payload: Frame.request),
            Frame(type: Frame.data, stream: 1, payload: Array("{}".utf8)),
            Frame(
                type: Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: 1,
                payload: Frame.block([("sum", "1")])))
        guard case .request(let request, bodyTooLarge: false) = server.nextEvent() else {
            Issue.record("no request")
            return
        }
        #expect(request.fields.count == 4)
        #expect(request.body == Array("{}".utf8))
    }

    @Test func blanksAroundAValueReachTheRules() throws {
        let server = try HTTP2ServerEngine.started()
        let block = Frame.request + Frame.block([("apns-topic", " com.example ")])
        try server.receive(
            Frame(type: Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: block))
        guard case .request(let request, _) = server.nextEvent() else {
            Issue.record("no request")
            return
        }
        #expect(request.text(of: "apns-topic") == " com.example ")
    }

    @Test func interimAnswerIsFollowedByTheRealOne() throws {
        let client = try HTTP2ClientEngine()
        let stream = UInt32(try client.submit(fields: .push()))
        _ = try client.frames()
        try client.receive(
            Frame(type: Frame.settings),
            Frame(
                type: Frame.headers, flags: Frame.endHeaders, stream: stream, payload: Frame.block([(":status", "103")])
            ),
            Frame(
                type: Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: stream,
                payload: Frame.block([(":status", "200")])))
        guard case .settings = client.nextEvent(), case .response(let response) = client.nextEvent() else {
            Issue.record("no response")
            return
        }
        #expect(response.texts == [":status: 200"])
        #expect(client.openStreams == 0)
    }

    @Test func clientRefusesPushedStreams() throws {
        let settings = try HTTP2ClientEngine().frames(withPreface: true)[0]
        #expect(settings.payload.prefix(6) == [0, 2, 0, 0, 0, 0])
    }

    @Test func plainHTTPIsAnError() throws {
        let server = try HTTP2ServerEngine()
        #expect(throws: HTTP2Error.self) {
            try server.receive(Array("POST /3/device/00 HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        }
        let client = try HTTP2ClientEngine()
        try client.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        #expect(try client.frames(withPreface: true).last?.type == Frame.goAway)
        #expect(client.wantsClose)
    }

    @Test func textOfAStaticNameIsFoundOnlyWhole() throws {
        let server = try HTTP2ServerEngine.started()
        let block = Frame.request + Frame.block([("apns-idx", "1"), ("apns-id", "2"), ("apns-id", "3")])
        try server.receive(
            Frame(type: Frame.headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: block))
        guard case .request(let request, _) = server.nextEvent() else {
            Issue.record("no request")
            return
        }
        #expect(request.text(of: "apns-id") == "2")
        #expect(request.text(of: "apns-i") == nil)
        #expect(request.value(of: ":path")?.count == 12)
    }
}
