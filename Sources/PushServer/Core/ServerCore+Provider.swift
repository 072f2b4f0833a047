import PushBytes
package import PushCore

extension ServerCore {
    /// Judges one request in the documented order: path and method, repeated headers, authentication, headers, topic,
    /// payload, device token. `isJSON` is asked only when all before it passed. A certificate of the other environment
    /// comes before all of them: with `badCertificateEnvironment` the connection ends without an answer.
    package func judge(
        _ request: APNsRequest, session: inout ProviderSession, isJSON: () -> Bool, now: Moment
    ) -> Result<Acceptance, APNsReason.Failure> {
        let environment = environment(of: request, session: &session)
        if isForeign(session.certificate, in: environment) { return .failure(.init(.badCertificateEnvironment)) }
        let tokenRange: Range<Int>
        switch APNsRules.route(request) {
        case .failure(let failure): return .failure(failure)
        case .success(let range): tokenRange = range
        }
        if request.hasDuplicates { return .failure(.init(.duplicateHeaders)) }
        if let reason = authenticate(request, session: &session, environment: environment, now: now) {
            return .failure(.init(reason))
        }
        let notification: APNsNotification
        switch APNsRules.notification(request) {
        case .failure(let failure): return .failure(failure)
        case .success(let parsed): notification = parsed
        }
        let topic: Topic
        switch findTopic(request, session: &session) {
        case .failure(let failure): return .failure(failure)
        case .success(let found): topic = found
        }
        if let reason = APNsRules.typeConflict(notification, suffix: topic.suffix) { return .failure(.init(reason)) }
        if let reason = APNsRules.payloadConflict(bodyBytes: request.bodyBytes, suffix: topic.suffix) {
            return .failure(.init(reason))
        }
        guard isJSON() else { return .failure(.init(.payloadEmpty)) }
        return findRegistration(request, tokenRange, topic, environment, now: now).map {
            Acceptance(registration: $0, topic: topic, notification: notification)
        }
    }

    /// Takes in a push that passed, gives it its place in the journal, and sends it on if its device is there.
    package func accept(_ acceptance: Acceptance, now: Moment) -> (sequence: Int64, MailboxEntry) {
        let sequence = nextSequence()
        let (expiresAt, isStorable) = acceptance.notification.lifetime(now: now.unixMilliseconds)
        let entry = MailboxEntry(
            sequence: sequence, expiresAt: expiresAt, isStorable: isStorable,
            priority: acceptance.notification.priority)
        if acceptance.registration.unregisteredAt != nil {
            acceptance.registration.graceSends += 1
            journal(
                .dropped, push: sequence, device: acceptance.registration.device,
                detail: DropCause.unregistered.rawValue, now: now)
            return (sequence, entry)
        }
        if settings.delivery.holdsAnything && holdBack(entry, acceptance, now: now) { return (sequence, entry) }
        route(entry, to: acceptance.registration, topic: acceptance.topic, now: now)
        return (sequence, entry)
    }

    /// The number of a request that was refused: refusals stand in the journal, too.
    package func refuse() -> Int64 { nextSequence() }

    /// The environment a request is for: by the name it was sent to, else the connection's. Remembers the last name.
    package func environment(of request: APNsRequest, session: inout ProviderSession) -> PushEnvironment {
        guard let authority = request.authority, !authority.isEmpty else { return session.environment }
        if request.storage.matches(authority, session.authorityBytes) { return session.authorityEnvironment }
        session.authorityBytes = Array(request.storage[authority])
        session.authorityEnvironment = PushEnvironment.named(
            by: String(decoding: session.authorityBytes, as: UTF8.self), local: session.environment)
        return session.authorityEnvironment
    }

    private func findRegistration(
        _ request: APNsRequest, _ range: Range<Int>, _ topic: Topic, _ environment: PushEnvironment, now: Moment
    ) -> Result<Registration, APNsReason.Failure> {
        guard let token = AppToken(hexIn: request.storage, range) else { return .failure(.init(.badDeviceToken)) }
        guard let registration = registry.registration(token) else {
            guard settings.registersUnknownTokens else { return .failure(.init(.badDeviceToken)) }
            return .success(registerUnknown(token, topic, environment, now: now))
        }
        guard registration.device.environment == environment else { return .failure(.init(.badDeviceToken)) }
        if let at = registration.unregisteredAt, !isInGrace(registration, since: at, now: now) {
            return .failure(.init(.unregistered, timestamp: at))
        }
        if let at = registration.expiredAt { return .failure(.init(.expiredToken, timestamp: at)) }
        guard registration.app === topic.app else { return .failure(.init(.deviceTokenNotForTopic)) }
        let most = settings.delivery.requestsPerToken
        if most > 0 {
            let interval = settings.delivery.requestsIntervalMilliseconds
            guard registration.requests.take(most, per: interval, now: now.monotonicMilliseconds) else {
                return .failure(.init(.tooManyRequests))
            }
        }
        return .success(registration)
    }

    /// APNs learns late that an app is gone: for a while pushes to it are accepted and lost.
    private func isInGrace(_ registration: Registration, since at: Int64, now: Moment) -> Bool {
        let delivery = settings.delivery
        return registration.graceSends < delivery.unregisteredGraceSends
            || now.unixMilliseconds - at < delivery.unregisteredGraceMilliseconds
    }
}
