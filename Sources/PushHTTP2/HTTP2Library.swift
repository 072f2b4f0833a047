internal import CPushNGHTTP2

/// The C library this module stands on.
package enum HTTP2Library {
    /// Version of the library that is loaded.
    package static var version: String { String(cString: nghttp2_version(0).pointee.version_str) }
}
