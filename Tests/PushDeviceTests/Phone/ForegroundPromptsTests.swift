import PushBytes
import PushDevice
import Testing

@Suite struct ForegroundPromptsTests {
    private func push(_ number: Int) -> RemoteNotification { AppHarness.push(.alert, id: "\(number)") }

    @Test("scenario 9: five notifications at once are one prompt at a time, and the count is right")
    func fiveAtOnce() {
        var prompts = ForegroundPrompts()
        #expect(prompts.present(push(1))?.moreCount == 0)
        for number in 2...5 { #expect(prompts.present(push(number)) == nil) }
        #expect(prompts.current?.notification == push(1))
        #expect(prompts.waitingCount == 4)

        let second = prompts.finish()
        #expect(second?.notification == push(5))
        #expect(second?.moreCount == 3)
        #expect(prompts.waitingCount == 0)
        #expect(prompts.finish() == nil)
        #expect(prompts.current == nil)
    }

    @Test func everyNotificationIsCountedOnce() {
        var random = SeededRandom(seed: 1)
        var prompts = ForegroundPrompts()
        var counted = 0
        func count(_ prompt: ForegroundPrompts.Prompt?) { counted += prompt.map { 1 + $0.moreCount } ?? 0 }
        for number in 1...500 {
            count(prompts.present(push(number)))
            if Bool.random(using: &random) { count(prompts.finish()) }
        }
        while prompts.current != nil { count(prompts.finish()) }
        #expect(counted == 500)
    }

    @Test func leavingTheForegroundForgetsWhatWaited() {
        var prompts = ForegroundPrompts()
        for number in 1...3 { _ = prompts.present(push(number)) }
        prompts.clear()
        #expect(prompts.finish() == nil)
        #expect(prompts.present(push(4))?.notification == push(4))
    }
}
