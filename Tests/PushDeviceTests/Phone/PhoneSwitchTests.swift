import PushDevice
import Testing

/// Each switch, off and on.
@Suite struct PhoneSwitchTests {
    private func harness(
        _ state: AppState, era: Era = .userNotifications, _ set: (inout PhoneSwitches) -> Void
    ) -> AppHarness {
        var switches = PhoneSwitches()
        set(&switches)
        return AppHarness(era: era, state: state, switches: switches)
    }

    @Test(arguments: [false: "B@foreground C@foreground", true: "C@foreground B@foreground"])
    func callsWillPresentFirst(_ isOn: Bool, _ expected: String) {
        var app = harness(.foreground) { $0.callsWillPresentFirst = isOn }
        #expect(app.calls(.pushArrived(AppHarness.push(.alertAndContent))) == expected)
    }

    @Test(arguments: [false: "B@background", true: ""])
    func throttlesSilentPushes(_ isOn: Bool, _ expected: String) {
        var app = harness(.background) { $0.throttlesSilentPushes = isOn }
        #expect(app.calls(.pushArrived(AppHarness.push(.silent))) == expected)
        #expect(app.calls(.pushArrived(AppHarness.push(.alertAndContent))) == "B@background", "it is not silent")
    }

    @Test(arguments: Era.allCases, [false, true])
    func launchConsumesTap(_ era: Era, _ isOn: Bool) {
        var app = harness(.notRunning(.killedByUser), era: era) { $0.launchConsumesTap = isOn }
        app.give(.pushArrived(AppHarness.push(.alert)))
        let second = era == .legacy ? "B@inactive" : "D@inactive"
        #expect(app.calls(.bannerTapped(id: "1")) == (isOn ? "A@inactive" : "A@inactive \(second)"))
    }

    @Test(arguments: [false: "A0@inactive", true: "A@inactive"])
    func iconLaunchCarriesNotification(_ isOn: Bool, _ expected: String) {
        var app = harness(.notRunning(.killedByUser)) { $0.iconLaunchCarriesNotification = isOn }
        app.give(.pushArrived(AppHarness.push(.alert)))
        #expect(app.calls(.iconTapped) == expected)
    }

    @Test(arguments: [false: "", true: "L@inactive"])
    func iconResumeRepeatsNotification(_ isOn: Bool, _ expected: String) {
        var app = harness(.background, era: .legacy) { $0.iconResumeRepeatsNotification = isOn }
        app.give(.pushArrived(AppHarness.push(.alert)))
        #expect(app.calls(.iconTapped) == expected)
    }

    @Test(arguments: [false: "D@foreground", true: "C@foreground"])
    func foregroundTapCallsWillPresent(_ isOn: Bool, _ expected: String) {
        var app = harness(.foreground) { $0.foregroundTapCallsWillPresent = isOn }
        app.arrive(.alert)
        #expect(app.calls(.bannerTapped(id: "1")) == expected)
        app.arrive(.alertAndContent)
        #expect(app.calls(.bannerTapped(id: "1")) == "D@foreground", "with content-available it is no question")
    }

    @Test func onlineGracePeriod() {
        for (period, isOnline) in [(Duration.zero, false), (.seconds(10), false), (.milliseconds(10_001), true)] {
            var app = harness(.background) { $0.onlineGracePeriod = period }
            app.now = .seconds(10)
            #expect(app.calls(.payloadArrived(AppHarness.message())) == (isOnline ? "M@background" : ""))
        }
    }
}
