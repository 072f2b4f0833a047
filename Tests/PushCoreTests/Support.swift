import Foundation
import PushBytes
import PushCore

/// The seed of a randomised test: `SEED` from the environment, else a fixed number, so that runs agree.
func testSeed() -> UInt64 {
    ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 0x5EED
}

extension SeededRandom {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// 2026-01-01 00:00:00 UTC, when most tests take place.
let startMilliseconds: Int64 = 1_767_225_600_000

func moment(_ milliseconds: Int64 = 0) -> Moment {
    Moment(monotonicMilliseconds: 1_000_000 + milliseconds, unixMilliseconds: startMilliseconds + milliseconds)
}

/// Headers of a request; tests begin with `valid` and break one thing.
struct SampleRequest {
    static let token = String(repeating: "0123456789abcdef", count: 4)

    var headers: [(name: String, value: String)]
    var bodyBytes = 24

    static var valid: SampleRequest {
        SampleRequest(headers: [
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "localhost"),
            ("authorization", "bearer abc.def.ghi"), ("apns-topic", "com.example.app"), ("apns-push-type", "alert"),
            ("apns-id", "8a3c2f1e-0000-4000-8000-00000000abcd"), ("apns-expiration", "1767229200"),
            ("apns-priority", "10"), ("apns-collapse-id", "news"), ("user-agent", "test"),
        ])
    }

    func with(_ name: String, _ value: String) -> SampleRequest {
        var changed = without(name)
        changed.headers.append((name, value))
        return changed
    }

    func adding(_ name: String, _ value: String) -> SampleRequest {
        var changed = self
        changed.headers.append((name, value))
        return changed
    }

    func without(_ name: String) -> SampleRequest {
        var changed = self
        changed.headers.removeAll { $0.name == name }
        return changed
    }

    var request: APNsRequest {
        var storage: [UInt8] = []
        var fields: [(Range<Int>, Range<Int>)] = []
        for header in headers {
            let name = storage.count..<storage.count + header.name.utf8.count
            storage += header.name.utf8
            let value = storage.count..<storage.count + header.value.utf8.count
            storage += header.value.utf8
            fields.append((name, value))
        }
        var request = APNsRequest(storage: storage)
        for (name, value) in fields { request.add(name: name, value: value) }
        request.bodyBytes = bodyBytes
        return request
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }

    var success: Success? {
        if case .success(let success) = self { return success }
        return nil
    }
}
