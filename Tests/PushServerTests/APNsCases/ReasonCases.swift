import Foundation
import PushCore
import PushCrypto
import PushJSON
@testable import PushServer
import Testing

/// Each reason of APNs provoked once, over TLS: its status, its exact body and the id that goes with it. The switch
/// has no default, so a new reason does not compile without its provocation.
@Suite struct ReasonCases {
    @Test(arguments: APNsReason.allCases) func aReasonCanBeProvoked(_ reason: APNsReason) async throws {
        try await CaseBench.run(settings: Self.settings(for: reason)) { bench in
            guard let answer = try provoke(reason, bench) else {
                let byOtherTests: [APNsReason] = [
                    .idleTimeout, .shutdown, .badCertificateEnvironment, .serviceUnavailable,
                ]
                #expect(byOtherTests.contains(reason))
                return
            }
            #expect(answer.status == reason.status)
            let body = #"{"reason":"\#(reason.text)""#
            if reason.status == 410 {
                #expect(answer.body.hasPrefix(body + #","timestamp":1"#) && answer.body.hasSuffix("}"))
            } else {
                #expect(answer.body == body + "}")
            }
            #expect(answer["content-type"] == "application/json")
            let ids = [answer["apns-id"], answer["apns-request-id"]].compactMap { $0 }
            #expect(ids.map(\.count) == [36], "one id, under the name of its API")
            #expect(try bench.control("GET", "pushes?state=rejected")["pushes"]?.arrayValue?.isEmpty == false)
        }
    }

    private static func settings(for reason: APNsReason) -> [String: String] {
        switch reason {
        case .tooManyProviderTokenUpdates: ["auth.limitTokenChanges": "on"]
        case .badEnvironmentKeyInToken: ["auth.environmentKeyReason": "observed"]
        case .tooManyRequests: ["delivery.requestsPerToken": "1"]
        case .featureNotEnabled: ["broadcast.enabled": "off"]
        case .cannotCreateChannelConfig: ["broadcast.channels": "0"]
        default: [:]
        }
    }

    /// `nil` for those that no request can provoke on its own; each says which test has it.
    private func provoke(_ reason: APNsReason, _ bench: CaseBench) throws -> CaseClient.Answer? {
        switch reason {
        case .idleTimeout, .shutdown, .badCertificateEnvironment:
            // They come in a GOAWAY: ConnectionCases, and case 29.
            nil
        case .serviceUnavailable:
            // It takes a full disk: FullDiskTests.
            nil
        case .badCollapseID: try push(bench, ["apns-collapse-id": String(repeating: "c", count: 65)])
        case .badDeviceToken: try push(bench, [":path": "/3/device/" + String(repeating: "0", count: 64)])
        case .badExpirationDate: try push(bench, ["apns-expiration": "tomorrow"])
        case .badMessageID: try push(bench, ["apns-id": "1"])
        case .badPriority: try push(bench, ["apns-priority": "11"])
        case .badTopic: try push(bench, ["apns-topic": "not a topic"])
        case .deviceTokenNotForTopic:
            try push(bench, [":path": "/3/device/" + device(bench, app: "com.example.second").token])
        case .duplicateHeaders: try push(bench, more: [("apns-priority", "5"), ("apns-priority", "5")])
        case .invalidPushType: try push(bench, ["apns-push-type": "loud"])
        case .missingDeviceToken: try push(bench, [":path": "/3/device/"])
        case .missingTopic: try push(bench, ["apns-topic": nil])
        case .payloadEmpty: try push(bench, body: "")
        case .payloadTooLarge: try push(bench, body: #"{"a":"\#(String(repeating: "x", count: 4096))"}"#)
        case .topicDisallowed: try push(bench, ["apns-topic": "com.example.nobody"])
        case .badPath: try push(bench, [":path": "/4/device"])
        case .methodNotAllowed: try push(bench, [":method": "GET"])
        case .missingProviderToken: try push(bench, ["authorization": nil])
        case .invalidProviderToken: try push(bench, ["authorization": "bearer x"])
        case .expiredProviderToken: try push(bench, ["authorization": "bearer " + bench.providerToken(age: 3700)])
        case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken:
            try push(
                bench, ["authorization": CaseKey(bench, "PRODUCTION", #","environment":"production""#).token(bench)])
        case .unrelatedKeyIDInToken, .tooManyProviderTokenUpdates:
            try secondToken(bench, isUnrelated: reason == .unrelatedKeyIDInToken)
        case .expiredToken: try ended(bench, #"{"expired":true}"#)
        case .unregistered: try ended(bench, #"{"registered":false}"#)
        case .tooManyRequests: try secondPush(bench)
        case .badCertificate: try withSelfSignedCertificate(bench)
        case .featureNotEnabled, .cannotCreateChannelConfig: try channel(bench)
        case .badRequestParams:
            try channel(bench, body: #"{"message-storage-policy":0,"push-type":"LiveActivity","x":1}"#)
        case .badRequestPayload: try channel(bench, body: "{")
        case .missingPushType: try channel(bench, body: #"{"message-storage-policy":0}"#)
        case .missingChannelQueueSize: try channel(bench, body: #"{"push-type":"LiveActivity"}"#)
        case .topicMismatch: try channel(bench, [":path": "/1/apps/com.example.nobody/channels"])
        case .missingChannelID: try broadcast(bench, nil)
        case .badChannelID: try broadcast(bench, "%%%%")
        case .channelNotRegistered: try broadcast(bench, "dHN0LXNyY2gtY2hubA==")
        }
    }

    private func push(
        _ bench: CaseBench, _ changes: [String: String?] = [:], more: CaseClient.Fields = [],
        body: String = #"{"aps":{}}"#
    ) throws -> CaseClient.Answer {
        try bench.client().request(bench.push(to: bench.device().token, changes) + more, body: Array(body.utf8))
    }

    private func channel(
        _ bench: CaseBench, _ changes: [String: String?] = [:],
        body: String = String(decoding: CaseBench.newChannel(), as: UTF8.self)
    ) throws -> CaseClient.Answer {
        try bench.manager().request(bench.channelCall("POST", changes), body: Array(body.utf8))
    }

    private func broadcast(_ bench: CaseBench, _ id: String?) throws -> CaseClient.Answer {
        try bench.client().request(bench.broadcastCall("", ["apns-channel-id": id]), body: CaseBench.update)
    }

    private func device(_ bench: CaseBench, app: String) throws -> CaseBench.Device {
        try bench.control("POST", "apps", #"{"bundle":"\#(app)"}"#)
        return try bench.device(app: app)
    }

    /// One connection with a first token that is good, and another one right after it.
    private func secondToken(_ bench: CaseBench, isUnrelated: Bool) throws -> CaseClient.Answer {
        let client = try bench.client()
        let token = try bench.device().token
        let second =
            try isUnrelated
            ? CaseKey(bench, "OTHERKEY01", #","topics":["com.example.app"]"#).token(bench)
            : "bearer " + bench.providerToken(age: 9)
        #expect(try client.request(bench.push(to: token), body: CaseBench.body).status == 200)
        return try client.request(bench.push(to: token, ["authorization": second]), body: CaseBench.body)
    }

    private func secondPush(_ bench: CaseBench) throws -> CaseClient.Answer {
        let client = try bench.client()
        let token = try bench.device().token
        #expect(try client.request(bench.push(to: token), body: CaseBench.body).status == 200)
        return try client.request(bench.push(to: token), body: CaseBench.body)
    }

    private func ended(_ bench: CaseBench, _ change: String) throws -> CaseClient.Answer {
        let phone = try bench.device()
        try bench.change(phone, change)
        return try bench.client().request(bench.push(to: phone.token), body: CaseBench.body)
    }

    private func withSelfSignedCertificate(_ bench: CaseBench) throws -> CaseClient.Answer {
        let key = try RSAPrivateKey(bits: 2048)
        let now = Int64(Date().timeIntervalSince1970)
        let certificate = try CertificateMaker.selfSigned(
            commonName: CaseBench.topic, key: key, serial: [1], notBefore: now - 60, notAfter: now + 60)
        let client = try bench.client(certificateChain: certificate.pem, privateKey: key.pem)
        return try client.request(bench.push(to: bench.device().token), body: CaseBench.body)
    }
}
