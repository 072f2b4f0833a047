internal import PushJSON

/// Devices as the control API tells them, for people.
struct DeviceText {
    /// Unix milliseconds to text.
    let time: (Int64) -> String

    /// One line for each app on each device.
    func table(_ devices: [JSONValue]) -> String {
        var table = TextTable(["ID", "NAME", "KIND", "STATE", "APP", "QUEUED", "TOKEN"])
        for device in devices {
            let head = [
                device["id"]?.stringValue ?? "", device["name"]?.stringValue ?? "",
                device["virtual"]?.boolValue == true ? "virtual" : "process", state(device),
            ]
            let registrations = device["registrations"]?.arrayValue ?? []
            if registrations.isEmpty { table.append(head + ["", "", ""]) }
            for registration in registrations {
                table.append(
                    head + [
                        registration["app"]?.stringValue ?? "", queued(registration),
                        (registration["token"]?.stringValue ?? "") + mark(registration),
                    ])
            }
        }
        return table.text
    }

    /// All about one device.
    func page(_ device: JSONValue) -> String {
        var lines = TextFields.lines([
            ("device", device["id"]?.stringValue),
            ("name", device["name"]?.stringValue),
            ("kind", device["virtual"]?.boolValue == true ? "virtual, in the server" : "a process of its own"),
            ("environment", device["environment"]?.stringValue),
            ("state", state(device)),
            ("connected", device["connectedAt"]?.intValue.map { time(Int64($0)) }),
        ])
        for registration in device["registrations"]?.arrayValue ?? [] {
            lines.append("")
            lines += TextFields.lines([
                ("app", registration["app"]?.stringValue),
                ("topic", registration["topic"]?.stringValue),
                ("token", registration["token"]?.stringValue.map { $0 + mark(registration) }),
                ("queued", queued(registration)),
                ("in flight", registration["inFlight"]?.intValue.map(String.init)),
            ])
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func state(_ device: JSONValue) -> String {
        device["online"]?.boolValue == true ? "online" : "offline"
    }

    private func queued(_ registration: JSONValue) -> String {
        registration["queued"]?.intValue.map(String.init) ?? ""
    }

    private func mark(_ registration: JSONValue) -> String {
        if registration["expired"]?.boolValue == true { return " (expired)" }
        return registration["registered"]?.boolValue == false ? " (unregistered)" : ""
    }
}
