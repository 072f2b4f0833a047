/// A push of Apple's kind as it reached the phone.
public struct RemoteNotification: Hashable, Sendable {
    /// The push id; a later banner with the same id replaces the earlier one.
    public let id: String
    /// The payload as the provider sent it.
    public let userInfo: [UInt8]
    /// It has a text to show in a banner.
    public let hasAlert: Bool
    /// `aps.content-available` is 1.
    public let isContentAvailable: Bool
    /// `aps.badge`; `nil` leaves the badge alone, 0 removes it.
    public let badge: Int?

    /// Only `content-available`: the app may fetch, the user sees nothing.
    public var isSilent: Bool { isContentAvailable && !hasAlert && badge == nil }

    public init(
        id: String, userInfo: [UInt8] = [], hasAlert: Bool, isContentAvailable: Bool = false, badge: Int? = nil
    ) {
        self.id = id
        self.userInfo = userInfo
        self.hasAlert = hasAlert
        self.isContentAvailable = isContentAvailable
        self.badge = badge
    }
}

/// A transparent message of a vendor's long connection; the phone never shows it by itself.
public struct PayloadMessage: Hashable, Sendable {
    /// What the provider sent, byte for byte.
    public let payload: [UInt8]
    /// The vendor's id of the push, shared by all who got it.
    public let taskID: String
    /// The vendor's id of this one message.
    public let messageID: String
    /// The vendor's id of the app.
    public let appID: String
    /// It had waited on the server while the app was not online.
    public let isOffline: Bool

    public init(payload: [UInt8], taskID: String, messageID: String, appID: String, isOffline: Bool) {
        self.payload = payload
        self.taskID = taskID
        self.messageID = messageID
        self.appID = appID
        self.isOffline = isOffline
    }
}

/// One call into the app, named after the method that an iOS app implements.
public enum Callback: Hashable, Sendable {
    /// `application:didFinishLaunchingWithOptions:`. The notification is what
    /// `UIApplicationLaunchOptionsRemoteNotificationKey` holds; `nil` when the key is absent.
    case didFinishLaunching(remoteNotification: RemoteNotification?)
    /// `application:didReceiveRemoteNotification:`.
    case didReceiveRemoteNotification(RemoteNotification)
    /// `application:didReceiveRemoteNotification:fetchCompletionHandler:`; answered with a `FetchResult`.
    case didReceiveRemoteNotificationFetching(RemoteNotification)
    /// `userNotificationCenter:willPresentNotification:withCompletionHandler:`; answered with
    /// `PresentationOptions`.
    case willPresent(RemoteNotification)
    /// `userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:`.
    case didReceiveResponse(RemoteNotification)
    /// Getui's `GeTuiSdkDidReceivePayloadData:andTaskId:andMsgId:andOffLine:fromGtAppId:` and JPush's
    /// `kJPFNetworkDidReceiveMessageNotification`.
    case didReceivePayload(PayloadMessage)
    /// Messages that had waited on the server, in one call, oldest first. No vendor has it; it replaces one
    /// `didReceivePayload` for each.
    case didReceiveOfflineMessages([PayloadMessage])

    /// The letter of the callback in tables and logs: A, A0 (A without a notification), L, B, C, D, M or R.
    public var shortName: String {
        switch self {
        case .didFinishLaunching(let notification): notification == nil ? "A0" : "A"
        case .didReceiveRemoteNotification: "L"
        case .didReceiveRemoteNotificationFetching: "B"
        case .willPresent: "C"
        case .didReceiveResponse: "D"
        case .didReceivePayload: "M"
        case .didReceiveOfflineMessages: "R"
        }
    }
}

/// What the app wants done with a notification that met it in the foreground, like
/// `UNNotificationPresentationOptions`.
public struct PresentationOptions: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Set the badge to the payload's number.
    public static let badge = PresentationOptions(rawValue: 1)
    /// Play the sound of the banner; nothing without `banner`.
    public static let sound = PresentationOptions(rawValue: 2)
    /// Show the banner.
    public static let banner = PresentationOptions(rawValue: 4)
}

/// What a fetch brought, like `UIBackgroundFetchResult`.
public enum FetchResult: Hashable, Sendable {
    case newData, noData, failed
}
