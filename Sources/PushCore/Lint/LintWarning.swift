/// Something in a push that APNs takes and a device will not do as the sender meant it. It never refuses a push.
package struct LintWarning: Sendable, Equatable {
    /// Where: the name of a header, `payload` for all of it, or a path in it such as `aps.alert.title`.
    package let path: String
    /// What is wrong and what to do, in one sentence.
    package let message: String

    package init(_ path: String, _ message: String) {
        self.path = path
        self.message = message
    }
}
