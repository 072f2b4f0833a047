package import PushCrypto

/// A client certificate as far as the rules need it: which environments and topics it is good for.
package struct ProviderCertificate: Sendable, Equatable {
    /// Exactly these, suffixes included; never empty.
    package let topics: [[UInt8]]
    package let isForSandbox: Bool
    package let isForProduction: Bool

    /// Reads a certificate. `nil` when it is not signed by `authority`, not valid at this time, damaged, or no push
    /// certificate: that is `BadCertificate`.
    package init?(der: [UInt8], authority: Certificate, now unixMilliseconds: Int64) {
        let seconds = unixMilliseconds / 1000
        guard let certificate = try? Certificate(der: der), certificate.isIssued(by: authority),
            certificate.notBefore <= seconds, seconds < certificate.notAfter,
            let extensions = try? certificate.pushExtensions(),
            extensions.isForDevelopment || extensions.isForProduction, !extensions.topics.isEmpty
        else { return nil }
        topics = extensions.topics.map { Array($0.utf8) }
        isForSandbox = extensions.isForDevelopment
        isForProduction = extensions.isForProduction
    }

    package func isGood(for environment: PushEnvironment) -> Bool {
        switch environment {
        case .sandbox: isForSandbox
        case .production: isForProduction
        }
    }

    /// What a request without `apns-topic` means; `nil` when there are several.
    package var defaultTopic: [UInt8]? { topics.count == 1 ? topics[0] : nil }

    /// Location queries need a provider token, whatever the certificate lists.
    package func allows(_ topic: Topic) -> Bool { topic.suffix != .location && topics.contains(topic.bytes) }
}

/// What a client showed in its TLS handshake.
package enum PresentedCertificate: Sendable, Equatable {
    /// Nothing: requests carry provider tokens.
    case none
    case bad
    case good(ProviderCertificate)
}
