/// Prompts of an app in the foreground: one at a time, those that come meanwhile fold into a count.
///
/// Of the folded ones only the newest is kept, so that any number of them takes no room.
public struct ForegroundPrompts: Hashable, Sendable {
    /// What the presenter shows now; `nil` when nothing is to be shown.
    public private(set) var current: Prompt?

    private var newest: RemoteNotification?
    private var foldedCount = 0

    /// One banner or alert inside the app.
    public struct Prompt: Hashable, Sendable {
        /// The one to show.
        public let notification: RemoteNotification
        /// Notifications that this prompt stands for besides its own: "and 3 more".
        public let moreCount: Int
    }

    public init() {}

    /// How many wait behind the current prompt.
    public var waitingCount: Int { foldedCount }

    /// The prompt to show now, or `nil` when one is on the screen already and `notification` waits behind it.
    public mutating func present(_ notification: RemoteNotification) -> Prompt? {
        if current == nil {
            current = Prompt(notification: notification, moreCount: 0)
            return current
        }
        newest = notification
        foldedCount += 1
        return nil
    }

    /// The current prompt was tapped, dismissed or timed out: the next one to show, which stands for all that
    /// waited. `nil` when none did, or when nothing was shown.
    public mutating func finish() -> Prompt? {
        current = newest.map { Prompt(notification: $0, moreCount: foldedCount - 1) }
        newest = nil
        foldedCount = 0
        return current
    }

    /// The app left the foreground: nothing is shown any more, and what waited is forgotten.
    public mutating func clear() { self = ForegroundPrompts() }
}
