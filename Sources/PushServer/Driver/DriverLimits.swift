/// Every limit of the sockets, each with the reason for its number.
package enum DriverLimits {
    /// A client that has not finished its handshake by then is no client.
    package static let handshakeMax: Duration = .seconds(15)
    /// Output a slow peer may leave unread before we stop reading from it.
    package static let outputBytesPause = 256 * 1024
    /// Output at which a peer that never reads is closed. Devices are bounded earlier, by the in-flight window.
    package static let outputBytesMax = 4 << 20
    /// Connections of all surfaces together; more are refused by closing them at once.
    package static let connectionsMax = 60_000
    /// After a stop was asked for: how long answers and goodbyes may take to leave.
    package static let goodbyeMax: Duration = .seconds(2)
    /// Rows forgotten at a time, so that a turn stays short.
    package static let trimRowsMax = 500
    package static let trimRowsPerTurnMax = 5000
    /// Connections that must have ended before their memory is given back to the system: with some 30 KB each, what
    /// fewer held is not worth the milliseconds.
    static let endedBeforeTrimMin = 500
}
