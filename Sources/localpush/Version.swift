/// The version of this build, as `localpush --version` prints it.
enum Version {
    static let text = "0.1.0"
}
