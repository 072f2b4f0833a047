import PushCore
import PushHTTP2
import PushJSON
import PushStore

extension PushService {
    /// Takes a request of the broadcast and channel API, or any request on a management port.
    func handleBroadcast(
        _ message: HTTP2Message, _ request: APNsRequest, of connection: ProviderConnection, now: Moment
    ) {
        let verdict: Result<BroadcastCall, APNsReason.Failure> =
            if let reason = hindrance(of: connection) {
                .failure(.init(reason))
            } else {
                core.judgeBroadcast(
                    request, body: message.body, port: connection.port, session: &connection.session, now: now)
            }
        let given = (try? BroadcastRules.requestID(request).get()) ?? nil
        let sequence: Int64
        let outcome: Result<BroadcastAnswer.Success, APNsReason.Failure>
        switch verdict {
        case .success(.send(let channel, let notification)):
            sequence = send(notification, channel, message.body, id: given, now: now)
            let isUnique = setup.rules.broadcast.givesUniqueID && channel.environment == .sandbox
            outcome = .success(.sent(uniqueID: isUnique ? core.ids.id(for: sequence) : nil))
        case .success(let call):
            outcome = .success(carryOut(call, now: now))
            sequence = core.refuse()
            perform(now: now)
        case .failure(let failure):
            sequence = core.refuse()
            record(failure.reason, request, message.body, sequence, id: given, of: connection, now: now)
            outcome = .failure(failure)
            perform(now: now)
            if failure.reason == .badCertificateEnvironment {
                connection.leaveWithoutAnswer(failure.reason)
                return
            }
        }
        add(
            BroadcastAnswer(
                connection: connection, stream: message.streamID, id: given ?? core.ids.id(for: sequence),
                outcome: outcome))
    }

    private func carryOut(_ call: BroadcastCall, now: Moment) -> BroadcastAnswer.Success {
        switch call {
        case .send: preconditionFailure("a broadcast is sent elsewhere")
        case .create(let app, let policy, let environment):
            return .created(channelID: core.createChannel(app, policy, environment, now: now).text)
        case .read(let channel):
            return .told(["message-storage-policy": .int(channel.policy.rawValue), "push-type": "LiveActivity"])
        case .delete(let channel):
            core.deleteChannel(channel, now: now)
            return .deleted
        case .list(let app, let environment):
            let channels = core.registry.channels.channels(of: app.bundle, environment)
            return .told(["channels": .array(channels.map { .string($0.text) })])
        }
    }

    private func send(
        _ notification: BroadcastNotification, _ channel: Channel, _ payload: [UInt8], id: APNsID?, now: Moment
    ) -> Int64 {
        let sent = core.broadcast(notification, on: channel, now: now)
        var record = PushRecord(
            sequence: sent.sequence, id: id, registration: 0, at: now.unixMilliseconds, reason: nil,
            environment: channel.environment)
        record.topic = channel.bundle
        record.pushType = .liveactivity
        record.priority = notification.priority
        record.expiration = notification.expiration
        record.expiresAt = sent.storedUntil ?? now.unixMilliseconds
        record.isStorable = sent.storedUntil != nil
        record.broadcast = sent.mark
        store.add(record, payload: payload.span)
        observe(
            JournalEvent(
                sequence: sent.sequence, milestone: .accepted, push: sent.sequence, device: 0,
                at: now.unixMilliseconds, detail: 0))
        perform(now: now, current: (record, payload))
        return sent.sequence
    }

    /// Refusals stand in the journal, those of channel management too: there a tester looks first.
    private func record(
        _ reason: APNsReason, _ request: APNsRequest, _ body: [UInt8], _ sequence: Int64, id: APNsID?,
        of connection: ProviderConnection, now: Moment
    ) {
        var record = PushRecord(
            sequence: sequence, id: id, registration: 0, at: now.unixMilliseconds, reason: reason,
            environment: core.environment(of: request, port: connection.port, session: &connection.session))
        record.topic = RefusalDetail.shortened(request, BroadcastRules.route(request)?.bundle)
        record.detail = RefusalDetail.broadcastOffence(reason, request)
        record.isStorable = false
        if let id = try? BroadcastRules.channelID(request).get() {
            record.broadcast = BroadcastMark(channel: id, nanoseconds: 0)
        }
        observe(
            JournalEvent(
                sequence: sequence, milestone: .rejected, push: sequence, device: 0, at: now.unixMilliseconds,
                detail: Int64(reason.rawValue)))
        if reason != .serviceUnavailable { store.add(record, payload: body.span) }
    }
}
