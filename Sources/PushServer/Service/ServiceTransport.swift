/// What carries the bytes of one connection: a socket with TLS in the server, a pipe in memory in a simulation.
///
/// The service calls it at the end of a turn only, never from inside `receive`.
package protocol ServiceTransport: AnyObject {
    /// There are bytes to take with the connection's `drain(into:)`.
    func hasOutput()
    /// Send what there is, then end the connection without TLS's goodbye, so that the device comes back.
    func end()
}
