import Foundation
import PushBytes
import Testing

@testable import PushHTTP2

/// Whatever arrives, an engine answers, throws or closes; it never traps and never holds more than its limits.
@Suite struct FuzzTests {
    static func seed() -> UInt64 {
        let seed = ProcessInfo.processInfo.environment["SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...UInt64.max)
        print("SEED=\(seed)")
        return seed
    }

    @Test func serverSurvivesAnything() throws {
        var random = SeededRandom(seed: Self.seed())
        let pool = HTTP2Pool()
        var served = 0
        for _ in 0..<4000 {
            let server = try HTTP2ServerEngine(pool: pool)
            let input = Self.input(&random, isForServer: true)
            served += Self.feed(server, input, &random)
        }
        #expect(served > 100, "some inputs must get as far as a request")
        #expect(pool.idleMessages <= 2048)
    }

    @Test func clientSurvivesAnything() throws {
        var random = SeededRandom(seed: Self.seed())
        let pool = HTTP2Pool()
        var heard = 0
        for _ in 0..<4000 {
            let client = try HTTP2ClientEngine(pool: pool)
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                _ = try client.submit(fields: .push(), body: [1, 2, 3])
            }
            let input = Self.input(&random, isForServer: false)
            var output = ByteQueue()
            do {
                try client.drain(into: &output)
                for part in Self.split(input, &random) {
                    try client.receive(part)
                    while let event = client.nextEvent() {
                        heard += 1
                        if case .response(let message) = event { client.recycle(message) }
                        if Bool.random(using: &random) {
                            client.cancel(stream: Int32.random(in: 1...9, using: &random))
                        }
                    }
                    try client.drain(into: &output)
                }
            } catch {}
        }
        #expect(heard > 100, "some inputs must get as far as an event")
    }

    private static func feed(_ server: HTTP2ServerEngine, _ input: [UInt8], _ random: inout SeededRandom) -> Int {
        var served = 0
        var output = ByteQueue()
        do {
            for part in split(input, &random) {
                try server.receive(part)
                while let event = server.nextEvent() {
                    guard case .request(let request, _) = event else { continue }
                    served += 1
                    let stream = request.streamID
                    server.recycle(request)
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0: server.reset(stream: stream, code: 2)
                    case 1: server.goAway(code: 0, data: [1, 2, 3], lastStream: 0)
                    case 2: server.setConcurrentStreams(UInt32.random(in: 0...3, using: &random))
                    case 3: server.respond(to: stream, fields: .status(400), body: [1, 2, 3])
                    case 4: break
                    default: server.respond(to: stream, fields: .status(200))
                    }
                }
                if Bool.random(using: &random) { try server.drain(into: &output) }
            }
            try server.drain(into: &output)
        } catch {}
        return served
    }

    /// Noise, or frames that look right, or a right conversation with some bytes changed.
    private static func input(_ random: inout SeededRandom, isForServer: Bool) -> [UInt8] {
        let opening =
            isForServer ? Frame.preface + Frame(type: Frame.settings).bytes : Frame(type: Frame.settings).bytes
        let block = isForServer ? Frame.request : Frame.block([(":status", "200"), ("apns-id", "x")])
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return bytes(&random, 0...200)
        case 1: return opening + (0..<20).flatMap { _ in noise(&random).bytes }
        default:
            var frames: [Frame] = []
            for index in 0..<8 {
                let stream = UInt32(index * 2 + 1)
                let ends = Bool.random(using: &random)
                frames.append(
                    Frame(
                        type: Frame.headers, flags: Frame.endHeaders | (ends ? Frame.endStream : 0), stream: stream,
                        payload: block))
                if !ends {
                    frames.append(
                        Frame(type: Frame.data, flags: Frame.endStream, stream: stream, payload: bytes(&random, 0...50))
                    )
                }
                if Int.random(in: 0..<6, using: &random) == 0 { frames.append(noise(&random)) }
            }
            var all = opening + frames.flatMap(\.bytes)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                all[Int.random(in: opening.count..<all.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            return all
        }
    }

    private static func noise(_ random: inout SeededRandom) -> Frame {
        Frame(
            type: UInt8.random(in: 0...10, using: &random), flags: UInt8.random(in: 0...255, using: &random),
            stream: UInt32.random(in: 0...9, using: &random), payload: bytes(&random, 0...40))
    }

    private static func bytes(_ random: inout SeededRandom, _ count: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: count, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private static func split(_ input: [UInt8], _ random: inout SeededRandom) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var rest = input[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...64, using: &random)
            parts.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return parts
    }
}
