/// How a provider's HTTP/2 connection behaves. Names begin with `connection.`.
package struct ConnectionSettings: Sendable {
    /// Streams a client may have open before its first push with a valid token. Default 1000, Apple 1.
    package var streamsBeforeToken = 1000
    /// Streams a client may have open after that. Default 1000, as seen at Apple.
    package var streams = 1000
    /// Allow one stream after a rejected push, and all again after the next accepted one. Default off, Apple on.
    package var dropsAfterRejection = false
    /// Silence after which a connection is closed with `IdleTimeout`, in milliseconds. Default one hour; 0 never.
    package var idleMilliseconds: Int64 = 3_600_000

    /// How long a stopping server answers new streams with 503 `Shutdown` before its last GOAWAY, in milliseconds.
    /// Default 100.
    package var shutdownGraceMilliseconds: Int64 = 100

    package init() {}

    static let table: [RuleSetting] = [
        RuleSetting(
            "connection.streamsBeforeToken", .count(\.connection.streamsBeforeToken, 1...10_000), faithful: "1",
            "Streams a client may have open before its first push with a valid token."),
        RuleSetting(
            "connection.streams", .count(\.connection.streams, 1...10_000),
            "Streams a client may have open after its first push with a valid token."),
        RuleSetting(
            "connection.dropsAfterRejection", .flag(\.connection.dropsAfterRejection), faithful: "on",
            "Allow one stream after a rejected push, and all again after the next accepted one."),
        RuleSetting(
            "connection.idleTimeout", .duration(\.connection.idleMilliseconds, 0...86_400_000),
            "Silence after which a connection is closed with IdleTimeout; 0s never does."),
        RuleSetting(
            "connection.shutdownGrace", .duration(\.connection.shutdownGraceMilliseconds, 0...1500),
            "How long a stopping server answers new streams with 503 Shutdown before its last GOAWAY."),
    ]
}
