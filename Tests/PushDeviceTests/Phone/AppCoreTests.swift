import PushDevice
import Testing

@Suite struct AppCoreTests {
    @Test func theForegroundShowsWhatTheAppAsksForAndNoMore() {
        let cases: [(PresentationOptions, banners: [String], badge: Int)] = [
            ([], [], 0), ([.banner], ["1"], 0), ([.badge], [], 3), ([.sound], [], 0), ([.banner, .badge], ["1"], 3),
        ]
        for (options, banners, badge) in cases {
            var app = AppHarness()
            let call = AppHarness.calls(app.give(.pushArrived(AppHarness.push(.alert))))[0]
            #expect(AppHarness.banners(app.give(.presentationAnswered(call: call.number, options))) == banners)
            #expect(app.core.badge == badge)
            #expect(app.give(.presentationAnswered(call: call.number, [.banner, .badge])).isEmpty, "answered once")
        }
    }

    @Test func anAnswerFromAnAppThatHasDiedIsIgnored() {
        var app = AppHarness()
        let call = AppHarness.calls(app.give(.pushArrived(AppHarness.push(.alert))))[0]
        #expect(app.give(.killedByUser) == [.discard])
        #expect(app.give(.presentationAnswered(call: call.number, [.banner])).isEmpty)
    }

    @Test func aTapTellsItsMilestonesInOrder() {
        var app = AppHarness(state: .background)
        let push = AppHarness.push(.alert)
        let arrival = app.give(.pushArrived(push))
        #expect(
            arrival == [.showBanner(push, playsSound: true), .milestone(.presented(id: "1")), .setBadge(3)])
        let tap = app.give(.bannerTapped(id: "1"))
        let call = AppHarness.calls(tap)[0]
        #expect(call.callback == .didReceiveResponse(push))
        #expect(
            tap == [
                .removeBanner(id: "1"), .milestone(.opened(id: "1")), .call(call),
                .milestone(.callbackFired(call: call.number)),
            ])
    }

    @Test("scenario 8: ten taps on one banner open it once", arguments: AppMatrixTests.states)
    func tenTaps(_ state: AppState) {
        var app = AppHarness(state: state)
        app.arrive(.alert)
        let effects = (0..<10).flatMap { _ in app.give(.bannerTapped(id: "1")) }
        #expect(effects.count { $0 == .milestone(.opened(id: "1")) } == 1)
        #expect(AppHarness.calls(effects).count { $0.callback.shortName == "D" } == 1)
    }

    @Test func aDismissedBannerCallsNobodyAndCannotBeTapped() {
        var app = AppHarness(state: .background)
        app.give(.pushArrived(AppHarness.push(.alert)))
        #expect(app.give(.bannerDismissed(id: "1")) == [.removeBanner(id: "1"), .milestone(.dismissed(id: "1"))])
        #expect(app.give(.bannerDismissed(id: "1")).isEmpty)
        #expect(app.give(.bannerTapped(id: "1")).isEmpty)
        #expect(app.core.state == .background)
    }

    @Test func beyondTheLimitTheOldestBannerLeaves() {
        var app = AppHarness(state: .background)
        for number in 0..<AppCore.bannersMax { app.give(.pushArrived(AppHarness.push(.alert, id: "\(number)"))) }
        let effects = app.give(.pushArrived(AppHarness.push(.alert, id: "last")))
        #expect(effects.first == .removeBanner(id: "0"))
        #expect(app.core.banners.count == AppCore.bannersMax)
    }

    @Test func beyondTheLimitTheAnswerToTheOldestCallIsIgnored() {
        var app = AppHarness()
        var numbers: [Int] = []
        for id in 0...AppCore.unansweredCallsMax {
            let effects = app.give(.pushArrived(AppHarness.push(.silent, id: "\(id)")))
            numbers += AppHarness.calls(effects).map(\.number)
        }
        #expect(app.give(.fetchAnswered(call: numbers[0], .newData)).isEmpty)
        #expect(app.give(.fetchAnswered(call: numbers[1], .newData)) == [.milestone(.fetched(id: "1", .newData))])
    }

    @Test func wipingAnEndedAppAwayCountsAsAKill() {
        var app = AppHarness(state: .notRunning(.endedBySystem))
        #expect(app.give(.killedByUser).isEmpty)
        #expect(app.core.state == .notRunning(.killedByUser))
        #expect(app.calls(.pushArrived(AppHarness.push(.silent))).isEmpty)
    }
}
