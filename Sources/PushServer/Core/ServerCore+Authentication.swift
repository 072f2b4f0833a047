import PushBytes
package import PushCore

extension ServerCore {
    /// Whether a client certificate belongs to the other environment only.
    package func isForeign(_ certificate: PresentedCertificate, in environment: PushEnvironment) -> Bool {
        if case .good(let certificate) = certificate { return !certificate.isGood(for: environment) }
        return false
    }

    /// Who sends this: by certificate where there is one, else by provider token. `nil` when all is well.
    func authenticate(
        _ request: APNsRequest, session: inout ProviderSession, environment: PushEnvironment, now: Moment
    ) -> APNsReason? {
        switch session.certificate {
        case .none: break
        case .bad: return .badCertificate
        case .good(let certificate): return certificate.isGood(for: environment) ? nil : .badCertificateEnvironment
        }
        guard let range = APNsRules.bearerToken(request) else { return .missingProviderToken }
        if session.epoch === verifier.epoch && request.storage.matches(range, session.token.bytes) {
            return session.token.objection(environment: environment, now: now, settings: settings.auth)
        }
        return admit(request.storage[range], session: &session, environment: environment, now: now)
    }

    /// A token this connection has not shown before, or one whose key may have changed.
    private func admit(
        _ token: ArraySlice<UInt8>, session: inout ProviderSession, environment: PushEnvironment, now: Moment
    ) -> APNsReason? {
        guard let claims = verifier.claims(of: token) else { return .invalidProviderToken }
        let reason = session.token.admit(
            token, claims, environment: environment, now: now, settings: settings.auth)
        if let reason { return reason }
        session.epoch = verifier.epoch
        session.topic = nil
        if session.joinsRegistry !== registry.identity {
            session.joinsRegistry = registry.identity
            session.joinsKnown = registry.joins
        }
        return nil
    }

    /// The topic a request is for: the one it names, or the only one of the client's certificate.
    func findTopic(_ request: APNsRequest, session: inout ProviderSession) -> Result<Topic, APNsReason.Failure> {
        guard let range = request.topic, !range.isEmpty else {
            guard case .good(let certificate) = session.certificate, let only = certificate.defaultTopic else {
                return .failure(.init(.missingTopic))
            }
            return findTopic(named: only[...], session: &session)
        }
        if let last = session.topic, request.storage.matches(range, last.bytes),
            isUnchanged(last, for: session)
        {
            return .success(last)
        }
        return findTopic(named: request.storage[range], session: &session)
    }

    private func findTopic(
        named name: ArraySlice<UInt8>, session: inout ProviderSession
    ) -> Result<Topic, APNsReason.Failure> {
        guard name.count <= CoreLimits.topicBytesMax else { return .failure(.init(.badTopic)) }
        let bytes = Array(name)
        if let known = registry.topic(named: bytes) { return use(known, &session) }
        if case .good(let certificate) = session.certificate, !certificate.topics.contains(bytes) {
            return .failure(.init(.topicDisallowed))
        }
        let (bundle, _) = TopicSuffix.split(String(decoding: name, as: UTF8.self))
        guard App.isValid(bundle: bundle) else { return .failure(.init(.badTopic)) }
        guard settings.registersUnknownTokens else { return .failure(.init(.topicDisallowed)) }
        addUnknownApp(bundle, for: &session)
        guard let made = registry.topic(named: bytes) else { return .failure(.init(.badTopic)) }
        return use(made, &session)
    }

    /// Makes the app that a request names; the connection that makes an app knows it.
    func addUnknownApp(_ bundle: String, for session: inout ProviderSession) {
        addApp(bundle: bundle, team: session.token.claims?.team, storageRule: nil)
        session.joinsKnown = registry.joins
    }

    private func use(_ topic: Topic, _ session: inout ProviderSession) -> Result<Topic, APNsReason.Failure> {
        if let reason = objection(to: topic, for: session) { return .failure(.init(reason)) }
        session.topic = topic
        return .success(topic)
    }

    /// Why a connection may not send to a topic; `nil` when it may.
    func objection(to topic: Topic, for session: ProviderSession) -> APNsReason? {
        switch session.certificate {
        case .bad: return .topicDisallowed
        case .good(let certificate): return certificate.allows(topic) ? nil : .topicDisallowed
        case .none: break
        }
        guard let claims = session.token.claims, owns(topic.app, session) else { return .topicDisallowed }
        return claims.covers(topic) ? nil : settings.auth.topicOutsideKey.reason
    }

    /// Whether a topic that was allowed before still is: apps come, go and move while a connection is open.
    private func isUnchanged(_ topic: Topic, for session: ProviderSession) -> Bool {
        guard registry.app(topic.app.bundle) === topic.app else { return false }
        if case .none = session.certificate { return owns(topic.app, session) }
        return true
    }

    private func owns(_ app: App, _ session: ProviderSession) -> Bool {
        if settings.auth.bindsApps && app.joined > session.joinsKnown { return false }
        if app.team == session.token.claims?.team { return true }
        guard settings.trustsAnyKey, let keyID = session.token.claims?.keyID else { return false }
        return verifier.keys[keyID] == nil
    }
}
