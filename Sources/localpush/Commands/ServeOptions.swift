internal import PushServer

/// From the options of `serve` to the server's configuration: the one place that knows both.
enum ServeOptions {
    private typealias Defaults = LocalPushConfiguration

    private static let host = Option.value(
        "host", .text("ADDRESS"), default: "127.0.0.1", "The address to listen on; anything else opens it to others.")
    private static let apnsPort = Option.value("apns-port", .port, default: "2197", "APNs provider API; 0 picks one.")
    private static let broadcastPorts = Option.value(
        "broadcast-ports", .portPair, default: "2195,2196",
        "Channel management in sandbox and production; 0 picks one.")
    private static let courierPort = Option.value("courier-port", .port, default: "5223", "Devices; 0 picks one.")
    private static let httpPort = Option.value("http-port", .port, default: "7580", "Control API; 0 picks one.")
    private static let httpsPort = Option.value(
        "https-port", .port, default: "7543", "Control API over TLS; 0 picks one.")
    private static let ephemeral = Option.flag(
        "ephemeral", "Keep pushes and devices only while the server runs; certificates stay.")
    private static let durability = Option.value(
        "durability", choice(Defaults.Durability.self), default: "process",
        "What an accepted push survives: the end of the process, kill -9 included, or the loss of power.")
    private static let seed = Option.value("seed", .seed("N"), "Make tokens and ids reproducible; with --ephemeral.")
    private static let key = Option.value(
        "key", .file(), "One more signing key to accept, a .p8 file; with --key-id and --team.")
    private static let keyID = Option.value("key-id", .text("ID"), "The id of that key.")
    private static let team = Option.value("team", .text("TEAM"), "The team of that key.")
    private static let trustAnyKey = Option.flag(
        "trust-any-key", "Accept provider tokens of unknown keys, without checking their signature.")
    private static let autoRegister = Option.flag(
        "auto-register", "Make app and virtual device for well-formed tokens nobody has seen.")
    private static let profile = Option.value(
        "profile", choice(Defaults.Profile.self), default: "lenient",
        "Real answers without quotas; all as Apple does; or keep every push so that a test sees each.")
    private static let settings = Option.list(
        "set", .assignment, "Set one rule on top of the profile; 'localpush help settings' lists them.")
    private static let config = Option.value(
        "config", .file(), "Read options from a file: a NAME=VALUE of --set or an option of serve per line.")
    private static let environment = Option.value(
        "environment", choice(Defaults.Environment.self), default: "sandbox",
        "For clients that connect to an address or a local name.")
    private static let controlToken = Option.value(
        "control-token", .text("TOKEN"), "Ask for this bearer token in the control API.",
        environment: CommonOption.controlToken.declaration.environmentVariable)

    static let declarations = [
        host.declaration, apnsPort.declaration, broadcastPorts.declaration, courierPort.declaration,
        httpPort.declaration, httpsPort.declaration,
        CommonOption.data.declaration, ephemeral.declaration, durability.declaration, seed.declaration,
        key.declaration, keyID.declaration, team.declaration, trustAnyKey.declaration, autoRegister.declaration,
        profile.declaration, settings.declaration, config.declaration, environment.declaration,
        controlToken.declaration,
    ]

    static func configuration(_ given: Arguments) throws(CommandFailure) -> LocalPushConfiguration {
        var arguments = given
        if let path = arguments[config] {
            let file = try ConfigFile.read(path, forbidden: config.declaration.name) { line throws(CommandFailure) in
                for setting in line[settings] { try check(setting) }
            }
            arguments.takeDefaults(from: file, repeatable: [settings.declaration.name])
        }
        var configuration = LocalPushConfiguration()
        configuration.host = arguments[host]
        configuration.apnsPort = arguments[apnsPort]
        let ports = arguments[broadcastPorts]
        configuration.broadcastPorts = .init(sandbox: ports.sandbox, production: ports.production)
        configuration.courierPort = arguments[courierPort]
        configuration.httpPort = arguments[httpPort]
        configuration.httpsPort = arguments[httpsPort]
        configuration.dataDirectory = arguments[CommonOption.data]
        configuration.isEphemeral = arguments[ephemeral]
        configuration.durability = value(arguments[durability])
        configuration.seed = arguments[seed]
        configuration.environment = value(arguments[environment])
        configuration.profile = value(arguments[profile])
        for setting in arguments[settings] {
            try check(setting)
            configuration.settings[setting.name] = setting.value
        }
        configuration.signingKey = try signingKey(arguments)
        configuration.trustsAnyKey = arguments[trustAnyKey]
        configuration.registersUnknownTokens = arguments[autoRegister]
        configuration.controlToken = arguments[controlToken]
        if configuration.seed != nil && !configuration.isEphemeral {
            throw .usage("--seed goes with --ephemeral", remedy: "a store that stays must not repeat its tokens")
        }
        return configuration
    }

    private static func check(_ setting: Assignment) throws(CommandFailure) {
        if let objection = LocalPushSetting.objection(to: setting.name, setting.value) { throw .usage(objection) }
    }

    private static func signingKey(
        _ arguments: Arguments
    ) throws(CommandFailure) -> LocalPushConfiguration.SigningKey? {
        switch (arguments[key], arguments[keyID], arguments[team]) {
        case (nil, nil, nil): return nil
        case (let path?, let id?, let team?): return .init(path: path, keyID: id, team: team)
        default: throw .usage("--key, --key-id and --team go together")
        }
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ type: Choice.Type
    ) -> ValueSyntax<String> where Choice.RawValue == String {
        .choice(type.allCases.map(\.rawValue))
    }

    private static func value<Choice: RawRepresentable>(_ text: String) -> Choice where Choice.RawValue == String {
        guard let value = Choice(rawValue: text) else { preconditionFailure("the parser has checked the choice") }
        return value
    }
}
