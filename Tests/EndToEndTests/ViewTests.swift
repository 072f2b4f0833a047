import Testing

@testable import localpush

private let pushes = PushText(time: { "T\($0)" })
private let devices = DeviceText(time: { "T\($0)" })

@Suite struct PushTextTests {
    @Test func aPushIsOneLineInATable() {
        let text = pushes.table([
            ["receivedAt": 5, "id": "A-1", "app": "com.example.app", "state": "stored", "sentence": "It waits."]
        ])
        #expect(
            text == """
                TIME  ID   APP              STATE   WHAT HAPPENED
                T5    A-1  com.example.app  stored  It waits.

                """)
    }

    @Test func aPageTellsHeadersPayloadLifeLineAndSentence() {
        let text = pushes.page([
            "id": "A-1", "app": "com.example.app", "token": "ab", "receivedAt": 1000, "status": 200, "priority": 10,
            "expiration": 0, "state": "acknowledged", "payload": ["aps": ["alert": "Hi\u{1B}"]],
            "lifeLine": [
                ["seq": 1, "state": "accepted", "at": 1000],
                ["seq": 2, "state": "sent", "at": 1003, "detail": "to d1"],
                ["seq": 3, "state": "acknowledged", "at": 2240, "detail": ["status": 0]],
            ], "sentence": "It arrived.",
        ])
        #expect(
            text == """
                push         A-1
                app          com.example.app
                token        ab
                received     T1000
                priority     10
                expiration   0
                status       200
                state        acknowledged

                Payload:
                  {
                    "aps": {
                      "alert": "Hi\\u001b"
                    }
                  }

                Life line:
                  AFTER   STATE         DETAIL
                  0 ms    accepted
                  3 ms    sent          to d1
                  1.24 s  acknowledged  {"status":0}

                It arrived.

                """)
    }

    @Test func whatTheServerLeavesOutOrGetsWrongDoesNotTrap() {
        #expect(!pushes.page([:]).isEmpty)
        #expect(!pushes.page(["expiration": 9_223_372_036_854_775_807, "lifeLine": [nil]]).isEmpty)
        #expect(!pushes.table([nil, 1, ["id": 2]]).isEmpty)
    }
}

@Suite struct DeviceTextTests {
    @Test func eachAppOnADeviceIsOneLine() {
        let text = devices.table([
            [
                "id": "d1", "name": "phone", "virtual": true, "online": true,
                "registrations": [
                    ["app": "a", "token": "01", "queued": 2],
                    ["app": "b", "token": "02", "queued": 0, "expired": true],
                ],
            ],
            ["id": "d2", "name": "", "virtual": false, "online": false, "registrations": []],
        ])
        #expect(
            text == """
                ID  NAME   KIND     STATE    APP  QUEUED  TOKEN
                d1  phone  virtual  online   a    2       01
                d1  phone  virtual  online   b    0       02 (expired)
                d2         process  offline

                """)
    }

    @Test func aPageListsEachRegistration() {
        let text = devices.page([
            "id": "d1", "virtual": false, "online": true, "connectedAt": 9,
            "registrations": [["app": "a", "token": "01", "registered": false]],
        ])
        #expect(text.contains("connected    T9\n"))
        #expect(text.contains("token      01 (unregistered)\n"))
    }
}
