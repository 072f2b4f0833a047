import Foundation
import PushBytes
import PushCrypto
@testable import PushServer
import Testing

/// Cases 29 to 32: client certificates over real TLS.
@Suite(.serialized) struct CertificateCases {
    private static let bundle = CaseBench.topic

    /// A certificate and key, PEM, signed by the bench's authority.
    private func issue(
        _ bench: CaseBench, environments: [Bool] = [true, true], listed: [String]? = nil, voip: Bool = false,
        bundle: String = bundle
    ) throws -> (certificate: String, key: String) {
        var purpose = PushExtensions(bundle: bundle)
        purpose.isForDevelopment = environments[0]
        purpose.isForProduction = environments[1]
        purpose.isForVoIP = voip
        purpose.listed = listed.map { $0.map { PushExtensions.Topic($0) } }
        let directory = URL(fileURLWithPath: bench.server.ready.authorityPath).deletingLastPathComponent().path
        let made = try LocalIdentity.issueClient(
            directory: directory, purpose: purpose, now: Int64(Date().timeIntervalSince1970))
        return (made.certificate.pem, made.key.pem)
    }

    private func client(
        _ bench: CaseBench, _ identity: (certificate: String, key: String), serverName: String? = nil
    ) throws -> CaseClient {
        try bench.client(serverName: serverName, certificateChain: identity.certificate, privateKey: identity.key)
    }

    /// A push without authorization, as users of certificates send it.
    private func push(_ bench: CaseBench, _ token: String, _ changes: [String: String?] = [:]) throws
        -> CaseClient.Fields
    {
        try bench.push(to: token, changes.merging(["authorization": nil]) { given, _ in given })
    }

    private func expectForeign(_ client: CaseClient, _ fields: CaseClient.Fields) throws {
        let stream = try client.send(fields, body: CaseBench.body)
        try client.wait("the end of the connection") { $0.isAtEnd }
        #expect(client.answers.isEmpty)
        #expect(client.frames(of: stream).isEmpty, "no frame answers the request")
        #expect(
            client.goAways == [
                .init(lastStream: 0, code: 0, text: #"{"reason":"BadCertificateEnvironment"}"#),
                .init(lastStream: 0, code: 0, text: ""),
            ])
        #expect(client.goAways.first?.text.utf8.count == 38)
    }

    @Test("case 29: a production certificate at the sandbox gets GOAWAY twice and no answer") func case29() async throws
    {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let identity = try issue(bench, environments: [false, true])
            // Nothing is said before the client's request.
            let waiting = try client(bench, identity)
            try waiting.listen(milliseconds: 100)
            #expect(waiting.goAways.isEmpty && !waiting.isAtEnd)
            try expectForeign(waiting, push(bench, phone.token))
            // It comes before every other check.
            try expectForeign(client(bench, identity), push(bench, "zzz", [":method": "GET", "apns-topic": nil]))
            #expect(try bench.inbox(phone).isEmpty)
            // Where it belongs, it works.
            let there = try bench.device(environment: "production")
            let answer = try client(bench, identity, serverName: "api.push.apple.com").request(
                push(bench, there.token, [":authority": "api.push.apple.com"]), body: CaseBench.body)
            #expect(answer.status == 200)
        }
    }

    @Test("case 29: and a sandbox certificate in production") func case29Production() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let identity = try issue(bench, environments: [true, false])
            try expectForeign(
                client(bench, identity, serverName: "api.push.apple.com"),
                push(bench, phone.token, [":authority": "api.push.apple.com"]))
            #expect(try client(bench, identity).request(push(bench, phone.token), body: CaseBench.body).status == 200)
        }
    }

    @Test("case 30: a certificate with several topics and no apns-topic gets MissingTopic") func case30() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let several = try client(bench, issue(bench, listed: [Self.bundle, Self.bundle + ".voip"]))
            let answer = try several.request(push(bench, phone.token, ["apns-topic": nil]), body: CaseBench.body)
            #expect(answer.status == 400 && answer.reason == "MissingTopic")
            let id = try #require(answer["apns-id"])
            #expect(id.count == 36 && id == id.uppercased())
            // With one topic that is the one meant, time and again.
            let one = try client(bench, issue(bench))
            for _ in 0..<3 {
                let answer = try one.request(push(bench, phone.token, ["apns-topic": nil]), body: CaseBench.body)
                #expect(answer.status == 200)
                try bench.expect(try #require(answer["apns-id"]), reaches: "acknowledged")
            }
        }
    }

    @Test("case 31: with a certificate the authorization header is not looked at") func case31() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try client(bench, issue(bench))
            let expired = "bearer " + (try bench.providerToken(age: 9999))
            for header in ["garbage", "bearer a.b.c", expired, "bearer " + (try bench.providerToken())] {
                let fields = try push(bench, phone.token, ["authorization": header])
                #expect(try client.request(fields, body: CaseBench.body).status == 200)
            }
            #expect(try bench.inbox(phone).count == 4)
        }
    }

    @Test("case 32: a topic outside the certificate is disallowed, whatever token comes along") func case32()
        async throws
    {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try client(bench, issue(bench, listed: [Self.bundle, Self.bundle + ".voip"]))
            let jwt = "bearer " + (try bench.providerToken())
            let fields = try push(
                bench, phone.token,
                [
                    "authorization": jwt, "apns-topic": Self.bundle + ".push-type.liveactivity",
                    "apns-push-type": "liveactivity",
                ])
            let answer = try client.request(fields, body: CaseBench.body)
            #expect(answer.status == 400 && answer.reason == "TopicDisallowed")
            let voip = try push(bench, phone.token, ["apns-topic": Self.bundle + ".voip", "apns-push-type": "voip"])
            #expect(try client.request(voip, body: CaseBench.body).status == 200)
        }
    }

    @Test func locationNeedsATokenEvenWhenListed() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let topic = Self.bundle + ".location-query"
            let changes = ["apns-topic": topic, "apns-push-type": "location"]
            let client = try client(bench, issue(bench, listed: [Self.bundle, topic]))
            let answer = try client.request(push(bench, phone.token, changes), body: CaseBench.body)
            #expect(answer.status == 400 && answer.reason == "TopicDisallowed")
            let withToken = try bench.client().request(bench.push(to: phone.token, changes), body: CaseBench.body)
            #expect(withToken.status == 200)
        }
    }

    @Test func aVoIPCertificateIsForItsVoIPTopic() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try client(bench, issue(bench, voip: true, bundle: Self.bundle + ".voip"))
            let voip = try push(bench, phone.token, ["apns-topic": nil, "apns-push-type": "voip"])
            #expect(try client.request(voip, body: CaseBench.body).status == 200)
            let answer = try client.request(push(bench, phone.token), body: CaseBench.body)
            #expect(answer.reason == "TopicDisallowed")
        }
    }

    @Test func certificatesOfOthersAndThoseThatAreNoPushCertificatesAreBad() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let now = Int64(Date().timeIntervalSince1970)
            let key = try ES256PrivateKey()
            var purpose = PushExtensions(bundle: Self.bundle)
            purpose.isForDevelopment = true
            // Of an authority with the same name, but another key.
            let ours = try Certificate(pem: bench.authority)
            let foreignKey = try ES256PrivateKey()
            let foreign = try CertificateMaker.authority(
                commonName: ours.commonName ?? "", key: foreignKey, serial: [1], notBefore: now - 60,
                notAfter: now + 60)
            let ofOthers = try CertificateMaker.pushClient(
                purpose, key: key, issuer: foreign, issuerKey: foreignKey, serial: [2], notBefore: now - 60,
                notAfter: now + 60)
            let rsa = try RSAPrivateKey(bits: 2048)
            let selfSigned = try CertificateMaker.selfSigned(
                commonName: Self.bundle, key: rsa, serial: [3], notBefore: now - 60, notAfter: now + 60)
            let directory = URL(fileURLWithPath: bench.server.ready.authorityPath).deletingLastPathComponent().path
            let authorityKey = try ES256PrivateKey(pem: String(contentsOfFile: directory + "/ca.key", encoding: .utf8))
            func signed(_ from: Int64, _ until: Int64) throws -> Certificate {
                try CertificateMaker.pushClient(
                    purpose, key: key, issuer: ours, issuerKey: authorityKey, serial: [4], notBefore: from,
                    notAfter: until)
            }
            let identities = [
                (ofOthers.pem, key.pem), (selfSigned.pem, rsa.pem), (try signed(now - 60, now - 1).pem, key.pem),
                (try signed(now + 60, now + 120).pem, key.pem), try issue(bench, environments: [false, false]),
                try issue(bench, listed: []),
                (
                    try String(contentsOfFile: directory + "/server.pem", encoding: .utf8),
                    try String(contentsOfFile: directory + "/server.key", encoding: .utf8)
                ),
            ]
            for (index, identity) in identities.enumerated() {
                let client = try client(bench, identity)
                let answer = try client.request(
                    push(bench, phone.token, ["authorization": "bearer " + (try bench.providerToken())]),
                    body: CaseBench.body)
                #expect(answer.status == 403 && answer.body == #"{"reason":"BadCertificate"}"#, "identity \(index)")
            }
            #expect(
                try client(bench, (signed(now - 60, now + 60).pem, key.pem))
                    .request(push(bench, phone.token), body: CaseBench.body).status == 200)
        }
    }

    @Test func aCertificateForAnAppThatIsUnknownIsDisallowedUntilItIsThere() async throws {
        try await CaseBench.run { bench in
            let phone = try bench.device()
            let client = try client(bench, issue(bench, bundle: "com.example.later"))
            let fields = try push(bench, phone.token, ["apns-topic": nil])
            #expect(try client.request(fields, body: CaseBench.body).reason == "TopicDisallowed")
            try bench.control("POST", "apps", #"{"bundle":"com.example.later","team":"TEAM000009"}"#)
            #expect(try client.request(fields, body: CaseBench.body).reason == "DeviceTokenNotForTopic")
            let later = try bench.device(app: "com.example.later")
            let answer = try client.request(push(bench, later.token, ["apns-topic": nil]), body: CaseBench.body)
            #expect(answer.status == 200)
        }
    }

    @Test func aCertificateMakesChannelsAndBroadcastsOfItsAppOnly() async throws {
        try await CaseBench.run { bench in
            let ours = try issue(bench)
            let none: [String: String?] = ["authorization": nil]
            let manager = try bench.manager(certificateChain: ours.certificate, privateKey: ours.key)
            let made = try manager.request(bench.channelCall("POST", none), body: CaseBench.newChannel())
            #expect(made.status == 201)
            let id = try #require(made["apns-channel-id"])
            let phone = try bench.device()
            try bench.change(phone, #"{"subscribe":["\#(id)"]}"#)
            let sent = try client(bench, ours).request(bench.broadcastCall(id, none), body: CaseBench.update)
            #expect(sent.status == 200)
            #expect(try bench.inbox(phone) == [#require(sent["apns-request-id"])])

            let others = try issue(bench, bundle: "com.example.other")
            let refused = try bench.manager(certificateChain: others.certificate, privateKey: others.key)
                .request(bench.channelCall("POST", none), body: CaseBench.newChannel())
            #expect(refused.status == 403 && refused.reason == "TopicMismatch")
            let silenced = try client(bench, others).request(bench.broadcastCall(id, none), body: CaseBench.update)
            #expect(silenced.status == 403 && silenced.reason == "TopicMismatch")

            let foreign = try issue(bench, environments: [false, true])
            try expectForeign(
                bench.manager(certificateChain: foreign.certificate, privateKey: foreign.key),
                bench.channelCall("POST", none))
            try expectForeign(client(bench, foreign), bench.broadcastCall(id, none))
        }
    }

    @Test func aConnectionWithACertificateHasAllItsStreamsAtOnce() async throws {
        try await CaseBench.run(.faithful) { bench in
            let phone = try bench.device()
            let client = try client(bench, issue(bench))
            for _ in 0..<3 { _ = try client.send(push(bench, phone.token), body: CaseBench.body) }
            try client.wait("three answers") { $0.answers.count == 3 }
            #expect(client.answers.values.allSatisfy { $0.status == 200 })
            #expect(client.streamLimits == [1000])
        }
    }

    @Test func otherPortsAskForNoCertificate() async throws {
        try await CaseBench.run { bench in
            let identity = try issue(bench)
            let port = try #require(UInt16(bench.server.ready.https.split(separator: ":").last ?? ""))
            let wire = try CaseWire(
                port: port, authority: bench.authority, protocols: ["http/1.1"],
                certificateChain: identity.certificate, privateKey: identity.key)
            #expect(wire.applicationProtocol == "http/1.1")
        }
    }
}
