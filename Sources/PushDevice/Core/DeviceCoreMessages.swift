internal import PushBytes
internal import PushCourier

// What goes over a connection that is up: frames in, topics, tokens, acknowledgements.
extension DeviceCore {
    /// Unknown frames, and frames that have no business in this phase, are skipped as every client does.
    mutating func received(_ frame: CourierFrame, _ now: Moment, _ outputs: inout [Output]) {
        do throws(CourierError) {
            switch frame.command {
            case CourierCommand.connectResponse: answered(try CourierConnectResponse(frame), now, &outputs)
            case CourierCommand.notification: notificationArrived(frame, now, &outputs)
            case CourierCommand.tokenResponse: tokenArrived(try CourierTokenResponse(frame), &outputs)
            case CourierCommand.subscription, CourierCommand.subscriptionResponse:
                subscriptionAnswered(try CourierSubscriptionResponse(frame), &outputs)
            case CourierCommand.keepAliveResponse: keepAliveAnswered(now)
            case CourierCommand.keepAlive:
                if isOnline { outputs.append(.write(.keepAliveResponse)) }
            default: break
            }
        } catch {
            drop(DisconnectReason(.protocolViolation, error.description), now, &outputs)
        }
    }

    // MARK: Messages

    private mutating func notificationArrived(
        _ frame: CourierFrame, _ now: Moment, _ outputs: inout [Output]
    ) {
        guard isOnline, !isRefusing else { return }
        let message: CourierNotification
        do throws(CourierError) {
            message = try CourierNotification(frame)
        } catch {
            // The damage is one message, as long as we can say which.
            guard let id = frame.integer(CourierItemID.Notification.messageID, as: UInt32.self) else {
                return drop(DisconnectReason(.protocolViolation, error.description), now, &outputs)
            }
            return acknowledge(id, token: nil, status: CourierAcknowledgement.invalid, &outputs)
        }
        guard let topic = topics.first(where: { $0.hash == message.topicHash }) else {
            // Left over from a filter of earlier: nobody here waits for it.
            return acknowledge(
                message.messageID, token: message.token, status: CourierAcknowledgement.failed, &outputs)
        }
        guard unconsumed + storing < limits.unconsumedMax else {
            isRefusing = true
            outputs.append(.event(.inboxFull))
            return
        }
        storing += 1
        outputs.append(
            .store(
                Arrival(
                    message: InboxMessage(
                        message, topic: topic.name, receivedAtMilliseconds: now.wallMilliseconds),
                    receipt: Arrival.Receipt(
                        messageID: message.messageID, token: message.token, session: session,
                        channel: message.broadcastChannel))))
    }

    mutating func stored(
        _ receipt: Arrival.Receipt, isNew: Bool, _ now: Moment, _ outputs: inout [Output]
    ) {
        precondition(storing > 0, "only what was asked to be stored is answered")
        storing -= 1
        if isNew { unconsumed += 1 }
        if let channel = receipt.channel { advance(channel) }
        if isOnline, receipt.session == session {
            acknowledge(receipt.messageID, token: receipt.token, status: CourierAcknowledgement.taken, &outputs)
        }
        // What counted as taking room may have been there before.
        catchUp(now, &outputs)
    }

    /// The server still has what we could not keep; it sends it again on the next connection, in order.
    mutating func storingFailed(_ why: String, _ now: Moment, _ outputs: inout [Output]) {
        storing = 0
        switch phase {
        case .stopped, .waiting: break
        case .connecting, .awaitingResponse, .online:
            drop(DisconnectReason(.storageFailed, why), now, &outputs)
        }
    }

    mutating func consumed(_ count: Int, _ now: Moment, _ outputs: inout [Output]) {
        precondition(count >= 0 && count <= unconsumed, "no more is consumed than there was")
        unconsumed -= count
        catchUp(now, &outputs)
    }

    /// Fetches what had to stay with the server, once half of the inbox is free and all that is durable has been
    /// acknowledged.
    private mutating func catchUp(_ now: Moment, _ outputs: inout [Output]) {
        guard isRefusing, isOnline, storing == 0, unconsumed <= limits.unconsumedMax / 2 else { return }
        drop(DisconnectReason(.catchingUp, "the inbox has room for what had to stay with the server"), now, &outputs)
    }

    private func acknowledge(_ id: UInt32, token: [UInt8]?, status: UInt8, _ outputs: inout [Output]) {
        outputs.append(
            .write(.acknowledgement(CourierAcknowledgement(messageID: id, status: status, token: token))))
    }

    // MARK: Topics and tokens

    mutating func setTopics(_ wanted: [DeviceTopic], _ now: Moment, _ outputs: inout [Output]) {
        precondition(wanted.count <= DeviceLimits.topicsMax, "the topics fit into one filter")
        let former = topics
        topics = wanted.map { topic in
            var topic = topic
            if let known = former.first(where: { $0.hash == topic.hash }) {
                topic.token = known.token
                topic.question = known.question
            }
            return topic
        }
        guard isOnline else { return }
        writeFilter(&outputs)
        askForTokens(now, &outputs)
    }

    mutating func mintToken(_ name: String, _ now: Moment, _ outputs: inout [Output]) {
        guard let index = topics.firstIndex(where: { $0.name == name }) else {
            preconditionFailure("a token is asked for a topic of this device")
        }
        topics[index].wantsToken = true
        if topics[index].question == .refused { topics[index].question = .unasked }
        if isOnline { askForTokens(now, &outputs) }
    }

    func writeFilter(_ outputs: inout [Output]) {
        guard let baseToken else { return }
        let enabled = topics.filter { !$0.isPaused }.map(\.hash)
        let paused = topics.filter(\.isPaused).map(\.hash)
        outputs.append(.write(.filter(CourierFilter(baseToken: baseToken, enabled: enabled, paused: paused))))
    }

    /// On every connection each token is asked for, known or not: the server may have forgotten the device.
    mutating func askForTokens(_ now: Moment, _ outputs: inout [Output]) {
        guard let baseToken, case .online(var session) = phase else { return }
        for index in topics.indices where topics[index].wantsToken && topics[index].question == .unasked {
            topics[index].question = .open
            let request = CourierTokenRequest(
                baseToken: baseToken, topicHash: topics[index].hash, topicName: topics[index].name)
            outputs.append(.write(.tokenRequest(request)))
            session.askTokensAgainAt = now.nanoseconds + timing.responseDeadline
        }
        phase = .online(session)
    }

    private mutating func tokenArrived(_ response: CourierTokenResponse, _ outputs: inout [Output]) {
        guard case .online(var session) = phase,
            let index = topics.firstIndex(where: { $0.hash == response.topicHash && $0.question == .open })
        else { return }
        if response.status == 0 {
            topics[index].question = .answered
            topics[index].token = response.token
            outputs.append(.event(.token(topic: topics[index].name, token: Hex.encode(response.token))))
        } else {
            topics[index].question = .refused
            outputs.append(.event(.tokenRefused(topic: topics[index].name, status: Int(response.status))))
        }
        if !topics.contains(where: { $0.question == .open }) { session.askTokensAgainAt = nil }
        phase = .online(session)
    }
}
