package import PushBytes

/// The topics a device wants to hear of, by SHA-1 hash; replaces the whole set for its token. No answer follows.
package struct CourierFilter: CourierMessage {
    package static let command = CourierCommand.filter

    package var baseToken: [UInt8]
    /// Delivered as they come.
    package var enabled: [[UInt8]] = []
    package var ignored: [[UInt8]] = []
    package var opportunistic: [[UInt8]] = []
    /// Stored, not delivered.
    package var paused: [[UInt8]] = []
    package var nonWaking: [[UInt8]] = []

    package init(baseToken: [UInt8], enabled: [[UInt8]] = [], paused: [[UInt8]] = []) {
        self.baseToken = baseToken
        self.enabled = enabled
        self.paused = paused
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.Filter
        baseToken = try frame.required(ID.baseToken)
        enabled = try frame.hashes(ID.enabled)
        ignored = try frame.hashes(ID.ignored)
        opportunistic = try frame.hashes(ID.opportunistic)
        paused = try frame.hashes(ID.paused)
        nonWaking = try frame.hashes(ID.nonWaking)
    }

    package func write(into queue: inout ByteQueue) {
        typealias ID = CourierItemID.Filter
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(ID.baseToken, baseToken, in: &queue)
        for hash in enabled { writer.item(ID.enabled, hash, in: &queue) }
        for hash in ignored { writer.item(ID.ignored, hash, in: &queue) }
        for hash in opportunistic { writer.item(ID.opportunistic, hash, in: &queue) }
        for hash in paused { writer.item(ID.paused, hash, in: &queue) }
        for hash in nonWaking { writer.item(ID.nonWaking, hash, in: &queue) }
        writer.end(in: &queue)
    }
}
