import PushBytes
package import PushCore
import PushHTTP1
package import PushReactor
import PushStore
import PushTLS

/// Binds the service to the world: ports, TLS, clocks, the disk and signals of stopping. Bound to its loop.
package final class ServerDriver {
    package let loop: EventLoop
    package let configuration: LocalPushConfiguration
    package private(set) var ready: LocalPushReady
    let service: PushService
    let apnsTLS: TLSContext
    let courierTLS: TLSContext
    let log: (String) -> Void
    /// Plain bytes on their way between an engine and TLS; empty between calls.
    var scratch = ByteQueue(capacity: 64 * 1024)

    private var listeners: [Listener] = []
    private var httpServers: [HTTP1Server] = []
    private var connections: [ObjectIdentifier: SurfaceConnection] = [:]
    private var control: ControlService?
    private var wakeTimer: Timer?
    private var sweepTimer: Timer?
    private var freedMemory = FreedMemory(endedMin: DriverLimits.endedBeforeTrimMin)
    private var graceTimer: Timer?
    private var goodbyeTimer: Timer?
    private var isStopping = false
    private var sequenceAtLastSweep: Int64 = 0
    private var sequenceAtLastTurn: Int64 = 0
    /// The journal holds nothing older, as far as was last seen.
    private var sequenceOldest: Int64 = 0
    private var whenStopped: (() -> Void)?

    /// Opens everything, or throws one clear error and leaves nothing half-started.
    package init(
        loop: EventLoop, configuration: LocalPushConfiguration, log: @escaping (String) -> Void
    ) throws(LocalPushError) {
        self.loop = loop
        self.configuration = configuration
        self.log = log
        let opened = try ServerAssets(configuration: configuration, now: Self.moment(loop), log: log)
        service = opened.service
        apnsTLS = opened.apnsTLS
        courierTLS = opened.courierTLS
        ready = opened.ready
        do {
            try listen(opened)
        } catch {
            listeners.forEach { $0.close() }
            httpServers.forEach { $0.close() }
            service.store.close()
            throw error
        }
        sequenceOldest = (try? service.store.oldestSequence()) ?? service.core.lastSequence
        wakeTimer = Timer(loop: loop) { [unowned self] in service.timePassed(now: moment) }
        sweepTimer = Timer(loop: loop) { [unowned self] in sweep() }
        sweepTimer?.schedule(after: .seconds(1))
        loop.beforeSleep(.commit) { [unowned self] in endTurn() }
    }

    package var moment: Moment { Self.moment(loop) }

    private static func moment(_ loop: EventLoop) -> Moment {
        Moment(
            monotonicMilliseconds: loop.now.nanoseconds / 1_000_000, unixMilliseconds: loop.wallMilliseconds)
    }

    // MARK: Stopping

    /// Stops accepting, says GOAWAY with `Shutdown`, answers what was accepted, flushes the store, then calls `done`.
    /// Takes at most `DriverLimits.goodbyeMax`.
    package func stop(_ done: @escaping () -> Void) {
        guard !isStopping else { return }
        isStopping = true
        whenStopped = done
        log("stopping")
        listeners.forEach { $0.close() }
        control?.endWaits()
        let grace = service.setup.rules.connection.shutdownGraceMilliseconds
        var mustWait = false
        for connection in Array(connections.values) where grace == 0 || connection.announceShutdown() {
            if grace == 0 { connection.sayGoodbye(.shutdown) } else { mustWait = true }
        }
        if mustWait {
            graceTimer = Timer(loop: loop) { [unowned self] in
                for connection in Array(connections.values) { connection.sayGoodbye(.shutdown) }
            }
            graceTimer?.schedule(after: .milliseconds(grace))
        }
        service.endAllCouriers()
        goodbyeTimer = Timer(loop: loop) { [unowned self] in finishStop() }
        goodbyeTimer?.schedule(after: DriverLimits.goodbyeMax)
        if connections.isEmpty { goodbyeTimer?.schedule(after: .zero) }
    }

    private func finishStop() {
        service.endTurn(now: moment)
        // The loop turns on until its thread is stopped: nothing may reach for the store then.
        wakeTimer = nil
        sweepTimer = nil
        control?.endWaits()
        for connection in connections.values { connection.end() }
        httpServers.forEach { $0.close() }
        service.store.close()
        let done = whenStopped
        whenStopped = nil
        done?()
    }

    // MARK: Turns

    private func endTurn() {
        guard service.store.isOpen else { return }
        if service.core.lastSequence - sequenceOldest > 2 * configuration.historyMax { trimWithTurn() }
        service.endTurn(now: moment)
        let wake = service.wakeTimes
        let now = moment
        let waits = [wake.unix, wake.monotonic]
        let delays = zip(waits, [now.unixMilliseconds, now.monotonicMilliseconds]).compactMap { at, now in
            at == .max ? nil : max(at - now, 0)
        }
        if let delay = delays.min() {
            // A day is long enough to look again.
            wakeTimer?.schedule(after: .milliseconds(min(delay, 86_400_000)))
        } else {
            wakeTimer?.cancel()
        }
    }

    /// Once a second: ends handshakes that hang and providers that idle, and lets old history and memory go while all is quiet.
    private func sweep() {
        let now = loop.now
        let idleMax = Duration.milliseconds(service.setup.rules.connection.idleMilliseconds)
        for connection in Array(connections.values) {
            let silence = now - connection.lastHeard
            if connection.isOpening && silence > DriverLimits.handshakeMax {
                connection.end()
            } else if connection.surface != .courier && idleMax > .zero && silence > idleMax {
                connection.sayGoodbye(.idleTimeout)
            }
        }
        trimWhenQuiet()
        freedMemory.giveBackWhenQuiet()
        sweepTimer?.schedule(after: .seconds(1))
    }

    // MARK: History

    /// Old history goes while there is little to do; when it has grown to twice its size, with each turn.
    private func trimWhenQuiet() {
        let last = service.core.lastSequence
        defer { sequenceAtLastSweep = last }
        guard last - sequenceAtLastSweep < 100, last - sequenceOldest > configuration.historyMax,
            !service.isStoreFailing
        else { return }
        trim(DriverLimits.trimRowsMax)
    }

    /// Forgets twice what this turn brings, so that the history shrinks under any load.
    private func trimWithTurn() {
        let added = service.core.lastSequence - sequenceAtLastTurn
        sequenceAtLastTurn = service.core.lastSequence
        guard added > 0, !service.isStoreFailing else { return }
        trim(Int(min(2 * added, Int64(DriverLimits.trimRowsPerTurnMax))))
    }

    private func trim(_ count: Int) {
        let last = service.core.lastSequence
        let removed = service.store.trim(before: last - configuration.historyMax, count: count)
        let oldest = (try? service.store.oldestSequence()) ?? last
        // When all that is left from long ago still waits for its device, the next look is a history later.
        sequenceOldest = removed == 0 ? last - configuration.historyMax : oldest
    }

    // MARK: Listening

    private func listen(_ assets: ServerAssets) throws(LocalPushError) {
        let apns = try listener(configuration.apnsPort, "--apns-port") { [unowned self] in accept($0, .apns) }
        let courier = try listener(configuration.courierPort, "--courier-port") { [unowned self] in
            accept($0, .courier)
        }
        let ports = configuration.broadcastPorts
        ready.sandboxBroadcast = try listener(ports.sandbox, "--broadcast-ports") { [unowned self] in
            accept($0, .management(.sandbox))
        }.address
        ready.productionBroadcast = try listener(ports.production, "--broadcast-ports") { [unowned self] in
            accept($0, .management(.production))
        }.address
        ready.apns = apns.address
        ready.courier = courier.address
        let control = ControlService(service: service, configuration: configuration, loop: loop)
        let http = try httpServer(configuration.httpPort, "--http-port", tls: nil, control)
        let https = try httpServer(configuration.httpsPort, "--https-port", tls: assets.httpTLS, control)
        ready.http = "http://\(http.address)"
        ready.https = "https://\(https.address)"
        control.ready = ready
        self.control = control
    }

    private func listener(
        _ port: UInt16, _ option: String, _ accepted: @escaping (Int32) -> Void
    ) throws(LocalPushError) -> Listener {
        do throws(ReactorError) {
            let listener = try Listener(loop: loop, host: configuration.host, port: port, accepted: accepted)
            listeners.append(listener)
            return listener
        } catch {
            throw .cannotListen("\(error)", option: option)
        }
    }

    private func httpServer(
        _ port: UInt16, _ option: String, tls: TLSContext?, _ control: ControlService
    ) throws(LocalPushError) -> HTTP1Server {
        do throws(ReactorError) {
            let server = try HTTP1Server(loop: loop, host: configuration.host, port: port, tls: tls) { exchange in
                control.handle(exchange)
            }
            httpServers.append(server)
            return server
        } catch {
            throw .cannotListen("\(error)", option: option)
        }
    }

    private func accept(_ fd: Int32, _ surface: SurfaceConnection.Surface) {
        do throws(TLSError) {
            let connection = try SurfaceConnection(driver: self, surface: surface, accepted: fd)
            connections[ObjectIdentifier(connection)] = connection
            if connections.count > DriverLimits.connectionsMax { connection.end() }
        } catch {
            log("cannot accept a connection: \(error)")
        }
    }

    func remove(_ connection: SurfaceConnection) {
        connections[ObjectIdentifier(connection)] = nil
        freedMemory.noteEnd()
        if isStopping && connections.isEmpty { goodbyeTimer?.schedule(after: .zero) }
    }
}
