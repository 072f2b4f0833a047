/// What happens to one app on a phone. Given to `AppCore.receive(_:now:)`.
public enum AppInput: Hashable, Sendable {
    /// An APNs push, alert or silent.
    case pushArrived(RemoteNotification)
    /// From the vendor's connection, live. Without effect while the app is not online: the server keeps it.
    case payloadArrived(PayloadMessage)
    /// A whole replay, oldest first, once its last message is there. Without effect while the app is not online.
    case replayArrived([PayloadMessage])
    /// `id` is that of the notification. Each banner is tapped once; later taps have no effects.
    case bannerTapped(id: String)
    /// Wiped away unread.
    case bannerDismissed(id: String)
    /// The app's icon on the home screen.
    case iconTapped
    /// The home button, another app or the lock screen.
    case wentToBackground
    /// Back on the screen by other means than icon or banner, such as the app switcher; a running app only.
    case wentToForeground
    /// Swiped away in the app switcher.
    case killedByUser
    /// Ended to regain memory, or crashed.
    case endedBySystem
    /// The app's answer to `willPresent`, with the number of the call.
    case presentationAnswered(call: Int, PresentationOptions)
    /// The app's answer to the fetch callback, with the number of the call.
    case fetchAnswered(call: Int, FetchResult)
}

/// What the driver does next. Effects are done in their order.
public enum AppEffect: Hashable, Sendable {
    /// Create the app object.
    case launch
    /// Drop the app object; calls without an answer die with it.
    case discard
    /// Call the app object, and give its answer back as an input.
    case call(AppCall)
    /// Put it into the notification centre; one with the same id is replaced.
    case showBanner(RemoteNotification, playsSound: Bool)
    /// Tapped, dismissed or pushed out by newer ones.
    case removeBanner(id: String)
    /// 0 removes the badge.
    case setBadge(Int)
    /// Tell whoever counts.
    case milestone(NotificationMilestone)
}

/// One callback, to be made while the app sees `state` as its own.
public struct AppCall: Hashable, Sendable {
    /// Grows by one with each call; an answer names it.
    public let number: Int
    /// The method to call, with its arguments.
    public let callback: Callback
    /// What the app reads as its `applicationState` during the call.
    public let state: AppState
}

/// Steps of a notification's way, for statistics. Each is told once.
public enum NotificationMilestone: Hashable, Sendable {
    /// Its banner was shown.
    case presented(id: String)
    /// Its banner was tapped.
    case opened(id: String)
    /// Its banner was wiped away.
    case dismissed(id: String)
    /// The app was called, with the number of the call.
    case callbackFired(call: Int)
    /// The app said what its fetch brought.
    case fetched(id: String, FetchResult)
}
