import PushBytes
package import PushCore
import PushCrypto
import PushJSON

/// A request of the broadcast and channel API that passed every rule.
package enum BroadcastCall {
    case send(Channel, BroadcastNotification)
    case create(App, ChannelPolicy, PushEnvironment)
    case read(Channel)
    case delete(Channel)
    case list(App, PushEnvironment)
}

/// Which port a request of that API came to: channels are managed on ports of their own, and broadcasts are sent on
/// the provider port. On the other port either path does not exist: 404 `BadPath`.
package enum BroadcastPort: Equatable {
    case provider
    /// The port says which environment is meant, whatever name it was reached by.
    case management(PushEnvironment)
}

extension ServerCore {
    /// Judges one request in the order that `BroadcastRules` documents. A certificate of the other environment comes
    /// before all: with `badCertificateEnvironment` the connection ends without an answer.
    package func judgeBroadcast(
        _ request: APNsRequest, body: [UInt8], port: BroadcastPort, session: inout ProviderSession, now: Moment
    ) -> Result<BroadcastCall, APNsReason.Failure> {
        let environment = environment(of: request, port: port, session: &session)
        if isForeign(session.certificate, in: environment) { return .failure(.init(.badCertificateEnvironment)) }
        guard let (route, bundle) = BroadcastRules.route(request), (route == .broadcast) == (port == .provider) else {
            return .failure(.init(.badPath))
        }
        guard let method = request.text(request.method), route.methods.contains(method) else {
            return .failure(.init(.methodNotAllowed))
        }
        if request.hasDuplicates { return .failure(.init(.duplicateHeaders)) }
        if let reason = authenticate(request, session: &session, environment: environment, now: now) {
            return .failure(.init(reason))
        }
        let app: App
        switch findApp(request.storage[bundle], session: &session) {
        case .failure(let failure): return .failure(failure)
        case .success(let found): app = found
        }
        guard mayBroadcast(app) else { return .failure(.init(.featureNotEnabled)) }
        if case .failure(let failure) = BroadcastRules.requestID(request) { return .failure(failure) }
        switch (route, method) {
        case (.broadcast, _): return judgeSend(request, body, app, environment)
        case (.allChannels, _): return .success(.list(app, environment))
        case (.channels, "POST"): return judgeCreate(request, body, app, environment)
        case (.channels, "DELETE"): return findChannel(request, app, environment).map { .delete($0) }
        case (.channels, _): return findChannel(request, app, environment).map { .read($0) }
        }
    }

    package func environment(
        of request: APNsRequest, port: BroadcastPort, session: inout ProviderSession
    ) -> PushEnvironment {
        switch port {
        case .provider: environment(of: request, session: &session)
        case .management(let environment): environment
        }
    }

    private func findApp(_ name: ArraySlice<UInt8>, session: inout ProviderSession) -> Result<App, APNsReason.Failure> {
        let text = String(decoding: name, as: UTF8.self)
        guard name.count <= CoreLimits.topicBytesMax, App.isValid(bundle: text) else {
            return .failure(.init(.topicDisallowed))
        }
        if registry.app(text) == nil && settings.registersUnknownTokens && session.token.claims != nil {
            addUnknownApp(text, for: &session)
        }
        guard let topic = registry.topic(named: Array(name)), objection(to: topic, for: session) == nil else {
            return .failure(.init(.topicMismatch))
        }
        return .success(topic.app)
    }

    private func findChannel(
        _ request: APNsRequest, _ app: App, _ environment: PushEnvironment
    ) -> Result<Channel, APNsReason.Failure> {
        BroadcastRules.channelID(request).flatMap { id in
            guard let channel = registry.channels[id: id], channel.bundle == app.bundle,
                channel.environment == environment
            else { return .failure(.init(.channelNotRegistered)) }
            return .success(channel)
        }
    }

    private func judgeSend(
        _ request: APNsRequest, _ body: [UInt8], _ app: App, _ environment: PushEnvironment
    ) -> Result<BroadcastCall, APNsReason.Failure> {
        findChannel(request, app, environment).flatMap { channel in
            BroadcastRules.notification(request, policy: channel.policy, settings: settings.broadcast).flatMap {
                if let reason = payloadConflict(request) { return .failure(.init(reason)) }
                guard broadcastParser.isValid(body.span),
                    !settings.broadcast.refusesStart || !BroadcastRules.isStart(body, parser: broadcastParser)
                else { return .failure(.init(.badRequestPayload)) }
                return .success(.send(channel, $0))
            }
        }
    }

    private func payloadConflict(_ request: APNsRequest) -> APNsReason? {
        APNsRules.payloadConflict(bodyBytes: request.bodyBytes, bytesMax: CoreLimits.payloadBytesBroadcastMax)
    }

    private func judgeCreate(
        _ request: APNsRequest, _ body: [UInt8], _ app: App, _ environment: PushEnvironment
    ) -> Result<BroadcastCall, APNsReason.Failure> {
        if let reason = payloadConflict(request) { return .failure(.init(reason)) }
        return BroadcastRules.newChannel(body, parser: broadcastParser).flatMap { policy in
            let count = registry.channels.channels(of: app.bundle, environment).count
            guard count < settings.broadcast.channelsMax else {
                return .failure(.init(.cannotCreateChannelConfig))
            }
            return .success(.create(app, policy, environment))
        }
    }

    // MARK: Channels

    /// Makes a channel. Its id follows from its place in the journal under the server's secret: it looks random, cannot
    /// be guessed, and as no place is given out twice, the id of a deleted channel never returns.
    package func createChannel(_ app: App, _ policy: ChannelPolicy, _ environment: PushEnvironment, now: Moment)
        -> Channel
    {
        journal(.channelCreated, now: now)
        let number = lastSequence
        let digest = HMACSHA256.authenticate(Array("channel \(number)".utf8), key: secret)
        let channel = Channel(
            number: number, id: Array(digest.prefix(Channel.idBytes)), bundle: app.bundle, environment: environment,
            policy: policy)
        registry.channels.add(channel)
        outputs.append(.save(.channel(channel)))
        return channel
    }

    /// Deletes a channel with what it keeps. What is on its way to a device arrives.
    package func deleteChannel(_ channel: Channel, now: Moment) {
        for subscription in channel.subscriptionsInOrder {
            if let missing = subscription.missing(now: now.unixMilliseconds) {
                journal(
                    .dropped, push: missing.sequence, device: subscription.registration.device,
                    detail: DropCause.channelDeleted.rawValue, now: now)
            }
            channel.remove(subscription)
        }
        registry.channels.remove(channel)
        outputs.append(.save(.channelRemoved(number: channel.number)))
        journal(.channelDeleted, now: now)
    }

    /// Takes in a broadcast that passed, and sends it to every device that is there.
    package func broadcast(
        _ notification: BroadcastNotification, on channel: Channel, now: Moment
    ) -> (sequence: Int64, mark: BroadcastMark, storedUntil: Int64?) {
        let sequence = nextSequence()
        channel.lastNanoseconds = max(now.unixMilliseconds &* 1_000_000, channel.lastNanoseconds + 1)
        let end = channel.policy == .newest ? notification.storedUntil(now: now.unixMilliseconds) : nil
        if let end {
            replaceStored(of: channel, by: sequence, now: now)
            channel.stored = Channel.Stored(
                sequence: sequence, nanoseconds: channel.lastNanoseconds, expiresAt: end)
            expiryCheckAt = min(expiryCheckAt, end)
        }
        if channel.policy == .newest { outputs.append(.save(.channel(channel))) }
        let mark = BroadcastMark(channel: channel.id, nanoseconds: channel.lastNanoseconds)
        for subscription in channel.subscriptionsInOrder {
            deliver(sequence, mark.nanoseconds, to: subscription, isKept: end != nil, now: now)
        }
        return (sequence, mark, end)
    }

    private func replaceStored(of channel: Channel, by sequence: Int64, now: Moment) {
        for subscription in channel.subscriptionsInOrder {
            guard let missing = subscription.missing(now: now.unixMilliseconds) else { continue }
            journal(
                .replaced, push: missing.sequence, device: subscription.registration.device, detail: sequence,
                now: now)
        }
    }

    /// Forgets what channels have kept for long enough, and says so for every device that never came.
    func expireChannels(now: Moment) {
        for channel in registry.channels.all.sorted(by: { $0.number < $1.number }) {
            guard let stored = channel.stored else { continue }
            guard stored.expiresAt <= now.unixMilliseconds else {
                expiryCheckAt = min(expiryCheckAt, stored.expiresAt)
                continue
            }
            for subscription in channel.subscriptionsInOrder
            where stored.nanoseconds > subscription.cursor && !subscription.pending.contains(stored.sequence) {
                journal(
                    .expired, push: stored.sequence, device: subscription.registration.device,
                    detail: stored.expiresAt, now: now)
            }
            channel.stored = nil
            outputs.append(.save(.channel(channel)))
        }
    }

    /// Whether an app may have channels: by its own setting, else `broadcast.enabled`.
    package func mayBroadcast(_ app: App) -> Bool { app.isBroadcastEnabled ?? settings.broadcast.isEnabled }
}
