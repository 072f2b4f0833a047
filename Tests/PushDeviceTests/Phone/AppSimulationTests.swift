import Foundation
import PushBytes
import PushDevice
import Testing

/// Random days in the life of an app: what holds whatever happens.
@Suite struct AppSimulationTests {
    /// `SEED=… swift test --filter AppSimulationTests` plays one day again.
    private static let replayed = ProcessInfo.processInfo.environment["SEED"].flatMap(UInt64.init)

    @Test func callsMeetALivingAppAndBannersAreTappedOnce() {
        var calls = 0
        var taps = 0
        for seed in Self.replayed.map({ $0..<($0 + 1) }) ?? 1..<301 {
            var day = AppDay(seed: seed)
            let problems = day.run(steps: 200)
            #expect(problems.isEmpty, "SEED=\(seed)")
            calls += day.callCount
            taps += day.taps
        }
        // The days do reach what they are made for.
        if Self.replayed == nil { #expect(calls > 15_000 && taps > 1_500) }
    }
}

/// Plays random inputs and judges the effects by what a phone must never do.
struct AppDay {
    private(set) var callCount = 0
    private(set) var taps = 0

    private var random: SeededRandom
    private var app: AppCore
    private var now = Duration.zero
    private var pushes = 0
    private var hasObject = false
    private var isFresh = false
    private var shown: Set<String> = []
    private var problems: [String] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        app = AppCore()
        var switches = PhoneSwitches()
        switches.callsWillPresentFirst = coin()
        switches.throttlesSilentPushes = coin()
        switches.launchConsumesTap = coin()
        switches.iconLaunchCarriesNotification = coin()
        switches.iconResumeRepeatsNotification = coin()
        switches.foregroundTapCallsWillPresent = coin()
        switches.onlineGracePeriod = .seconds(draw(3))
        app = AppCore(era: coin() ? .legacy : .userNotifications, implementsFetch: coin(), switches: switches)
    }

    mutating func run(steps: Int) -> [String] {
        for _ in 0..<steps {
            now += .milliseconds(draw(2000))
            let input = nextInput()
            let wasOnline = app.isOnline(now: now)
            let effects = app.receive(input, now: now)
            judge(effects, of: input, wasOnline: wasOnline)
        }
        return problems
    }

    private mutating func judge(_ effects: [AppEffect], of input: AppInput, wasOnline: Bool) {
        var counts: [String: Int] = [:]
        for effect in effects {
            switch effect {
            case .launch:
                check(!hasObject, "launched twice")
                hasObject = true
                isFresh = true
            case .discard:
                check(hasObject, "discarded without an object")
                hasObject = false
            case .call(let call):
                let name = call.callback.shortName
                callCount += 1
                counts[name, default: 0] += 1
                check(hasObject && call.state.isRunning, "\(name) without an app")
                check(isFresh == name.hasPrefix("A"), "\(name) at the wrong time after a launch")
                isFresh = false
                check(wasOnline || name != "M" && name != "R", "\(name) while offline")
            case .showBanner(let notification, _):
                check(notification.hasAlert, "a push without an alert is shown")
                shown.insert(notification.id)
            case .removeBanner(let id):
                check(shown.remove(id) != nil, "a banner leaves that was not there")
            case .milestone(.opened): taps += 1
            case .setBadge, .milestone: break
            }
        }
        check(counts.values.allSatisfy { $0 == 1 }, "\(counts) for \(input)")
        check(hasObject == app.state.isRunning, "state \(app.state) and the object disagree")
        check(app.state != .inactive, "rests between background and foreground")
        check(shown == Set(app.banners.map(\.id)), "the notification centre and the effects disagree")
    }

    private mutating func check(_ holds: Bool, _ problem: String) {
        if !holds { problems.append(problem) }
    }

    private mutating func nextInput() -> AppInput {
        switch draw(16) {
        case 0..<4:
            pushes += 1
            return .pushArrived(
                RemoteNotification(
                    id: "\(pushes)", hasAlert: coin(), isContentAvailable: coin(), badge: coin() ? draw(5) : nil))
        case 4: return .payloadArrived(AppHarness.message())
        case 5: return .replayArrived((0..<draw(4)).map { AppHarness.message("\($0)", isOffline: true) })
        case 6, 7: return .bannerTapped(id: anyBanner())
        case 8: return .bannerDismissed(id: anyBanner())
        case 9: return .iconTapped
        case 10: return .wentToBackground
        case 11: return .wentToForeground
        case 12: return .killedByUser
        case 13: return .endedBySystem
        case 14: return .presentationAnswered(call: draw(callCount + 2), PresentationOptions(rawValue: draw(8)))
        default: return .fetchAnswered(call: draw(callCount + 2), .newData)
        }
    }

    /// Mostly one that is there, at times one that has gone.
    private mutating func anyBanner() -> String {
        let banners = app.banners
        if banners.isEmpty || draw(4) == 0 { return "\(draw(pushes + 1))" }
        return banners[draw(banners.count)].id
    }

    private mutating func coin() -> Bool { draw(2) == 0 }

    private mutating func draw(_ below: Int) -> Int { Int.random(in: 0..<below, using: &random) }
}
