internal import PushJSON

enum DevicesCommand {
    static let declaration: Command = Command(
        name: "devices",
        summary: "lists devices, or runs many simulated ones",
        commonOptions: CommonOption.plain,
        subcommands: [list, show, SpawnCommand.declaration, unregister])

    private static let app = Option.value("app", .text("BUNDLE"), "Only devices with this app.")

    private static let list: Command = Command(
        name: "list",
        summary: "lists the devices the server knows, one line for each app",
        options: [app.declaration],
        commonOptions: CommonOption.client,
        examples: [.init("localpush devices list --app com.example.app", "Who can receive for this app?")],
        run: runList)

    private static let show: Command = Command(
        name: "show",
        summary: "tells all about one device",
        operands: [.one("ID", .text("ID"), "The device's id, as 'devices list' prints it.")],
        commonOptions: CommonOption.client,
        examples: [.init("localpush devices show d1", "Its apps, tokens and queues.")],
        run: runShow)

    private static let unregister: Command = Command(
        name: "unregister",
        summary: "takes the app off a device, as if its user deleted it: pushes to its token get 410",
        operands: [.one("ID", .text("ID"), "The device's id, as 'devices list' prints it.")],
        commonOptions: CommonOption.client,
        examples: [.init("localpush devices unregister d1", "What does the provider do with Unregistered?")],
        run: runUnregister)

    private static func runList(_ arguments: Arguments) throws -> ExitCode {
        let reply = try ControlClient(arguments).value(ControlRequest("GET", "devices"))
        let devices = DeviceSelection.filter(DeviceSelection.devices(reply), app: arguments[app])
        if arguments[CommonOption.json] {
            Terminal.outLine(JSONText.line(["devices": .array(devices)]))
        } else {
            Terminal.out(DeviceText(time: LocalClock.iso).table(devices))
        }
        return .done
    }

    private static func runShow(_ arguments: Arguments) throws -> ExitCode {
        print(try ControlClient(arguments).value(ControlRequest("GET", "devices", arguments.operands[0])), arguments)
    }

    private static func runUnregister(_ arguments: Arguments) throws -> ExitCode {
        var request = ControlRequest("PATCH", "devices", arguments.operands[0])
        request.body = ["registered": false]
        return print(try ControlClient(arguments).value(request), arguments)
    }

    private static func print(_ device: JSONValue, _ arguments: Arguments) -> ExitCode {
        if arguments[CommonOption.json] {
            Terminal.outLine(JSONText.line(device))
        } else {
            Terminal.out(DeviceText(time: LocalClock.iso).page(device))
        }
        return .done
    }
}
