internal import Glibc
import PushHTTP2
import PushJSON
import PushReactor
import PushSQLite
import PushTLS

/// What this LocalPush is and what it is made of.
public enum LocalPushVersion {
    /// The version of LocalPush itself.
    public static let number = "0.1.0"

    /// Our version, and those of the C libraries that are loaded.
    static var json: JSONValue {
        [
            "localpush": .string(number), "openssl": .string(TLSLibrary.version),
            "nghttp2": .string(HTTP2Library.version), "libevent": .string(ReactorLibrary.version),
            "sqlite": .string(SQLiteLibrary.version),
        ]
    }

    static var processID: Int64 { Int64(getpid()) }
}
