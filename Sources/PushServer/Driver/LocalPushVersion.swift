import PushJSON

/// What this LocalPush is and what it is made of.
public enum LocalPushVersion {
    public static let number = "0.1.0"
}
