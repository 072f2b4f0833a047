import PushBytes

/// What the headers of an accepted-so-far request ask for.
package struct APNsNotification: Sendable {
    package var id: APNsID?
    package var pushType: PushType?
    /// `apns-expiration` in seconds; `nil` when absent.
    package var expiration: Int64?
    package var priority: UInt8 = 10
    /// Whether the provider named the priority itself.
    package var hasPriority = false
    package var collapseID: Range<Int>?

    package init() {}

    /// Until when the push may be delivered, and whether it may wait for a device that is away.
    package func lifetime(now unixMilliseconds: Int64) -> (expiresAt: Int64, isStorable: Bool) {
        let longest = unixMilliseconds + CoreLimits.storageMillisecondsMax
        guard let expiration else { return (longest, true) }
        let (milliseconds, overflow) = expiration.multipliedReportingOverflow(by: 1000)
        let asked = overflow ? (expiration < 0 ? Int64.min : longest) : milliseconds
        return asked <= unixMilliseconds ? (longest, false) : (min(asked, longest), true)
    }
}

/// Where the time of a provider token's making lies, seen from now.
package enum TokenAge: Sendable, Equatable {
    case good, expired, future
}

/// The rules of `POST /3/device/<token>` that need nothing but the request: pure functions, one per step, in the order
/// the server applies them. Source: Apple, "Sending notification requests to APNs".
package enum APNsRules {
    private static let devicePath = Array("/3/device/".utf8)
    private static let devicePathBare = Array("/3/device".utf8)
    private static let post = Array("POST".utf8)
    private static let bearer = Array("bearer ".utf8)

    /// Step 1: path, then method. Gives where the device token stands.
    package static func route(_ request: APNsRequest) -> Result<Range<Int>, APNsReason.Failure> {
        guard let path = request.path else { return .failure(.init(.badPath)) }
        let isDevice =
            path.count >= devicePath.count
            && request.storage.matches(path.lowerBound..<path.lowerBound + devicePath.count, devicePath)
        guard isDevice || request.storage.matches(path, devicePathBare) else { return .failure(.init(.badPath)) }
        guard let method = request.method, request.storage.matches(method, post) else {
            return .failure(.init(.methodNotAllowed))
        }
        let token = isDevice ? path.lowerBound + devicePath.count..<path.upperBound : path.upperBound..<path.upperBound
        if token.isEmpty { return .failure(.init(.missingDeviceToken)) }
        return request.storage[token].contains(0x2F) ? .failure(.init(.badPath)) : .success(token)
    }

    /// The provider token after `bearer `, in any letter case; `nil` when there is none.
    package static func bearerToken(_ request: APNsRequest) -> Range<Int>? {
        guard let header = request.authorization, header.count > bearer.count else { return nil }
        for (offset, expected) in bearer.enumerated() {
            let byte = request.storage[header.lowerBound + offset]
            guard byte == expected || (expected != 0x20 && byte == expected - 0x20) else { return nil }
        }
        return header.lowerBound + bearer.count..<header.upperBound
    }

    /// Whether a provider token may be used at this time. The window is one hour to either side, ends included.
    package static func age(issuedAtSeconds: Int64, now unixMilliseconds: Int64) -> TokenAge {
        let (age, overflow) = (unixMilliseconds / 1000).subtractingReportingOverflow(issuedAtSeconds)
        if overflow { return issuedAtSeconds < 0 ? .expired : .future }
        if age > CoreLimits.providerTokenAgeSecondsMax { return .expired }
        return age < -CoreLimits.providerTokenAgeSecondsMax ? .future : .good
    }

    /// Step 3: id, expiration, priority, collapse id, push type.
    package static func notification(_ request: APNsRequest) -> Result<APNsNotification, APNsReason.Failure> {
        var notification = APNsNotification()
        if let range = request.id {
            guard let id = APNsID(textIn: request.storage, range) else { return .failure(.init(.badMessageID)) }
            notification.id = id
        }
        if let range = request.expiration {
            guard let seconds = decimal(request.storage[range]) else { return .failure(.init(.badExpirationDate)) }
            notification.expiration = seconds
        }
        if let range = request.priority {
            guard let priority = priority(request.storage[range]) else { return .failure(.init(.badPriority)) }
            notification.priority = priority
            notification.hasPriority = true
        }
        if let range = request.collapseID {
            guard range.count <= CoreLimits.collapseIDBytesMax else { return .failure(.init(.badCollapseID)) }
            notification.collapseID = range
        }
        if let range = request.pushType {
            guard let type = PushType(textIn: request.storage, range) else { return .failure(.init(.invalidPushType)) }
            notification.pushType = type
        }
        return .success(notification)
    }

    /// Step 5: the push type against the topic's suffix, and what a background push may not ask for.
    package static func typeConflict(_ notification: APNsNotification, suffix: TopicSuffix) -> APNsReason? {
        guard let type = notification.pushType else { return nil }
        if type.topicSuffix != suffix { return .invalidPushType }
        if type == .background && notification.hasPriority && notification.priority == 10 { return .badPriority }
        return nil
    }

    /// Step 6: the size of the body.
    package static func payloadConflict(bodyBytes: Int, suffix: TopicSuffix) -> APNsReason? {
        payloadConflict(bodyBytes: bodyBytes, bytesMax: CoreLimits.payloadBytesMax(for: suffix))
    }

    package static func payloadConflict(bodyBytes: Int, bytesMax: Int) -> APNsReason? {
        if bodyBytes == 0 { return .payloadEmpty }
        return bodyBytes > bytesMax ? .payloadTooLarge : nil
    }

    /// 10, 5 or 1; `nil` for anything else.
    static func priority(_ bytes: ArraySlice<UInt8>) -> UInt8? {
        decimal(bytes).flatMap { [10, 5, 1].contains($0) ? UInt8($0) : nil }
    }

    /// A whole number in decimal digits, with an optional minus sign; `nil` for anything else or beyond 64 bits.
    static func decimal(_ bytes: ArraySlice<UInt8>) -> Int64? {
        var digits = bytes
        let isNegative = digits.first == 0x2D
        if isNegative { digits = digits.dropFirst() }
        guard !digits.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in digits {
            guard (0x30...0x39).contains(byte) else { return nil }
            let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tenfold.addingReportingOverflow(Int64(byte - 0x30))
            guard !overflow && !carry else { return nil }
            value = sum
        }
        return isNegative ? -value : value
    }
}

extension APNsReason {
    /// A refusal: the reason, and since when for a 410.
    package struct Failure: Error, Sendable, Equatable {
        package let reason: APNsReason
        /// Unix milliseconds, only with 410.
        package let timestamp: Int64?

        package init(_ reason: APNsReason, timestamp: Int64? = nil) {
            self.reason = reason
            self.timestamp = timestamp
        }
    }
}
