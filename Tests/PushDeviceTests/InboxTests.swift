import Foundation
import PushSQLite
import Testing

@testable import PushDevice

@Suite struct InboxTests {
    let directory: TemporaryDirectory
    var path: String { directory.file("device.db") }

    init() throws { directory = try TemporaryDirectory() }

    private func message(_ number: Int) -> InboxMessage {
        InboxMessage(
            topic: exampleTopic, payload: [UInt8(truncatingIfNeeded: number)],
            key: MessageKey(high: UInt64.max, low: UInt64(number)), receivedAtMilliseconds: Int64(number))
    }

    private func arrivals(_ numbers: ClosedRange<Int>) -> DeviceInbox.Change {
        var change = DeviceInbox.Change()
        change.arrivals = numbers.map(message)
        return change
    }

    private func consumed(_ sequences: Int64...) -> DeviceInbox.Change {
        var change = DeviceInbox.Change()
        change.consumed = sequences
        return change
    }

    /// Both kinds must do the same, as far as one process sees.
    private func bothKinds(seenMax: Int = 100) throws -> [DeviceInbox] {
        [
            .memory(MemoryInbox(seenMax: seenMax)),
            .file(try FileInbox(path: directory.file("\(UUID()).db"), seenMax: seenMax)),
        ]
    }

    @Test func newMessagesGetNumbersInOrderAndOldOnesNone() throws {
        for var inbox in try bothKinds() {
            #expect(try inbox.commit(arrivals(1...3)).sequences == [1, 2, 3])
            #expect(try inbox.commit(arrivals(2...4)).sequences == [nil, nil, 4])
            #expect(try inbox.commit(arrivals(1...4)).sequences == [nil, nil, nil, nil])
        }
    }

    @Test func aMessageTwiceInOneTurnCountsOnce() throws {
        for var inbox in try bothKinds() {
            var change = DeviceInbox.Change()
            change.arrivals = [message(1), message(1)]
            #expect(try inbox.commit(change).sequences == [1, nil])
        }
    }

    @Test func consumedMessagesAreCountedOnceAndStayKnown() throws {
        for var inbox in try bothKinds() {
            _ = try inbox.commit(arrivals(1...3))
            #expect(try inbox.commit(consumed(2, 2, 99)).consumed == 1)
            #expect(try inbox.commit(consumed(2, 1)).consumed == 1)
            #expect(try inbox.commit(arrivals(1...3)).sequences == [nil, nil, nil])
        }
    }

    @Test func theOldestIdsAreForgottenAtTheLimit() throws {
        for var inbox in try bothKinds(seenMax: 300) {
            // Prunes at sequence 512 for the file, continuously for memory.
            for number in 1...600 {
                let outcome = try inbox.commit(arrivals(number...number))
                _ = try inbox.commit(consumed(try #require(outcome.sequences.first ?? nil)))
            }
            #expect(try inbox.commit(arrivals(301...600)).sequences.allSatisfy { $0 == nil })
            #expect(try inbox.commit(arrivals(1...100)).sequences.allSatisfy { $0 != nil })
        }
    }

    @Test func unconsumedMessagesAreNeverForgotten() throws {
        let inbox = try FileInbox(path: path, seenMax: 1)
        _ = try inbox.commit(arrivals(1...600))
        #expect(try inbox.unconsumed().map(\.sequence) == Array(1...600))
    }

    @Test func everyFieldSurvivesReopening() throws {
        var full = message(1)
        full.expirySeconds = .max
        full.timestampNanoseconds = .max
        full.isFromStorage = true
        full.isLastStored = true
        full.priority = 10
        full.pushID = [UInt8](repeating: 3, count: 16)
        full.channel = "getui"
        full.taskID = "task"
        full.vendorMessageID = "message"
        full.collapseID = "collapse"
        full.pushType = "alert"
        var empty = message(2)
        empty.payload = []
        var change = DeviceInbox.Change()
        change.arrivals = [full, empty]
        change.baseToken = .some([1, 2, 3])
        let first = try FileInbox(path: path, seenMax: 10)
        _ = try first.commit(change)
        try first.saveIdentity(key: "K", certificate: "C")
        first.close()
        let second = try FileInbox(path: path, seenMax: 10)
        #expect(try second.unconsumed().map(\.message) == [full, empty])
        #expect(try second.baseToken() == [1, 2, 3])
        let identity = try #require(try second.identity())
        #expect(identity == ("K", "C"))
        change = DeviceInbox.Change()
        change.baseToken = .some(nil)
        _ = try second.commit(change)
        #expect(try second.baseToken() == nil)
    }

    @Test func secondDeviceOnTheSameFileIsBusy() throws {
        let first = try FileInbox(path: path, seenMax: 10)
        let error = #expect(throws: SQLiteError.self) { _ = try FileInbox(path: path, seenMax: 10) }
        #expect(error?.isBusy == true)
        first.close()
        _ = try FileInbox(path: path, seenMax: 10)
    }

    @Test func fileOfALaterFormatIsRefused() throws {
        let database = try Database(path: path)
        try database.setUserVersion(99)
        database.close()
        let error = #expect(throws: SQLiteError.self) { _ = try FileInbox(path: path, seenMax: 10) }
        #expect(error?.message.contains("99") == true)
    }

    /// Fails the Nth step of one commit for N = 1, 2, 3… until it passes: each time nothing of it is kept, neither
    /// for the living inbox nor after a reopen.
    @Test func failedCommitKeepsNothing() throws {
        var inbox = try FileInbox(path: path, seenMax: 10)
        _ = try inbox.commit(arrivals(1...2))
        var change = arrivals(3...5)
        change.consumed = [1]
        change.baseToken = .some([7])
        var failing = 0
        var isDone = false
        while !isDone {
            failing += 1
            var step = 0
            inbox.injectedFailure = { _ in
                step += 1
                return step == failing ? SQLiteError(code: 13, message: "full", operation: "test") : nil
            }
            do throws(SQLiteError) {
                _ = try inbox.commit(change)
                isDone = true
            } catch {
                #expect(error.isFull)
            }
            inbox.injectedFailure = nil
            if failing.isMultiple(of: 2) {
                inbox.close()
                inbox = try FileInbox(path: path, seenMax: 10)
            }
            #expect(try inbox.unconsumed().map(\.sequence) == (isDone ? [2, 3, 4, 5] : [1, 2]))
            #expect(try inbox.baseToken() == (isDone ? [7] : nil))
        }
        // Three inserts, one update, one token, one commit.
        #expect(failing == 7)
    }

    /// The process dies without closing: what was committed is there, what was not is not.
    @Test func killedProcessLeavesWhatItCommitted() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let inbox = try FileInbox(path: "/tmp/pushdevice-killed-\(getppid()).db", seenMax: 10)
            var change = DeviceInbox.Change()
            func message(_ number: UInt8) -> InboxMessage {
                InboxMessage(
                    topic: "t", payload: [number], key: MessageKey(high: 0, low: UInt64(number)),
                    receivedAtMilliseconds: 0)
            }
            change.arrivals = [message(1)]
            _ = try inbox.commit(change)
            change.arrivals = [message(2)]
            inbox.injectedFailure = { operation in
                if operation == "commit" { kill(getpid(), SIGKILL) }
                return nil
            }
            _ = try inbox.commit(change)
        }
        let path = "/tmp/pushdevice-killed-\(getpid()).db"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let inbox = try FileInbox(path: path, seenMax: 10)
        #expect(try inbox.unconsumed().map(\.message.payload) == [[1]])
    }
}
