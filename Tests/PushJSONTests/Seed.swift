import Foundation
import PushBytes

/// The seed of a randomised test: `SEED` from the environment, else a fixed number, so that runs agree.
func testSeed() -> UInt64 {
    ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 0x5EED
}

extension SeededRandom {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }
}
