package import PushCore
package import PushCourier
import PushCrypto

extension ServerCore {
    package func deviceConnected(_ connection: Int, environment: PushEnvironment, now: Moment) {
        precondition(sessions[connection] == nil, "a connection is opened once")
        if sessions.isEmpty { sessionCheckAt = now.monotonicMilliseconds + 1000 }
        sessions[connection] = DeviceSession(connection: connection, environment: environment, now: now)
    }

    /// The connection is gone, whoever ended it.
    package func deviceDisconnected(_ connection: Int, now: Moment) {
        guard let session = sessions.removeValue(forKey: connection) else { return }
        leave(session, now: now)
    }

    package func received(_ message: CourierConnect, from connection: Int, now: Moment) {
        guard let session = heard(connection, now: now) else { return }
        guard session.device == nil else {
            end(session, why: "it introduced itself twice", now: now)
            return
        }
        guard let device = identify(message, environment: session.environment, now: now) else {
            outputs.append(.reply(connection: connection, .refused))
            end(session, why: "its introduction was refused", now: now)
            return
        }
        if let older = device.session { end(older, why: "the same device connected again", now: now) }
        session.bind(to: device)
        device.session = session
        let token = message.baseToken == device.baseToken ? nil : device.baseToken
        outputs.append(.reply(connection: connection, .accepted(baseToken: token)))
        journal(.connected, device: device, now: now)
    }

    package func received(_ message: CourierFilter, from connection: Int, now: Moment) {
        guard let session = introduced(connection, now: now) else { return }
        guard message.enabled.count <= CoreLimits.enabledTopicsMax else {
            end(session, why: "it enabled more than \(CoreLimits.enabledTopicsMax) topics", now: now)
            return
        }
        let fresh = session.enable(Set(message.enabled.compactMap { TopicHash(bytes: $0) }))
        guard !fresh.isEmpty, let device = session.device else { return }
        for registration in device.registrations {
            for (index, slot) in registration.mailboxes.enumerated() where fresh.contains(slot.topic.hash) {
                registration.withMailbox(index) {
                    $0.beginReplay(now: now.unixMilliseconds, departures: &departures)
                }
                journalDepartures(of: registration, now: now)
            }
        }
        pumpAll(session, now: now)
        replayChannels(of: device, where: { fresh.contains($0.topic.hash) }, now: now)
    }

    package func received(_ message: CourierAcknowledgement, from connection: Int, now: Moment) {
        guard let session = introduced(connection, now: now), let device = session.device,
            let record = session.acknowledged(message.messageID)
        else { return }
        if record.isBroadcast {
            acknowledgedBroadcast(record, isTaken: message.status == CourierAcknowledgement.taken, now: now)
            if session.hasBacklog { pumpAll(session, now: now) }
            return
        }
        guard record.registration.withMailbox(record.mailboxIndex, { $0.remove(record.sequence) }) else { return }
        if message.status == CourierAcknowledgement.taken {
            journal(.acknowledged, push: record.sequence, device: device, now: now)
        } else {
            journal(
                .dropped, push: record.sequence, device: device, detail: DropCause.deviceRefused.rawValue, now: now)
        }
        if session.hasBacklog { pumpAll(session, now: now) }
    }

    package func received(_ message: CourierTokenRequest, from connection: Int, now: Moment) {
        guard let session = introduced(connection, now: now), let device = session.device else { return }
        guard message.baseToken == device.baseToken,
            let registration = register(device, hash: message.topicHash, name: message.topicName, now: now)
        else {
            outputs.append(.reply(connection: connection, .tokenRefused(topic: message.topicHash)))
            return
        }
        outputs.append(
            .reply(connection: connection, .token(registration.token, topic: registration.topic.hash)))
    }

    package func receivedKeepAlive(from connection: Int, now: Moment) {
        guard introduced(connection, now: now) != nil else { return }
        outputs.append(.reply(connection: connection, .keepAlive))
    }

    /// Anything else a device says: it only shows that the device lives.
    package func receivedOther(from connection: Int, now: Moment) { _ = introduced(connection, now: now) }

    /// Ends a connection from our side and does at once what its loss means.
    func end(_ session: DeviceSession, why: String, now: Moment) {
        outputs.append(.close(connection: session.connection, why: why))
        sessions[session.connection] = nil
        leave(session, now: now)
    }

    private func heard(_ connection: Int, now: Moment) -> DeviceSession? {
        guard let session = sessions[connection] else { return nil }
        session.lastHeard = now.monotonicMilliseconds
        return session
    }

    func introduced(_ connection: Int, now: Moment) -> DeviceSession? {
        guard let session = heard(connection, now: now) else { return nil }
        if session.device != nil { return session }
        end(session, why: "it spoke before introducing itself", now: now)
        return nil
    }

    private func leave(_ session: DeviceSession, now: Moment) {
        guard let device = session.device, device.session === session else { return }
        device.session = nil
        abandonBroadcasts(of: session, now: now)
        keepUnsent(of: device, now: now)
        journal(.disconnected, device: device, now: now)
    }

    /// A device went away: what waits for it is kept under the storage rule.
    func keepUnsent(of device: Device, now: Moment) {
        for registration in device.registrations {
            for index in registration.mailboxes.indices {
                let earliest = registration.withMailbox(index) {
                    $0.deviceLeft(rule: rule(of: registration.app), departures: &departures)
                    return $0.earliestExpiry
                }
                journalDepartures(of: registration, now: now)
                expiryCheckAt = min(expiryCheckAt, earliest)
            }
        }
    }

    /// Who is there: by proof, or by word. `nil` refuses.
    private func identify(_ message: CourierConnect, environment: PushEnvironment, now: Moment) -> Device? {
        switch identityMode {
        case .open:
            if let token = message.baseToken {
                guard let device = registry.device(baseToken: token), !device.isVirtual else { return nil }
                return device
            }
            return addDevice(identity: [], environment: environment, isVirtual: false, now: now)
        case .proof:
            guard let certificate = DeviceProof.check(message, now: now) else { return nil }
            let identity = certificate.fingerprint + [environment.rawValue]
            let known = registry.device(identity: identity)
            if let token = message.baseToken, token != known?.baseToken { return nil }
            return known
                ?? addDevice(
                    identity: identity, environment: environment, isVirtual: false, name: certificate.commonName,
                    now: now)
        }
    }
}

/// The proof a device gives of its identity: a certificate, and a signature over a fresh nonce made with its key.
enum DeviceProof {
    /// Signatures are prefixed with these two bytes; nonces begin with the zero that follows.
    private static let signaturePrefix: [UInt8] = [0x01, 0x01]
    private static let nonceBytes = 17

    /// The certificate, or `nil` when a part is missing, the signature is wrong, or the clock is off by minutes.
    static func check(_ message: CourierConnect, now: Moment) -> Certificate? {
        guard let der = message.certificate, let nonce = message.nonce, let signature = message.signature,
            nonce.count == nonceBytes, nonce[0] == 0, signature.starts(with: signaturePrefix)
        else { return nil }
        let time = nonce[1...8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let milliseconds = Int64(exactly: time),
            (milliseconds - now.unixMilliseconds).magnitude <= UInt64(CoreLimits.proofClockMillisecondsMax),
            let certificate = try? Certificate(der: der),
            certificate.verifySHA1(Array(signature.dropFirst(2)), of: nonce)
        else { return nil }
        return certificate
    }
}
