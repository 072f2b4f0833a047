/// Where an app stands in its life, as UIKit's `applicationState` tells it and one state more: not running at all.
public enum AppState: Hashable, Sendable {
    /// There is no app object. The reason decides whether a push may launch the app in the background.
    case notRunning(NotRunningReason)
    /// Alive behind another app or the home screen.
    case background
    /// On the way between background and foreground; taps are answered here.
    case inactive
    /// On the screen.
    case foreground

    /// Why an app is not running.
    public enum NotRunningReason: Hashable, Sendable {
        /// Swiped away: no push launches the app until its user does.
        case killedByUser
        /// Ended to regain memory: a push with `content-available` launches the app in the background.
        case endedBySystem
        /// Installed and never opened; treated like `killedByUser`.
        case neverStarted
    }

    /// There is an app object that can be called.
    public var isRunning: Bool {
        if case .notRunning = self { return false }
        return true
    }
}

/// The generation of iOS whose callbacks the phone plays.
public enum Era: Hashable, Sendable, CaseIterable {
    /// iOS 10 and later: banners are answered through `UNUserNotificationCenterDelegate`.
    case userNotifications
    /// iOS 7 to 9: everything goes through `application:didReceiveRemoteNotification:`.
    case legacy
}
