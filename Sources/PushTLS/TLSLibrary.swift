internal import CPushOpenSSL

/// The C library this module stands on.
package enum TLSLibrary {
    /// Version of the library that is loaded.
    package static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)) }
}
