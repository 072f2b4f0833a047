import PushBytes
import PushCore
import PushCrypto
import PushStore
import PushTLS

/// What a server opens before it listens: identity, certificates, store, keys, the service.
struct ServerAssets {
    let service: PushService
    let apnsTLS: TLSContext
    let courierTLS: TLSContext
    let httpTLS: TLSContext
    let ready: LocalPushReady

    init(
        configuration: LocalPushConfiguration, now: Moment, log: @escaping (String) -> Void
    ) throws(LocalPushError) {
        let identity = try Self.identity(configuration, now: now)
        do throws(TLSError) {
            func context(
                _ protocols: [String], requestsClientCertificate: Bool = false
            ) throws(TLSError) -> TLSContext {
                try TLSContext.server(
                    certificateChain: identity.serverChain, privateKey: identity.serverKey,
                    applicationProtocols: protocols, requestsClientCertificate: requestsClientCertificate)
            }
            // Providers may show a certificate in place of tokens.
            apnsTLS = try context(["h2"], requestsClientCertificate: true)
            courierTLS = try context(["apns-security-v3"])
            httpTLS = try context(["http/1.1"])
        } catch {
            throw .identity("\(identity.directory): the server certificate cannot be used: \(error)")
        }
        let setup = try Self.setup(configuration, identity, log: log)
        do throws(StoreError) {
            let store = try PushStore(
                configuration.isEphemeral ? .temporary : .file(identity.directory + "/store.sqlite"),
                durability: configuration.durability == .disk ? .disk : .process)
            service = try PushService(store: store, setup: setup, secret: Self.secret(configuration), now: now)
        } catch {
            throw .store("\(identity.directory)/store.sqlite: \(error)")
        }
        var ready = LocalPushReady()
        ready.authorityPath = identity.authorityPath
        ready.keyPath = identity.providerKeyPath
        ready.team = setup.rules.defaultTeam
        self.ready = ready
    }

    private static func identity(
        _ configuration: LocalPushConfiguration, now: Moment
    ) throws(LocalPushError) -> LocalIdentity {
        do throws(IdentityError) {
            return try LocalIdentity.open(
                directory: configuration.dataDirectory, now: now.unixMilliseconds / 1000)
        } catch {
            throw .identity("\(error)")
        }
    }

    private static func setup(
        _ configuration: LocalPushConfiguration, _ identity: LocalIdentity, log: @escaping (String) -> Void
    ) throws(LocalPushError) -> ServiceSetup {
        var setup = ServiceSetup()
        setup.rules = try RuleSettings(configuration)
        setup.rules.localEnvironment = configuration.environment == .sandbox ? .sandbox : .production
        if configuration.trustsAnyKey { setup.rules.trustsAnyKey = true }
        setup.rules.registersUnknownTokens = configuration.registersUnknownTokens
        setup.rules.defaultTeam = configuration.signingKey?.team ?? LocalPushDefaults.team
        setup.identityMode = configuration.deviceIdentity == .open ? .open : .proof
        setup.authority = identity.authority
        setup.log = log
        setup.bundles = [LocalPushDefaults.bundle]
        setup.keys = [
            ProviderKey(
                id: LocalPushDefaults.keyID, team: setup.rules.defaultTeam, environment: nil,
                publicKey: identity.providerKey.publicKey)
        ]
        if let key = configuration.signingKey { setup.keys.append(try load(key)) }
        return setup
    }

    private static func load(_ key: LocalPushConfiguration.SigningKey) throws(LocalPushError) -> ProviderKey {
        guard let pem = SmallFile.text(key.path) else {
            throw .signingKey("\(key.path): the signing key cannot be read: check the path and its permissions")
        }
        do {
            return ProviderKey(
                id: key.keyID, team: key.team, environment: nil, publicKey: try ES256PublicKey(pem: pem))
        } catch {
            throw .signingKey(
                "\(key.path): is no P-256 key in PEM (\(error)): give the .p8 file as downloaded, or its public key")
        }
    }

    private static func secret(_ configuration: LocalPushConfiguration) -> [UInt8] {
        guard configuration.isEphemeral, let seed = configuration.seed else { return SecureRandom.bytes(32) }
        var random = SeededRandom(seed: seed)
        return (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}
