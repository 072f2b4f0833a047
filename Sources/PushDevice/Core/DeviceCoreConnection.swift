internal import PushBytes
internal import PushCourier

// How a connection comes, is kept alive and goes.
extension DeviceCore {
    mutating func start(_ now: Moment, _ outputs: inout [Output]) {
        guard phase == .stopped else { return }
        failures = 0
        connect(now, &outputs)
    }

    mutating func stop(_ outputs: inout [Output]) {
        guard phase != .stopped else { return }
        closeConnection(&outputs)
        phase = .stopped
        outputs.append(.event(.disconnected(DisconnectReason(.stopped, "the device was stopped"), retryIn: nil)))
    }

    private mutating func connect(_ now: Moment, _ outputs: inout [Output]) {
        session += 1
        isRefusing = false
        for index in topics.indices { topics[index].question = .unasked }
        phase = .connecting(deadline: now.nanoseconds + timing.connectDeadline)
        outputs.append(.event(.connecting))
        outputs.append(.connect)
    }

    mutating func connected(_ now: Moment, _ outputs: inout [Output]) {
        guard case .connecting = phase else { return }
        phase = .awaitingResponse(
            deadline: now.nanoseconds + timing.responseDeadline, presentedToken: baseToken != nil)
        outputs.append(
            .write(
                .connect(
                    baseToken: baseToken, clockMilliseconds: now.wallMilliseconds &+ clockOffsetMilliseconds)))
    }

    /// The driver says that the connection has ended.
    mutating func lost(_ reason: DisconnectReason, _ now: Moment, _ outputs: inout [Output]) {
        switch phase {
        case .stopped, .waiting: return
        case .connecting, .awaitingResponse, .online: retry(reason, now, &outputs)
        }
    }

    /// We end the connection and come back.
    mutating func drop(_ reason: DisconnectReason, _ now: Moment, _ outputs: inout [Output]) {
        closeConnection(&outputs)
        retry(reason, now, &outputs)
    }

    private mutating func closeConnection(_ outputs: inout [Output]) {
        switch phase {
        case .stopped, .waiting: break
        case .connecting, .awaitingResponse, .online: outputs.append(.disconnect)
        }
    }

    /// Waits a random time up to a bound that doubles with each failure: a thousand devices that lost one server do
    /// not come back in step.
    private mutating func retry(_ reason: DisconnectReason, _ now: Moment, _ outputs: inout [Output]) {
        if case .online(let session) = phase, now.nanoseconds - session.since >= timing.stableAfter { failures = 0 }
        let doublings = min(failures, 30)
        let bound = min(timing.backoffMax, timing.backoffBase.multipliedClamped(by: 1 << Int64(doublings)))
        let delay = reason.kind == .catchingUp ? 0 : Int64.random(in: 0...bound, using: &random)
        if reason.kind != .catchingUp { failures += 1 }
        phase = .waiting(until: now.nanoseconds + delay)
        outputs.append(.event(.disconnected(reason, retryIn: .nanoseconds(delay))))
    }

    mutating func timePassed(_ now: Moment, _ outputs: inout [Output]) {
        let time = now.nanoseconds
        switch phase {
        case .stopped:
            break
        case .waiting(let until):
            if time >= until { connect(now, &outputs) }
        case .connecting(let deadline):
            if time >= deadline {
                drop(DisconnectReason(.connectionFailed, "no connection within the time limit"), now, &outputs)
            }
        case .awaitingResponse(let deadline, _):
            if time >= deadline {
                drop(DisconnectReason(.noResponse, "the server did not answer the first frame"), now, &outputs)
            }
        case .online(var session):
            if let answerBy = session.answerBy, time >= answerBy {
                let reason = DisconnectReason(.keepAliveUnanswered, "the server did not answer a keep-alive")
                return drop(reason, now, &outputs)
            }
            if session.answerBy == nil && time >= session.keepAliveAt {
                session.answerBy = time + timing.keepAliveDeadline
                outputs.append(.write(.keepAlive))
            }
            let asksAgain = session.askTokensAgainAt.map { time >= $0 } ?? false
            if asksAgain { session.askTokensAgainAt = nil }
            phase = .online(session)
            if asksAgain {
                for index in topics.indices where topics[index].question == .open {
                    topics[index].question = .unasked
                }
                askForTokens(now, &outputs)
            }
        }
    }

    mutating func keepAliveAnswered(_ now: Moment) {
        guard case .online(var session) = phase, session.answerBy != nil else { return }
        session.answerBy = nil
        session.keepAliveAt = now.nanoseconds + timing.keepAliveInterval
        phase = .online(session)
    }

    // MARK: The first answer

    mutating func answered(_ response: CourierConnectResponse, _ now: Moment, _ outputs: inout [Output]) {
        guard case .awaitingResponse(_, let presentedToken) = phase else { return }
        guard response.status == CourierConnectResponse.accepted else {
            return refused(response, presentedToken: presentedToken, now, &outputs)
        }
        if let token = response.baseToken, token != baseToken {
            replaceBaseToken(token, &outputs)
        }
        guard baseToken != nil else {
            let reason = DisconnectReason(.protocolViolation, "the server accepted the device and gave it no token")
            return drop(reason, now, &outputs)
        }
        phase = .online(
            Session(since: now.nanoseconds, keepAliveAt: now.nanoseconds + timing.keepAliveInterval))
        writeFilter(&outputs)
        askForTokens(now, &outputs)
        writeChannels(&outputs)
        outputs.append(.write(.activeState(CourierActiveState(state: 1))))
        outputs.append(.event(.connected))
    }

    private mutating func replaceBaseToken(_ token: [UInt8]?, _ outputs: inout [Output]) {
        baseToken = token
        // App tokens hang on the base token.
        for index in topics.indices { topics[index].token = nil }
        outputs.append(.saveBaseToken(token))
    }

    private mutating func refused(
        _ response: CourierConnectResponse, presentedToken: Bool, _ now: Moment, _ outputs: inout [Output]
    ) {
        if let time = response.badNonceTimeMilliseconds.flatMap({ Int64(exactly: $0) }) {
            clockOffsetMilliseconds = time &- now.wallMilliseconds
        }
        var detail = "the server turned the device away with status \(response.status)"
        if response.status == CourierConnectResponse.refused && presentedToken {
            // The identity is unchanged, so a server that knows it gives the same token back.
            replaceBaseToken(nil, &outputs)
            detail += "; its token is dropped"
        }
        drop(DisconnectReason(.refused, detail), now, &outputs)
    }
}

extension Int64 {
    fileprivate func multipliedClamped(by factor: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
