package import PushBytes

/// Says that the device is still there. Clients describe themselves in optional items; nothing depends on them.
package struct CourierKeepAlive: CourierMessage {
    package static let command = CourierCommand.keepAlive

    package init() {}

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
    }

    package func write(into queue: inout ByteQueue) {
        CourierWriter.begin(Self.command, in: &queue).end(in: &queue)
    }
}

/// Answer to `CourierKeepAlive`.
package struct CourierKeepAliveResponse: CourierMessage {
    package static let command = CourierCommand.keepAliveResponse

    package init() {}

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
    }

    package func write(into queue: inout ByteQueue) {
        CourierWriter.begin(Self.command, in: &queue).end(in: &queue)
    }
}

/// Tells the device that nothing is stored for a token.
package struct CourierNoStorage: CourierMessage {
    package static let command = CourierCommand.noStorage

    package var token: [UInt8]

    package init(token: [UInt8]) { self.token = token }

    /// Takes the token under either of the two ids that are in use.
    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        typealias ID = CourierItemID.NoStorage
        if let token = frame.optional(ID.token) {
            self.token = token
        } else {
            token = try frame.required(ID.tokenAlternative)
        }
    }

    package func write(into queue: inout ByteQueue) {
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(CourierItemID.NoStorage.token, token, in: &queue)
        writer.end(in: &queue)
    }
}

/// How long the device expects to stay active.
package struct CourierActiveInterval: CourierMessage {
    package static let command = CourierCommand.activeInterval

    package var interval: UInt32

    package init(interval: UInt32) { self.interval = interval }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        interval = try frame.requiredInteger(CourierItemID.ActiveInterval.interval)
    }

    package func write(into queue: inout ByteQueue) {
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(CourierItemID.ActiveInterval.interval, integer: interval, in: &queue)
        writer.end(in: &queue)
    }
}

/// Whether the device is in use.
package struct CourierActiveState: CourierMessage {
    package static let command = CourierCommand.activeState

    package var state: UInt8
    /// Clients send 0x7FFFFFFF: for good.
    package var interval: UInt32?

    package init(state: UInt8, interval: UInt32? = 0x7FFF_FFFF) {
        self.state = state
        self.interval = interval
    }

    package init(_ frame: CourierFrame) throws(CourierError) {
        try frame.expect(Self.command)
        state = try frame.requiredInteger(CourierItemID.ActiveState.state)
        interval = try frame.optionalInteger(CourierItemID.ActiveState.interval)
    }

    package func write(into queue: inout ByteQueue) {
        let writer = CourierWriter.begin(Self.command, in: &queue)
        writer.item(CourierItemID.ActiveState.state, integer: state, in: &queue)
        writer.item(CourierItemID.ActiveState.interval, integer: interval, in: &queue)
        writer.end(in: &queue)
    }
}
