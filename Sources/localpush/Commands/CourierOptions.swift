/// Options of the commands that are devices: they find the courier by asking the server, or are told.
enum CourierOptions {
    static let app = Option.value("app", .bundle, default: "com.example.app", "The app on the device.")
    static let courier = Option.value(
        "courier", .hostAndPort, "Connect here, without asking the control API; needs --ca.")
    static let ca = Option.value(
        "ca", .file(), "PEM file with the authority to trust, in place of the one the server names.")
    static let environment = Option.value(
        "environment", .choice(["sandbox", "production"]), "Register for this environment; otherwise the server's.")

    static let declarations = [courier.declaration, ca.declaration, environment.declaration]

    static func target(_ arguments: Arguments) throws -> CourierTarget {
        let chosen = arguments[environment]
        if let address = arguments[courier] {
            guard let file = arguments[ca] else {
                throw CommandFailure.usage("--courier needs --ca", remedy: "name the server's ca.pem")
            }
            return CourierTarget(address: address, ca: try Files.requiredText(file), environment: chosen)
        }
        let info = try ControlClient(arguments).info()
        return CourierTarget(
            address: info.courier, ca: try Files.requiredText(arguments[ca] ?? info.ca),
            environment: chosen ?? info.environment)
    }
}

extension Files {
    static func requiredText(_ path: String) throws(CommandFailure) -> String {
        String(decoding: try read(path), as: UTF8.self)
    }
}
