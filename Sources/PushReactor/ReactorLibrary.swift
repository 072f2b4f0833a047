internal import CPushLibevent

/// The C library this module stands on.
package enum ReactorLibrary {
    /// Version of the library that is loaded.
    package static var version: String { String(cString: event_get_version()) }
}
