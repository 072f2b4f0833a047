internal import CPushOpenSSL

/// What a push certificate says it is good for: Apple's own extensions and the bundle id in its subject.
///
/// Sources: Apple, "Sending notification requests to APNs", and the certificates that clients of APNs are tested with.
package struct PushExtensions: Sendable, Equatable {
    /// One line of the list of topics.
    package struct Topic: Sendable, Equatable {
        package var name: String
        /// `app`, `voip` or `complication`.
        package var labels: [String]

        package init(name: String, labels: [String]) {
            self.name = name
            self.labels = labels
        }

        /// With the label that Apple gives a topic of this name.
        package init(_ name: String) {
            let label = name.hasSuffix(".voip") ? "voip" : name.hasSuffix(".complication") ? "complication" : "app"
            self.init(name: name, labels: [label])
        }
    }

    enum OID {
        static let development = "1.2.840.113635.100.6.3.1"
        static let production = "1.2.840.113635.100.6.3.2"
        static let voip = "1.2.840.113635.100.6.3.4"
        static let topics = "1.2.840.113635.100.6.3.6"
    }

    /// Most topics of one certificate: Apple's have three or four.
    package static let topicsMax = 400

    /// The `UID` of the subject: a bundle id, in certificates for VoIP alone one that ends with `.voip`.
    package var bundle: String?
    package var isForDevelopment = false
    package var isForProduction = false
    /// Marked as a VoIP certificate.
    package var isForVoIP = false
    /// The topics as listed; `nil` when there is no list.
    package var listed: [Topic]?

    package init(bundle: String?) { self.bundle = bundle }

    /// Every topic it may be used for, each once: those listed, else the bundle id; a VoIP certificate has the bundle's
    /// VoIP topic, too.
    package var topics: [String] {
        var topics: [String] = []
        func add(_ name: String) {
            if !topics.contains(name) { topics.append(name) }
        }
        if let listed {
            for topic in listed { add(topic.name) }
        } else if let bundle {
            add(bundle)
        }
        if isForVoIP, let bundle { add(bundle.hasSuffix(".voip") ? bundle : bundle + ".voip") }
        return topics
    }

    /// Reads the list of topics: a sequence of a text and a sequence of labels, in turns. `nil` when it is anything else.
    static func topics(der: [UInt8]) -> [Topic]? {
        var outer = DERReader(der[...])
        guard let content = outer.next(.sequence), outer.isAtEnd else { return nil }
        var list = DERReader(content)
        var topics: [Topic] = []
        while !list.isAtEnd {
            guard let name = list.nextText(), !name.isEmpty, let labelBytes = list.next(.sequence) else { return nil }
            var reader = DERReader(labelBytes)
            var labels: [String] = []
            while !reader.isAtEnd {
                guard let label = reader.nextText() else { return nil }
                labels.append(label)
            }
            topics.append(Topic(name: name, labels: labels))
            guard topics.count <= topicsMax else { return nil }
        }
        return topics
    }

    /// The extensions as they stand in a certificate.
    var encoded: [(oid: String, der: [UInt8])] {
        let mark = DERWriter.value(.null, [])
        var extensions: [(oid: String, der: [UInt8])] = []
        if isForDevelopment { extensions.append((OID.development, mark)) }
        if isForProduction { extensions.append((OID.production, mark)) }
        if isForVoIP { extensions.append((OID.voip, mark)) }
        if let listed {
            let lines = listed.flatMap { topic in
                DERWriter.text(topic.name) + DERWriter.value(.sequence, topic.labels.flatMap(DERWriter.text))
            }
            extensions.append((OID.topics, DERWriter.value(.sequence, lines)))
        }
        return extensions
    }
}

extension Certificate {
    /// What Apple's extensions say here.
    ///
    /// - Throws: when the list of topics is there and is none. The other extensions count by being there.
    package func pushExtensions() throws -> PushExtensions {
        var found = PushExtensions(bundle: subjectText(NID_userId))
        found.isForDevelopment = extensionValue(PushExtensions.OID.development) != nil
        found.isForProduction = extensionValue(PushExtensions.OID.production) != nil
        found.isForVoIP = extensionValue(PushExtensions.OID.voip) != nil
        if let der = extensionValue(PushExtensions.OID.topics) {
            guard let topics = PushExtensions.topics(der: der) else {
                throw CryptoError("read a push certificate", reason: "its list of topics is damaged")
            }
            found.listed = topics
        }
        return found
    }
}
