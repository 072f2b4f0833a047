import PushDevice
import Testing

/// Scenario 1: every cell of the table of callbacks, with the state of the app at each call.
@Suite struct AppMatrixTests {
    struct Row: CustomTestStringConvertible {
        let era: Era
        let state: AppState
        let payload: AppHarness.Payload
        var fetches = true
        /// Calls when the push comes, and whether the phone shows it unasked.
        let arrival: String
        let banner: Bool
        /// Calls when the banner is tapped, or `nil` where there is none.
        let tap: String?
        let icon: String

        var testDescription: String { "\(era), \(state), \(payload), fetches: \(fetches)" }
    }

    static let userNotifications: [Row] = [
        row(.foreground, .alert, "C@foreground", false, "D@foreground"),
        row(.foreground, .alertAndContent, "B@foreground C@foreground", false, "D@foreground"),
        row(.foreground, .silent, "B@foreground", false, nil),
        row(.background, .alert, "", true, "D@inactive"),
        row(.background, .alertAndContent, "B@background", true, "D@inactive"),
        row(.background, .silent, "B@background", false, nil),
        row(.notRunning(.killedByUser), .alert, "", true, "A@inactive D@inactive", icon: "A0@inactive"),
        row(.notRunning(.killedByUser), .alertAndContent, "", true, "A@inactive D@inactive", icon: "A0@inactive"),
        row(.notRunning(.killedByUser), .silent, "", false, nil, icon: "A0@inactive"),
        row(.notRunning(.neverStarted), .alert, "", true, "A@inactive D@inactive", icon: "A0@inactive"),
        row(.notRunning(.neverStarted), .alertAndContent, "", true, "A@inactive D@inactive", icon: "A0@inactive"),
        row(.notRunning(.neverStarted), .silent, "", false, nil, icon: "A0@inactive"),
        row(.notRunning(.endedBySystem), .alert, "", true, "A@inactive D@inactive", icon: "A0@inactive"),
        row(.notRunning(.endedBySystem), .alertAndContent, "A@background B@background", true, "D@inactive"),
        row(.notRunning(.endedBySystem), .silent, "A@background B@background", false, nil),
    ]

    static let legacy: [Row] = [
        legacyRow(.foreground, .alert, "B@foreground", false, nil),
        legacyRow(.foreground, .alertAndContent, "B@foreground", false, nil),
        legacyRow(.foreground, .silent, "B@foreground", false, nil),
        legacyRow(.foreground, .alert, "L@foreground", false, nil, fetches: false),
        legacyRow(.foreground, .alertAndContent, "L@foreground", false, nil, fetches: false),
        legacyRow(.foreground, .silent, "L@foreground", false, nil, fetches: false),
        legacyRow(.background, .alert, "", true, "B@inactive"),
        legacyRow(.background, .alert, "", true, "L@inactive", fetches: false),
        legacyRow(.background, .alertAndContent, "B@background", true, "B@inactive"),
        legacyRow(.background, .silent, "B@background", false, nil),
    ]

    /// In this era no reason and no payload makes a difference to an app that is not running.
    static let legacyNotRunning: [Row] = [AppState.NotRunningReason.killedByUser, .endedBySystem, .neverStarted]
        .flatMap { reason in
            [true, false].flatMap { fetches in
                AppHarness.Payload.allCases.map { payload in
                    let hasBanner = payload != .silent
                    let tap = fetches ? "A@inactive B@inactive" : "A@inactive"
                    return legacyRow(
                        .notRunning(reason), payload, "", hasBanner, hasBanner ? tap : nil, icon: "A0@inactive",
                        fetches: fetches)
                }
            }
        }

    static let rows = userNotifications + legacy + legacyNotRunning

    @Test(arguments: rows) func arrival(_ row: Row) {
        var app = AppHarness(row)
        let effects = app.give(.pushArrived(AppHarness.push(row.payload)))
        #expect(AppHarness.text(effects) == row.arrival)
        #expect(AppHarness.banners(effects) == (row.banner ? ["1"] : []))
        #expect(app.core.badge == (row.banner ? 3 : 0))
    }

    @Test(arguments: rows) func bannerTapped(_ row: Row) {
        var app = AppHarness(row)
        app.arrive(row.payload)
        #expect(app.core.banners.isEmpty == (row.tap == nil))
        #expect(app.calls(.bannerTapped(id: "1")) == row.tap ?? "")
        if row.tap != nil { #expect(app.core.state == .foreground) }
        #expect(app.calls(.bannerTapped(id: "1")).isEmpty, "a banner is tapped once")
    }

    @Test(arguments: rows) func iconTapped(_ row: Row) {
        var app = AppHarness(row)
        app.arrive(row.payload)
        #expect(app.calls(.iconTapped) == row.icon)
        #expect(app.core.state == .foreground)
    }

    @Test(arguments: Era.allCases, AppMatrixTests.states) func transparent(_ era: Era, _ state: AppState) {
        var app = AppHarness(era: era, state: state)
        let isOnline = state == .foreground
        #expect(app.calls(.payloadArrived(AppHarness.message())) == (isOnline ? "M@foreground" : ""))
        let replay = [AppHarness.message("1", isOffline: true), AppHarness.message("2", isOffline: true)]
        #expect(app.calls(.replayArrived(replay)) == (isOnline ? "R@foreground" : ""))
        #expect(app.calls(.replayArrived([])).isEmpty)
    }

    static let states: [AppState] = [
        .foreground, .background, .notRunning(.killedByUser), .notRunning(.endedBySystem), .notRunning(.neverStarted),
    ]

    private static func row(
        _ state: AppState, _ payload: AppHarness.Payload, _ arrival: String, _ banner: Bool, _ tap: String?,
        icon: String = ""
    ) -> Row {
        Row(
            era: .userNotifications, state: state, payload: payload, arrival: arrival, banner: banner, tap: tap,
            icon: icon)
    }

    private static func legacyRow(
        _ state: AppState, _ payload: AppHarness.Payload, _ arrival: String, _ banner: Bool, _ tap: String?,
        icon: String = "", fetches: Bool = true
    ) -> Row {
        Row(
            era: .legacy, state: state, payload: payload, fetches: fetches, arrival: arrival, banner: banner, tap: tap,
            icon: icon)
    }
}

extension AppHarness {
    init(_ row: AppMatrixTests.Row) { self.init(era: row.era, implementsFetch: row.fetches, state: row.state) }

    /// The push comes, and where the app is asked it wants everything shown.
    mutating func arrive(_ payload: Payload) {
        let effects = give(.pushArrived(Self.push(payload)))
        for call in Self.calls(effects) where call.callback.shortName == "C" {
            give(.presentationAnswered(call: call.number, [.banner, .sound, .badge]))
        }
    }
}
