internal import PushJSON

/// Picks among the devices the control API lists, oldest first.
enum DeviceSelection {
    /// All in a reply of `GET devices`.
    static func devices(_ reply: JSONValue) -> [JSONValue] { reply["devices"]?.arrayValue ?? [] }

    static func filter(_ devices: [JSONValue], app: String?) -> [JSONValue] {
        guard let app else { return devices }
        return devices.filter { registration($0, of: app) != nil }
    }

    /// The token of the app on the newest device that has it and did not lose it.
    static func newestToken(_ devices: [JSONValue], app: String) -> String? {
        for device in devices.reversed() {
            guard let registration = registration(device, of: app), registration["registered"]?.boolValue != false,
                registration["expired"]?.boolValue != true, let token = registration["token"]?.stringValue
            else { continue }
            return token
        }
        return nil
    }

    private static func registration(_ device: JSONValue, of app: String) -> JSONValue? {
        device["registrations"]?.arrayValue?.last { $0["app"]?.stringValue == app }
    }
}
