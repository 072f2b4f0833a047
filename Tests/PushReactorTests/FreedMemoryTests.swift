import PushReactor
import Testing

@Suite struct FreedMemoryTests {
    @Test func memoryIsGivenBackOnceWhenEnoughEndedAndQuietCame() {
        var memory = FreedMemory(endedMin: 3)
        for _ in 0..<2 { memory.noteEnd() }
        let withTooFew = [memory.giveBackWhenQuiet(), memory.giveBackWhenQuiet()]
        #expect(withTooFew == [false, false])
        memory.noteEnd()
        let afterTheThird = [memory.giveBackWhenQuiet(), memory.giveBackWhenQuiet(), memory.giveBackWhenQuiet()]
        #expect(afterTheThird == [false, true, false], "one has just ended; all is quiet; nothing has ended since")
    }
}
