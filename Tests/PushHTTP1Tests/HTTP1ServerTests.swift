import PushHTTP1
import PushReactor
import Testing

@Suite struct HTTP1ServerTests {
    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func everyMethodArrivesWithItsBodyAndIsAnswered(method: String) throws {
        let world = try World { exchange in
            exchange.respond(.json(201, Array("[\"\(exchange.request.method)\"]".utf8)))
        }
        for body in ["", "{\"some\":\"body\"}"] {
            let response = try world.call(
                method, "/v1/a%20b?x=1&y=%2B", headers: [("X-Trace", "t-1")], body: Array(body.utf8))
            #expect(response.status == 201 && text(response.body) == "[\"\(method)\"]")
            #expect(response.header("content-type") == "application/json")
            let seen = try #require(world.seen.last)
            #expect(seen.method == method && text(seen.body) == body)
            #expect(seen.path == "/v1/a%20b" && seen.pathSegments == ["v1", "a b"])
            #expect(seen.queryValue("x") == "1" && seen.queryValue("y") == "+")
            #expect(seen.header("x-trace") == "t-1")
        }
    }

    @Test func headIsAnsweredWithTheLengthAndNoBody() throws {
        let world = try World { $0.respond(.json(200, Array("{\"a\":1}".utf8))) }
        let raw = RawClient(port: world.server.port)
        let answer = world.exchange(raw, "HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n"))
        #expect(answer.contains("Content-Length: 7\r\n"))
        #expect(world.seen.map(\.method) == ["HEAD"])
        #expect(try world.call("HEAD", "/y").status == 200)
    }

    @Test(arguments: [204, 304]) func statusWithoutBodyHasNoBody(status: Int) throws {
        let world = try World { $0.respond(HTTP1Response(status: status, body: Array("ignored".utf8))) }
        let raw = RawClient(port: world.server.port)
        let answer = world.exchange(raw, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.hasSuffix("\r\n\r\n") && !answer.contains("ignored"))
    }

    @Test func aBodyUpToTheLimitArrivesAndOneByteMoreIsAnswered413() throws {
        let world = try World(bodyBytesMax: 300_000) { $0.respond(.json(200, [])) }
        let body = [UInt8](repeating: 7, count: 300_000)
        #expect(try world.call("POST", "/", body: body).status == 200)
        #expect(world.seen.last?.body == body)
        #expect(try world.call("POST", "/", body: body + [7]).status == 413)
        #expect(try world.call("DELETE", "/", body: body + body).status == 413)
        #expect(world.seen.count == 1)
        #expect(try world.call("POST", "/", body: body).status == 200)
    }

    @Test func aChunkedBodyArrivesWhole() throws {
        let world = try World(bodyBytesMax: 30) { $0.respond(.json(200, [])) }
        let raw = RawClient(port: world.server.port)
        let head = "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        let answer = world.exchange(raw, head + "5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\n\r\n") {
            $0.hasSuffix("\r\n\r\n")
        }
        // Chunk extensions are not read by evhttp unless a space precedes them: either way the server answers.
        #expect(answer.hasPrefix("HTTP/1.1 "))
        let plain = RawClient(port: world.server.port)
        let fine = world.exchange(plain, head + "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n") { $0.hasSuffix("\r\n\r\n") }
        #expect(fine.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text(try #require(world.seen.last).body) == "hello, world")
        let long = RawClient(port: world.server.port)
        #expect(world.exchange(long, head + "1f\r\n").hasPrefix("HTTP/1.1 413 "))
    }

    @Test func expectContinueIsAnsweredBeforeTheBody() throws {
        let world = try World { $0.respond(.json(200, $0.request.body)) }
        let raw = RawClient(port: world.server.port)
        let first = world.exchange(
            raw, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        ) { $0.hasSuffix("\r\n\r\n") }
        #expect(first.hasPrefix("HTTP/1.1 100 Continue\r\n") && world.seen.isEmpty)
        let second = world.exchange(raw, "late") { $0.hasSuffix("late") }
        #expect(second.hasPrefix("HTTP/1.1 200 OK\r\n") && second.hasSuffix("late"))
    }

    @Test func aConnectionServesManyRequestsPipelinedOnesIncluded() throws {
        var pending: [HTTP1Exchange] = []
        let world = try World { exchange in
            if exchange.request.path == "/wait" { pending.append(exchange) } else { exchange.respond(.json(200, [])) }
        }
        let raw = RawClient(port: world.server.port)
        for _ in 0..<3 {
            let answer = world.exchange(raw, "GET /one HTTP/1.1\r\nHost: h\r\n\r\n") { $0.hasSuffix("\r\n\r\n") }
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
        // The second request arrives while the first has no answer yet.
        raw.write("GET /wait HTTP/1.1\r\nHost: h\r\n\r\nGET /two HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        world.turn { pending.count == 1 }
        for _ in 0..<10 { world.loop.turn(wait: .milliseconds(1)) }
        #expect(world.seen.last?.path == "/wait" && pending[0].isOpen)
        pending[0].respond(.json(202, []))
        var bytes: [UInt8] = []
        world.turn { raw.collect(into: &bytes) }
        #expect(text(bytes).split(separator: "HTTP/1.1 ").map { $0.prefix(3) } == ["202", "200"])
        #expect(world.seen.last?.path == "/two")
    }

    @Test(arguments: [
        "garbage\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nno colon here\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}fc\u{3}\u{3}\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: many\r\n\r\n",
        "GET /" + String(repeating: "x", count: 20_000) + " HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "x", count: 20_000) + "\r\n\r\n",
    ])
    func whatIsNoRequestIsAnswered400AndTheServerLives(garbage: String) throws {
        let world = try World { $0.respond(.json(200, [])) }
        let raw = RawClient(port: world.server.port)
        let answer = world.exchange(raw, garbage)
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(world.seen.isEmpty)
        #expect(try world.call("GET", "/alive").status == 200)
    }

    @Test(arguments: ["TRACE", "CONNECT", "BREW"]) func otherMethodsAreAnswered501(method: String) throws {
        let world = try World { $0.respond(.json(200, [])) }
        let raw = RawClient(port: world.server.port)
        let answer = world.exchange(raw, "\(method) / HTTP/1.1\r\nHost: h\r\n\r\n") { $0.hasSuffix("</HTML>\n") }
        #expect(answer.hasPrefix("HTTP/1.1 501 ") && world.seen.isEmpty)
    }

    @Test func headersThatWouldSplitTheResponseAreLeftOut() throws {
        let world = try World {
            $0.respond(HTTP1Response(status: 200, headers: [("X-A", "1\r\nX-Evil: 2"), ("X-B", "3")]))
        }
        let response = try world.call("GET", "/")
        #expect(response.header("X-Evil") == nil && response.header("X-B") == "3")
    }

    @Test func everySplitOfARequestIsUnderstood() throws {
        let world = try World { $0.respond(.json(200, $0.request.body)) }
        let request = "POST /p?q=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"
        for split in 1..<request.utf8.count {
            let raw = RawClient(port: world.server.port)
            raw.write(String(decoding: request.utf8.prefix(split), as: UTF8.self))
            world.loop.turn(wait: .zero)
            world.loop.turn(wait: .zero)
            let answer = world.exchange(raw, String(decoding: request.utf8.dropFirst(split), as: UTF8.self))
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("abc"), "split at \(split)")
        }
    }

    @Test func aTakenPortIsAnErrorNamingIt() throws {
        let world = try World { _ in }
        let error = #expect(throws: ReactorError.self) {
            _ = try HTTP1Server(loop: world.loop, host: "127.0.0.1", port: world.server.port) { _ in }
        }
        #expect(error?.operation == "listen on \(world.server.address)")
    }
}
