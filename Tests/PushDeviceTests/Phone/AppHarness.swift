import PushDevice

/// An app core, led into any state, that tells its calls as text such as `A@inactive D@inactive`.
struct AppHarness {
    enum Payload: CaseIterable { case alert, alertAndContent, silent }

    var core: AppCore
    var now = Duration.zero

    init(
        era: Era = .userNotifications, implementsFetch: Bool = true, state: AppState = .foreground,
        switches: PhoneSwitches = .init()
    ) {
        core = AppCore(era: era, implementsFetch: implementsFetch, switches: switches)
        switch state {
        case .notRunning(.neverStarted): break
        case .notRunning(.killedByUser): give(.iconTapped, .killedByUser)
        case .notRunning(.endedBySystem): give(.iconTapped, .endedBySystem)
        case .foreground: give(.iconTapped)
        case .background: give(.iconTapped, .wentToBackground)
        case .inactive: preconditionFailure("an app does not rest there")
        }
        precondition(core.state == state)
    }

    @discardableResult
    mutating func give(_ inputs: AppInput...) -> [AppEffect] {
        inputs.flatMap { core.receive($0, now: now) }
    }

    /// The calls that follow, one word each.
    mutating func calls(_ inputs: AppInput...) -> String {
        Self.text(inputs.flatMap { core.receive($0, now: now) })
    }

    static func text(_ effects: [AppEffect]) -> String {
        calls(effects).map { "\($0.callback.shortName)@\(name($0.state))" }.joined(separator: " ")
    }

    static func calls(_ effects: [AppEffect]) -> [AppCall] {
        effects.compactMap { if case .call(let call) = $0 { call } else { nil } }
    }

    static func banners(_ effects: [AppEffect]) -> [String] {
        effects.compactMap { if case .showBanner(let notification, _) = $0 { notification.id } else { nil } }
    }

    static func push(_ payload: Payload, id: String = "1") -> RemoteNotification {
        switch payload {
        case .alert: RemoteNotification(id: id, hasAlert: true, badge: 3)
        case .alertAndContent: RemoteNotification(id: id, hasAlert: true, isContentAvailable: true, badge: 3)
        case .silent: RemoteNotification(id: id, hasAlert: false, isContentAvailable: true)
        }
    }

    static func message(_ id: String = "m", isOffline: Bool = false) -> PayloadMessage {
        PayloadMessage(payload: [], taskID: "t", messageID: id, appID: "a", isOffline: isOffline)
    }

    private static func name(_ state: AppState) -> String {
        if case .notRunning = state { "notRunning" } else { "\(state)" }
    }
}
