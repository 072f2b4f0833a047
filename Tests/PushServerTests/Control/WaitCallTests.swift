import Foundation
import PushJSON
import PushProvider
import PushServer
import Testing

/// Waiting for pushes to come as far as a test needs.
@Suite struct WaitCallTests {
    @Test func whatWasReachedAlreadyIsAnsweredAtOnce() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let id = try await bench.accepted(phone.token, "Hello")
            for target in [
                "wait?push=\(id)", "wait?token=\(phone.token)", "wait?app=\(ControlBench.app)",
                "wait?match=aps.alert.title=Hello", "wait?push=\(id)&state=sent", "wait?push=\(id)&state=accepted",
                "wait?push=\(id)&state=stored", "wait?app=\(ControlBench.app)&match=aps.alert.title=Hello&timeout=0",
            ] {
                let reply = try await bench.get(target)
                #expect(reply.status == 200, "\(target): \(reply.message)")
                #expect(reply.body["deliveries"]?.arrayValue?.map { $0["id"] } == [.string(id)], "\(target)")
            }
        }
    }

    @Test(
        arguments: [
            "wait?push=ID", "wait?token=TOKEN", "wait?app=com.example.app", "wait?match=aps.alert.title=Hello",
            "wait?token=TOKEN&count=1&state=sent",
        ])
    func whatIsReachedLaterIsAnsweredThen(target: String) async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["online": false])
            let id = try await bench.accepted(phone.token, "Hello")
            let target = target.replacing("ID", with: id).replacing("TOKEN", with: phone.token)
            let wait = try await bench.begin("\(target)&timeout=1m")
            try await bench.change(phone, ["online": true])
            let reply = try await wait.value
            #expect(reply.status == 200, "\(reply.message)")
            #expect(reply.body["deliveries"]?[0]?["id"] == .string(id))
        }
    }

    @Test func aWaitForSeveralEndsWithTheLastOfThem() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let first = try await bench.accepted(phone.token, "Hello")
            let wait = try await bench.begin("wait?match=aps.alert.title=Hello&count=2&timeout=60")
            _ = try await bench.accepted(phone.token, "Other")
            let second = try await bench.accepted(phone.token, "Hello")
            let reply = try await wait.value
            #expect(reply.body["deliveries"]?.arrayValue?.map { $0["id"] } == [.string(first), .string(second)])
        }
    }

    @Test(arguments: ["token=TOKEN", "app=com.example.app", "match=aps.alert.title=Hello"])
    func whatComesToOthersDoesNotEndAWait(query: String) async throws {
        try await ControlBench.run { bench in
            try await bench.call("POST", "apps", ["bundle": "com.example.two"])
            let phone = try await bench.addDevice()
            let other = try await bench.addDevice(["app": "com.example.two"])
            let query = query.replacing("TOKEN", with: phone.token)
            let wait = try await bench.begin("wait?\(query)&timeout=1m")
            _ = try await bench.accepted(other.token, "Other") { $0.topic = "com.example.two" }
            let id = try await bench.accepted(phone.token, "Hello")
            #expect(try await wait.value.body["deliveries"]?.arrayValue?.map { $0["id"] } == [.string(id)])
        }
    }

    @Test func aWaitAfterAPlaceDoesNotCountWhatCameBefore() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let id = try await bench.accepted(phone.token)
            let place = try #require(try await bench.get("pushes/\(id)").body["seq"]?.intValue)
            let reply = try await bench.get("wait?token=\(phone.token)&after=\(place)&timeout=0")
            #expect(reply.code == "timed_out")
            #expect(reply.body["nearest"] == .null)
        }
    }

    @Test(arguments: ["1ms", "0.001s", "0", "0.00001m"])
    func whenTheTimeIsUpTheNearestPushIsNamed(timeout: String) async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["online": false, "name": "red"])
            let id = try await bench.accepted(phone.token)
            let reply = try await bench.get("wait?token=\(phone.token)&timeout=\(timeout)")
            #expect(reply.status == 408)
            #expect(reply.code == "timed_out")
            #expect(reply.body[path: "nearest.id"] == .string(id))
            #expect(
                reply.message == "0 of 1 reached acknowledged. Nearest is push \(id). "
                    + "Stored: red (d1) is not connected.")
        }
    }

    @Test func theFieldThatDiffersIsNamed() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let id = try await bench.accepted(phone.token, "Hello")
            let differs = try await bench.get("wait?match=aps.alert.title=Bye&timeout=0")
            #expect(differs.body[path: "nearest.id"] == .string(id))
            #expect(differs.message.contains("Its payload differs: aps.alert.title is Hello, wanted Bye."))
            let missing = try await bench.get("wait?match=aps.badge=1&timeout=0")
            #expect(missing.message.contains("Its payload differs: aps.badge is missing, wanted 1."))
        }
    }

    @Test func aPushThatAgreesIsNearerThanANewerOneThatDiffers() async throws {
        try await ControlBench.run { bench in
            let away = try await bench.addDevice(["online": false])
            let there = try await bench.addDevice()
            let agrees = try await bench.accepted(away.token, "Hello")
            _ = try await bench.accepted(there.token, "Bye")
            let reply = try await bench.get("wait?match=aps.alert.title=Hello&timeout=0")
            #expect(reply.body[path: "nearest.id"] == .string(agrees))
        }
    }

    @Test func whatWasReachedIsNotTheNearestMiss() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            _ = try await bench.accepted(phone.token, "Hello")
            let reply = try await bench.get("wait?token=\(phone.token)&count=2&timeout=0")
            #expect(reply.message == "1 of 2 reached acknowledged. No other push came.")
            #expect(reply.body["nearest"] == .null)
        }
    }

    @Test func aRejectedPushIsAnsweredAtOnceWithItsReason() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            try await bench.change(phone, ["registered": false])
            let id = try #require(try await bench.push(phone.token).apnsID)
            let reply = try await bench.get("wait?push=\(id)&timeout=10m")
            #expect(reply.status == 408)
            #expect(reply.code == "will_not_happen")
            #expect(reply.message.contains("Rejected with 410 Unregistered"))
            #expect(try await bench.get("wait?push=\(id)&state=rejected&timeout=10m").status == 200)
        }
    }

    @Test func aWaitForAnUnregisteredTokenSaysSoWhenTheTimeIsUp() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            try await bench.change(phone, ["registered": false])
            let before = try await bench.get("wait?token=\(phone.token)&timeout=0")
            #expect(before.message.contains("The token is unregistered: pushes to it are rejected with 410"))
            let id = try #require(try await bench.push(phone.token).apnsID)
            let after = try await bench.get("wait?token=\(phone.token)&timeout=0")
            #expect(after.body[path: "nearest.id"] == .string(id))
            #expect(after.message.contains("Rejected with 410 Unregistered"))
            // It may register again, so there is hope until then.
            let wait = try await bench.begin("wait?token=\(phone.token)&timeout=1m")
            try await bench.change(phone, ["registered": true])
            _ = try await bench.accepted(phone.token)
            #expect(try await wait.value.status == 200)
        }
    }

    @Test func aReplacedPushWillNotArrive() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["online": false])
            let first = try await bench.accepted(phone.token, "one")
            let wait = try await bench.begin("wait?push=\(first)&timeout=1m")
            let second = try await bench.accepted(phone.token, "two")
            let reply = try await wait.value
            #expect(reply.code == "will_not_happen")
            #expect(reply.message.contains("Replaced by \(second)"))
            #expect(try await bench.get("wait?push=\(first)&state=replaced").status == 200)
        }
    }

    @Test func anExpiredPushWillNotArrive() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["online": false])
            var id = ""
            // On a machine that is busy for longer than that, it is over on arrival.
            repeat {
                let soon = Int64(Date().timeIntervalSince1970) + 2
                id = try await bench.accepted(phone.token) { $0.expirationSeconds = soon }
            } while try await bench.state(id) == "dropped"
            let wait = try await bench.begin("wait?push=\(id)&timeout=1m")
            #expect(try await bench.get("wait?push=\(id)&state=expired&timeout=1m").status == 200)
            let reply = try await wait.value
            #expect(reply.code == "will_not_happen")
            #expect(reply.message.contains("Expired before"))
        }
    }

    @Test func aDroppedPushWillNotArrive() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["online": false])
            let once = try await bench.accepted(phone.token) { $0.expirationSeconds = 0 }
            let reply = try await bench.get("wait?push=\(once)&timeout=1m")
            #expect(reply.code == "will_not_happen")
            #expect(reply.message.contains("tried only once"))

            let kept = try await bench.accepted(phone.token)
            let wait = try await bench.begin("wait?push=\(kept)&timeout=1m")
            #expect(try await bench.call("DELETE", "devices/\(phone.id)").status == 200)
            #expect(try await wait.value.message.contains("the device was removed"))
        }
    }

    @Test func anAcknowledgedPushWillNotFail() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice()
            let id = try await bench.accepted(phone.token)
            for state in ["rejected", "replaced", "expired", "dropped"] {
                #expect(try await bench.get("wait?push=\(id)&state=\(state)&timeout=1m").code == "will_not_happen")
            }
        }
    }

    @Test func aWaitForAPushThatAResetForgetsEnds() async throws {
        try await ControlBench.run { bench in
            let phone = try await bench.addDevice(["online": false])
            let id = try await bench.accepted(phone.token)
            let wait = try await bench.begin("wait?push=\(id)&timeout=1m")
            #expect(try await bench.call("POST", "reset").status == 200)
            #expect(try await wait.value.code == "unknown_push")
        }
    }
}
