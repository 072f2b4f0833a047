import PushCore
import PushCrypto
import PushHTTP1
import PushJSON
import PushStore

extension ControlService {
    func keys(_ exchange: HTTP1Exchange, _ id: String?) throws(ControlError) {
        let request = exchange.request
        guard let id else {
            try allow(["GET", "POST"], request)
            if request.method == "POST" { return try addKey(exchange) }
            let keys = service.core.verifier.keys.values.sorted { $0.id < $1.id }
            return exchange.respond(ControlAnswer(200, ["keys": .array(keys.map(DeviceView.json))]).response)
        }
        try allow(["GET", "DELETE"], request)
        guard let key = service.core.verifier.keys[id] else {
            throw ControlError(404, "unknown_key", "There is no key \(id).", hint: "GET /localpush/v1/keys lists them.")
        }
        guard request.method == "DELETE" else {
            return exchange.respond(ControlAnswer(200, DeviceView.json(key)).response)
        }
        _ = service.core.verifier.remove(keyID: id)
        service.store.removeKey(id: id)
        respondWhenStored(exchange, ControlAnswer(200, [:]))
    }

    private func addKey(_ exchange: HTTP1Exchange) throws(ControlError) {
        let body = try ControlBody(
            exchange.request, parser: parser, allowed: ["id", "team", "pem", "environment", "topics", "relatedKey"])
        let id = try body.requiredText("id")
        guard id.utf8.count <= 64 else { throw .badField("id", "must have at most 64 characters") }
        guard let team = try team(body) else { throw .badField("team", "is missing") }
        let pem = try body.requiredText("pem")
        let environment = try keyEnvironment(body)
        let topics = try keyTopics(body)
        let relatedKey = try relatedKey(body, of: id, topics: topics)
        guard let publicKey = try? ES256PublicKey(pem: pem) else {
            throw .badField("pem", "must be a P-256 key in PEM: the text of a .p8 file, or its public half")
        }
        guard service.core.verifier.keys[id] == nil else {
            throw ControlError(
                409, "already_exists", "There is a key \(id) already.", hint: "DELETE /localpush/v1/keys/\(id) first.")
        }
        let key = ProviderKey(
            id: id, team: team, environment: environment, topics: topics, relatedKey: relatedKey, publicKey: publicKey)
        service.core.verifier.add(key)
        service.store.save(key)
        respondWhenStored(exchange, ControlAnswer(201, DeviceView.json(key)))
    }

    /// `nil` and `both` are the same: a key made before 2025.
    private func keyEnvironment(_ body: ControlBody) throws(ControlError) -> PushEnvironment? {
        guard let text = try body.text("environment"), text != "both" else { return nil }
        guard let environment = PushEnvironment(text: text) else {
            throw .badField("environment", "must be sandbox, production or both")
        }
        return environment
    }

    /// Bundle ids, or topics with a suffix; `nil` for a key of the whole team.
    private func keyTopics(_ body: ControlBody) throws(ControlError) -> [String]? {
        guard let topics = try body.texts("topics") else { return nil }
        guard (1...CoreLimits.topicsPerKeyMax).contains(topics.count) else {
            throw .badField(
                "topics", "must have 1 to \(CoreLimits.topicsPerKeyMax) topics; leave it out for all of the team's")
        }
        if let bad = topics.first(where: { !App.isValid(bundle: TopicSuffix.split($0).bundle) }) {
            throw .badField("topics", "must hold bundle ids, or topics with the suffix of a push type, not \"\(bad)\"")
        }
        return topics
    }

    private func relatedKey(
        _ body: ControlBody, of id: String, topics: [String]?
    ) throws(ControlError) -> String? {
        guard let related = try body.text("relatedKey") else { return nil }
        guard topics != nil else { throw .badField("relatedKey", "goes with topics: keys of a whole team have none") }
        guard !related.isEmpty, related.utf8.count <= 64, related != id else {
            throw .badField("relatedKey", "must be the id of another key, at most 64 characters")
        }
        return related
    }
}
