internal import PushDevice

/// Where devices connect, and whom they trust.
struct CourierTarget: Equatable {
    let address: HostAndPort
    /// The authorities, as PEM text.
    let ca: String
    /// `sandbox` or `production`.
    let environment: String?

    func configuration(topics: [String]) -> DeviceConfiguration {
        var configuration = DeviceConfiguration(trust: .authorities(pem: ca), topics: topics)
        configuration.host = address.host
        configuration.port = address.port
        configuration.serverName = serverName
        return configuration
    }

    /// A server that goes by names takes the device for what this name says; otherwise it decides by itself.
    private var serverName: DeviceConfiguration.ServerName {
        switch environment {
        case "sandbox": .sandbox
        case "production": .production
        default: .host
        }
    }
}
