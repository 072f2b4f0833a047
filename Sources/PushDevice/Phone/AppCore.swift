/// One app on one phone: decides which callback fires in which state, and what the phone shows.
///
/// It holds no app object, clock or thread. Its driver gives it inputs one at a time and does the effects in order.
/// A push is expected once: what the server sends twice is sorted out before it comes here.
public struct AppCore: Sendable {
    /// Whose callbacks are played. Default `userNotifications`.
    public let era: Era
    /// Default Apple's documented behaviour.
    public let switches: PhoneSwitches
    /// The app has `application:didReceiveRemoteNotification:fetchCompletionHandler:`, which then replaces
    /// `application:didReceiveRemoteNotification:`.
    public let implementsFetch: Bool

    /// Where the app stands; at first installed and never started.
    public private(set) var state = AppState.notRunning(.neverStarted)
    /// What lies in the notification centre, oldest first; at most `bannersMax`.
    public private(set) var banners: [RemoteNotification] = []
    /// The number on the icon; 0 is no badge.
    public private(set) var badge = 0

    /// More banners than anyone reads; beyond them the oldest leaves the notification centre.
    public static let bannersMax = 100
    /// Calls that wait for the app's answer. An app that answers none must not grow the phone; beyond these the
    /// answer to the oldest is ignored.
    public static let unansweredCallsMax = 256

    private enum Awaited {
        case presentation(RemoteNotification)
        case fetch(id: String)
    }

    private var awaited: [Int: Awaited] = [:]
    private var callCount = 0
    private var backgroundedAt: Duration?
    private var effects: [AppEffect] = []

    /// An installed app that has not been started.
    public init(era: Era = .userNotifications, implementsFetch: Bool = true, switches: PhoneSwitches = .init()) {
        self.era = era
        self.implementsFetch = implementsFetch
        self.switches = switches
    }

    /// What follows from `input`. `now` counts from any fixed origin and never goes back.
    ///
    /// An input that does not fit, such as a tap on a banner that is gone or a second answer to one call, has no
    /// effects.
    public mutating func receive(_ input: AppInput, now: Duration) -> [AppEffect] {
        precondition(effects.isEmpty, "the effects of the last input were handed out")
        switch input {
        case .pushArrived(let notification): pushArrived(notification)
        case .payloadArrived(let message):
            if isOnline(now: now) { call(.didReceivePayload(message)) }
        case .replayArrived(let messages):
            if isOnline(now: now), !messages.isEmpty { call(.didReceiveOfflineMessages(messages)) }
        case .bannerTapped(let id): bannerTapped(id)
        case .bannerDismissed(let id):
            if takeBanner(id) != nil { effects.append(.milestone(.dismissed(id: id))) }
        case .iconTapped: iconTapped()
        case .wentToBackground:
            if state == .foreground || state == .inactive {
                state = .background
                backgroundedAt = now
            }
        case .wentToForeground:
            if state.isRunning { state = .foreground }
        case .killedByUser: end(.killedByUser)
        case .endedBySystem: end(.endedBySystem)
        case .presentationAnswered(let number, let options): presentationAnswered(number, options)
        case .fetchAnswered(let number, let result): fetchAnswered(number, result)
        }
        defer { effects.removeAll() }
        return effects
    }

    /// The vendor's link is up: in the foreground, and for the grace period after it.
    public func isOnline(now: Duration) -> Bool {
        switch state {
        case .notRunning: false
        case .inactive, .foreground: true
        case .background: backgroundedAt.map { now - $0 < switches.onlineGracePeriod } ?? false
        }
    }

    // MARK: Arrival

    private mutating func pushArrived(_ notification: RemoteNotification) {
        switch state {
        case .foreground, .inactive:
            meetForeground(notification)
        case .background:
            if notification.isContentAvailable, !(notification.isSilent && switches.throttlesSilentPushes) {
                callFetch(notification)
            }
            show(notification)
        case .notRunning(.endedBySystem) where era == .userNotifications && notification.isContentAvailable:
            launch(into: .background, with: notification)
            callFetch(notification)
            show(notification)
        case .notRunning:
            show(notification)
        }
    }

    private mutating func meetForeground(_ notification: RemoteNotification) {
        switch era {
        case .legacy:
            callFetchOrReceive(notification)
        case .userNotifications:
            if switches.callsWillPresentFirst { callWillPresent(notification) }
            if notification.isContentAvailable { callFetchOrReceive(notification) }
            if !switches.callsWillPresentFirst { callWillPresent(notification) }
        }
    }

    /// Banner, sound and badge by the phone, without asking the app.
    private mutating func show(_ notification: RemoteNotification) {
        if notification.hasAlert { addBanner(notification, playsSound: true) }
        setBadge(notification.badge)
    }

    private mutating func presentationAnswered(_ number: Int, _ options: PresentationOptions) {
        guard case .presentation(let notification) = awaited[number] else { return }
        awaited[number] = nil
        if options.contains(.banner), notification.hasAlert {
            addBanner(notification, playsSound: options.contains(.sound))
        }
        if options.contains(.badge) { setBadge(notification.badge) }
    }

    private mutating func fetchAnswered(_ number: Int, _ result: FetchResult) {
        guard case .fetch(let id) = awaited[number] else { return }
        awaited[number] = nil
        effects.append(.milestone(.fetched(id: id, result)))
    }

    // MARK: Touch

    private mutating func bannerTapped(_ id: String) {
        guard let notification = takeBanner(id) else { return }
        effects.append(.milestone(.opened(id: id)))
        switch state {
        case .notRunning:
            launch(into: .inactive, with: notification)
            if !switches.launchConsumesTap { tellTapAfterLaunch(notification) }
        case .foreground where era == .userNotifications:
            if switches.foregroundTapCallsWillPresent, !notification.isContentAvailable {
                call(.willPresent(notification))
            } else {
                call(.didReceiveResponse(notification))
            }
        case .background, .inactive, .foreground:
            state = .inactive
            if era == .legacy { callFetchOrReceive(notification) } else { call(.didReceiveResponse(notification)) }
        }
        state = .foreground
    }

    private mutating func tellTapAfterLaunch(_ notification: RemoteNotification) {
        switch era {
        case .userNotifications: call(.didReceiveResponse(notification))
        case .legacy: if implementsFetch { callFetch(notification) }
        }
    }

    private mutating func iconTapped() {
        switch state {
        case .notRunning:
            launch(into: .inactive, with: switches.iconLaunchCarriesNotification ? banners.last : nil)
        case .background:
            state = .inactive
            if switches.iconResumeRepeatsNotification, let newest = banners.last {
                call(.didReceiveRemoteNotification(newest))
            }
        case .inactive, .foreground: break
        }
        state = .foreground
    }

    // MARK: Life

    private mutating func launch(into state: AppState, with notification: RemoteNotification?) {
        precondition(!self.state.isRunning, "an app is launched once")
        self.state = state
        backgroundedAt = nil
        effects.append(.launch)
        call(.didFinishLaunching(remoteNotification: notification))
    }

    private mutating func end(_ reason: AppState.NotRunningReason) {
        if state.isRunning {
            effects.append(.discard)
            awaited.removeAll()
            state = .notRunning(reason)
        } else if state == .notRunning(.endedBySystem) {
            // Wiping an ended app out of the app switcher counts as a kill.
            state = .notRunning(reason)
        }
    }

    // MARK: Calls

    private mutating func callFetchOrReceive(_ notification: RemoteNotification) {
        if implementsFetch { callFetch(notification) } else { call(.didReceiveRemoteNotification(notification)) }
    }

    /// Nothing for an app that cannot fetch.
    private mutating func callFetch(_ notification: RemoteNotification) {
        guard implementsFetch else { return }
        call(.didReceiveRemoteNotificationFetching(notification), awaiting: .fetch(id: notification.id))
    }

    private mutating func callWillPresent(_ notification: RemoteNotification) {
        if notification.isSilent { return }
        call(.willPresent(notification), awaiting: .presentation(notification))
    }

    private mutating func call(_ callback: Callback, awaiting answer: Awaited? = nil) {
        precondition(state.isRunning, "only a running app is called")
        callCount += 1
        if let answer {
            if awaited.count == Self.unansweredCallsMax, let oldest = awaited.keys.min() { awaited[oldest] = nil }
            awaited[callCount] = answer
        }
        effects.append(.call(AppCall(number: callCount, callback: callback, state: state)))
        effects.append(.milestone(.callbackFired(call: callCount)))
    }

    // MARK: Notification centre

    private mutating func addBanner(_ notification: RemoteNotification, playsSound: Bool) {
        banners.removeAll { $0.id == notification.id }
        if banners.count == Self.bannersMax { effects.append(.removeBanner(id: banners.removeFirst().id)) }
        banners.append(notification)
        effects.append(.showBanner(notification, playsSound: playsSound))
        effects.append(.milestone(.presented(id: notification.id)))
    }

    private mutating func takeBanner(_ id: String) -> RemoteNotification? {
        guard let index = banners.firstIndex(where: { $0.id == id }) else { return nil }
        effects.append(.removeBanner(id: id))
        return banners.remove(at: index)
    }

    private mutating func setBadge(_ number: Int?) {
        guard let number, number >= 0 else { return }
        badge = number
        effects.append(.setBadge(number))
    }
}
