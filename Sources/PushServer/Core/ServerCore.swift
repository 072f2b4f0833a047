package import PushCore
import PushCrypto
import PushJSON

/// Decides everything and does nothing: inputs with the time as an argument in, `outputs` out.
///
/// Same inputs, same times, same outputs. Bound to the loop. Its files: `+Provider` judges requests,
/// `+Authentication` who sends them and which topics are theirs, `+Delivery` moves pushes to devices, `+Holding` keeps
/// some back, `+Sessions` speaks to device connections, `+Registry` makes and changes apps and devices, `+Broadcast` judges and carries out
/// broadcasts and channel calls, `+Subscriptions` moves broadcasts to devices.
package final class ServerCore {
    package let settings: RuleSettings
    /// Devices must prove that they own their certificate (default), or are taken at their word.
    package let identityMode: DeviceIdentityMode
    package let registry = Registry()
    package let verifier: ProviderTokenVerifier
    package let ids: APNsIDMaker
    let broadcastParser = JSONParser()
    /// What the service must carry out; it empties the list.
    package var outputs: [ServerOutput] = []

    /// Key of the tokens: same secret, same device, same token.
    let secret: [UInt8]
    var sessions: [Int: DeviceSession] = [:]
    var departures: [MailboxDeparture] = []
    package private(set) var lastSequence: Int64
    var lastDeviceID: Int64 = 0
    var lastRegistrationID: Int64 = 0
    /// No stored push expires before this, in unix milliseconds.
    var expiryCheckAt = Int64.max
    /// No push that is kept back is due before this, in monotonic milliseconds.
    var holdCheckAt = Int64.max
    /// Devices for which pushes are kept back, and apps on devices for which a background push is.
    var holding: [Int64: Device] = [:]
    var throttling: [Int64: Registration] = [:]
    /// Sessions are looked at for silence once a second.
    var sessionCheckAt = Int64.max

    /// `secret` has 32 bytes and must be the same at every start over the same store; `lastSequence` is the highest
    /// number the journal holds.
    package init(settings: RuleSettings, identityMode: DeviceIdentityMode, secret: [UInt8], lastSequence: Int64) {
        precondition(secret.count == 32, "the secret has 32 bytes")
        precondition(lastSequence >= 0, "numbers start at 1")
        self.settings = settings
        self.identityMode = identityMode
        self.secret = secret
        self.lastSequence = lastSequence
        verifier = ProviderTokenVerifier(
            trustsAnyKey: settings.trustsAnyKey, isStrict: settings.auth.strictIssuedAt)
        let digest = HMACSHA256.authenticate(Array("apns-id".utf8), key: secret)
        ids = APNsIDMaker(secret: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    func nextSequence() -> Int64 {
        lastSequence += 1
        return lastSequence
    }

    func journal(_ milestone: Milestone, push: Int64 = 0, device: Device? = nil, detail: Int64 = 0, now: Moment) {
        outputs.append(
            .event(
                JournalEvent(
                    sequence: nextSequence(), milestone: milestone, push: push, device: device?.id ?? 0,
                    at: now.unixMilliseconds, detail: detail)))
    }

    /// Writes what left a mailbox into the journal.
    func journalDepartures(of registration: Registration, now: Moment) {
        for departure in departures {
            registration.device.session?.forget(departure.sequence)
            let (milestone, detail) = Self.line(for: departure.cause)
            journal(milestone, push: departure.sequence, device: registration.device, detail: detail, now: now)
        }
        departures.removeAll(keepingCapacity: true)
    }

    private static func line(for cause: MailboxDeparture.Cause) -> (Milestone, Int64) {
        switch cause {
        case .replaced(let by): (.replaced, by)
        case .expired(let at): (.expired, at)
        case .notStorable: (.dropped, DropCause.notStorable.rawValue)
        case .queueFull: (.dropped, DropCause.queueFull.rawValue)
        }
    }
}

/// How much a device must show to be who it says.
package enum DeviceIdentityMode: String, Sendable, CaseIterable {
    /// The base token is enough; without one the device is new.
    case open
    /// A certificate, and a fresh signature made with its key. Same certificate, same device.
    case proof
}
