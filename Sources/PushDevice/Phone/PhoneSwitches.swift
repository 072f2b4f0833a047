/// Points on which sources about iOS disagree. The defaults are what Apple documents.
public struct PhoneSwitches: Hashable, Sendable {
    /// `willPresent` comes before the fetch callback when a push with alert and `content-available` meets the
    /// foreground. Default false: the fetch callback comes first.
    public var callsWillPresentFirst = false
    /// A silent push to the background is swallowed, as iOS does with apps that get many. Default false.
    public var throttlesSilentPushes = false
    /// A tap that launches the app is told by `didFinishLaunching` alone. Default false: the era's tap callback
    /// follows.
    public var launchConsumesTap = false
    /// A launch by icon carries the newest banner's notification in its options. Default false.
    public var iconLaunchCarriesNotification = false
    /// The icon, tapped while the app is in the background, delivers the newest banner's notification to
    /// `didReceiveRemoteNotification` once more. Default false.
    public var iconResumeRepeatsNotification = false
    /// A tap on a banner in the foreground calls `willPresent`, unless the push has `content-available`. Default
    /// false: it calls `didReceive(response)`.
    public var foregroundTapCallsWillPresent = false
    /// How long the vendor link still counts as online after the app went to the background. Default zero.
    public var onlineGracePeriod: Duration = .zero

    public init() {}
}
