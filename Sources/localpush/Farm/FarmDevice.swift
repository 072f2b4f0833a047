internal import PushDevice

/// One phone of a farm. Loop-bound.
final class FarmDevice: DeviceConnectionHandler {
    private unowned let farm: DeviceFarm
    private var connection: DeviceConnection?
    private var recent = RecentKeys()
    private var isConnected = false
    private var wasConnected = false
    private var hasToken = false
    private var isStopped = false

    init(farm: DeviceFarm) { self.farm = farm }

    func start(
        on deviceLoop: DeviceLoop, server: DeviceConnection.Server, identity: DeviceIdentity, app: String, seed: UInt64
    ) {
        let core = DeviceCore(topics: [DeviceTopic(app)], seed: seed)
        let inbox = DeviceInbox.memory(MemoryInbox(seenMax: DeviceLimits().seenMax))
        let connection = DeviceConnection(
            on: deviceLoop, server: server, identity: identity, inbox: inbox, core: core, handler: self)
        self.connection = connection
        connection.start()
    }

    func cut() {
        if isConnected { connection?.cut() }
    }

    /// What is lost from here on is not counted: the device leaves on purpose.
    func stop() {
        isStopped = true
        connection?.stop()
    }

    func deviceDidReceive(_ connection: DeviceConnection, _ message: InboxMessage, sequence: Int64) {
        if recent.isRepeated(message.key) { farm.tally.duplicates += 1 }
        connection.consume(sequence: sequence)
        farm.received()
    }

    func deviceDidChange(_ connection: DeviceConnection, _ event: DeviceEvent) {
        if isStopped { return }
        switch event {
        case .connected:
            if wasConnected { farm.tally.reconnects += 1 }
            isConnected = true
            wasConnected = true
            farm.tally.connected += 1
        case .disconnected(let reason, let retry):
            if isConnected { farm.tally.connected -= 1 }
            isConnected = false
            if retry != nil { farm.tally.lastReason = reason.description }
        case .token:
            if !hasToken { farm.tally.registered += 1 }
            hasToken = true
        case .connecting, .tokenRefused, .inboxFull, .subscribed, .subscriptionRefused: break
        }
    }
}
