/// Tells one registry from another; only its identity counts.
package final class RegistryIdentity {}

/// Every app, device and registration, and the ways to find them. No rule lives here. Bound to the loop.
package final class Registry {
    package private(set) var apps: [String: App] = [:]
    package private(set) var devices: [Int64: Device] = [:]
    package var channels = ChannelTable()
    private var byIdentity: [[UInt8]: Device] = [:]
    private var byBaseToken: [[UInt8]: Device] = [:]
    private var byAppToken: [AppToken: Registration] = [:]
    private var registrations: [Int64: Registration] = [:]
    private var topicsByName: [[UInt8]: Topic] = [:]
    private var topicsByHash: [TopicHash: Topic] = [:]

    /// The number of the latest addition of an app, or move of one to another team.
    package private(set) var joins = 0
    /// Another object for every registry: who keeps numbers of joins compares it before believing them.
    package let identity = RegistryIdentity()

    package init() {}

    package func app(_ bundle: String) -> App? { apps[bundle] }

    /// Adds an app and makes all its topics known, so that a device can name them by hash.
    package func add(_ app: App) {
        precondition(apps[app.bundle] == nil, "an app is added once")
        apps[app.bundle] = app
        joins += 1
        app.joined = joins
        for suffix in TopicSuffix.allCases {
            let topic = Topic(name: app.bundle + suffix.text, app: app, suffix: suffix)
            topicsByName[topic.bytes] = topic
            topicsByHash[topic.hash] = topic
        }
    }

    /// Gives an app to another team; connections that know the app as the old team's may have to be opened anew.
    package func move(_ app: App, toTeam team: String) {
        guard app.team != team else { return }
        joins += 1
        app.joined = joins
        app.team = team
    }

    /// Removes an app and its topics; its registrations must be gone.
    package func remove(_ app: App) {
        apps[app.bundle] = nil
        topicsByName = topicsByName.filter { $0.value.app !== app }
        topicsByHash = topicsByHash.filter { $0.value.app !== app }
    }

    package func topic(named bytes: [UInt8]) -> Topic? { topicsByName[bytes] }

    package func topic(hash: TopicHash) -> Topic? { topicsByHash[hash] }

    package func add(_ device: Device) {
        precondition(devices[device.id] == nil, "a device is added once")
        devices[device.id] = device
        byBaseToken[device.baseToken] = device
        if !device.identity.isEmpty { byIdentity[device.identity] = device }
    }

    package func remove(_ device: Device) {
        device.registrations.forEach(remove)
        devices[device.id] = nil
        byBaseToken[device.baseToken] = nil
        byIdentity[device.identity] = nil
    }

    package func device(_ id: Int64) -> Device? { devices[id] }

    package func device(identity: [UInt8]) -> Device? { byIdentity[identity] }

    package func device(baseToken: [UInt8]) -> Device? { byBaseToken[baseToken] }

    package func add(_ registration: Registration) {
        precondition(byAppToken[registration.token] == nil, "a token belongs to one registration")
        registration.device.registrations.append(registration)
        byAppToken[registration.token] = registration
        registrations[registration.id] = registration
    }

    package func remove(_ registration: Registration) {
        registration.device.registrations.removeAll { $0 === registration }
        byAppToken[registration.token] = nil
        registrations[registration.id] = nil
    }

    package func registration(_ token: AppToken) -> Registration? { byAppToken[token] }

    package func registration(_ id: Int64) -> Registration? { registrations[id] }

    package var allRegistrations: some Collection<Registration> { registrations.values }

    package func registrations(of app: App) -> [Registration] {
        registrations.values.filter { $0.app === app }.sorted { $0.id < $1.id }
    }
}
