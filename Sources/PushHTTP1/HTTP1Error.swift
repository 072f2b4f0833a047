/// Why a request of ours has no response.
package enum HTTP1Error: Error, Sendable, Equatable, CustomStringConvertible {
    /// The host is unknown or nobody answers there; the text says which and why.
    case cannotConnect(String)
    /// The time for the whole call is over.
    case timedOut
    /// The connection ended before the response was complete.
    case connectionLost
    /// What came back is no HTTP response, or longer than `HTTP1Client.responseBytesMax`.
    case badResponse
    /// The arguments make no request: unknown method, empty host, line breaks in target or headers.
    case badRequest(String)
    case cancelled

    package var description: String {
        switch self {
        case .cannotConnect(let why): "cannot connect: \(why)"
        case .timedOut: "timed out"
        case .connectionLost: "the connection ended before the response was complete"
        case .badResponse: "the response is not HTTP or too long"
        case .badRequest(let why): "not a request: \(why)"
        case .cancelled: "cancelled"
        }
    }
}
