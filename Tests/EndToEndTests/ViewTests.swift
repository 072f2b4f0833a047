import Testing

@testable import localpush

private var pushes: PushText { PushText(time: { "T\($0)" }) }
private var devices: DeviceText { DeviceText(time: { "T\($0)" }) }

@Suite struct PushTextTests {
    @Test func aPushIsOneLineInATable() throws {
        let push = try JSONText.parse(
            #"{"receivedAt":5,"id":"A-1","app":"com.example.app","state":"stored","sentence":"It waits."}"#)
        let text = pushes.table([push])
        #expect(
            text == """
                TIME  ID   APP              STATE   WHAT HAPPENED
                T5    A-1  com.example.app  stored  It waits.

                """)
    }

    @Test func aPageTellsHeadersPayloadLifeLineAndSentence() throws {
        let push = try JSONText.parse(
            #"""
            {"id":"A-1","app":"com.example.app","token":"ab","receivedAt":1000,"status":200,"priority":10,
            "expiration":0,"state":"acknowledged","payload":{"aps":{"alert":"Hi\u001b"}},
            "lifeLine":[{"seq":1,"state":"accepted","at":1000},{"seq":2,"state":"sent","at":1003,"detail":"to d1"},
            {"seq":3,"state":"acknowledged","at":2240,"detail":{"status":0}}],"sentence":"It arrived."}
            """#)
        let text = pushes.page(push)
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

    @Test(arguments: [
        "{}", "null", "[1]", #"{"id":2,"receivedAt":"x","lifeLine":{}}"#,
        #"{"expiration":9223372036854775807,"receivedAt":5,"lifeLine":[null,1,{"at":-9223372036854775808}]}"#,
    ])
    func whatTheServerLeavesOutOrGetsWrongDoesNotTrap(text: String) throws {
        let value = try JSONText.parse(text)
        #expect(!pushes.page(value).isEmpty)
        #expect(!pushes.table([value]).isEmpty)
        #expect(!devices.page(value).isEmpty)
        #expect(!devices.table([value]).isEmpty)
    }
}

@Suite struct DeviceTextTests {
    @Test func eachAppOnADeviceIsOneLine() throws {
        let phone = try JSONText.parse(
            #"""
            {"id":"d1","name":"phone","virtual":true,"online":true,"registrations":[
            {"app":"a","token":"01","queued":2},{"app":"b","token":"02","queued":0,"expired":true}]}
            """#)
        let other = try JSONText.parse(
            #"{"id":"d2","name":"","virtual":false,"online":false,"registrations":[]}"#)
        let text = devices.table([phone, other])
        #expect(
            text == """
                ID  NAME   KIND     STATE    APP  QUEUED  TOKEN
                d1  phone  virtual  online   a    2       01
                d1  phone  virtual  online   b    0       02 (expired)
                d2         process  offline

                """)
    }

    @Test func aPageListsEachRegistration() throws {
        let device = try JSONText.parse(
            #"""
            {"id":"d1","virtual":false,"online":true,"connectedAt":9,
            "registrations":[{"app":"a","token":"01","registered":false}]}
            """#)
        let text = devices.page(device)
        #expect(text.contains("connected    T9\n"))
        #expect(text.contains("token      01 (unregistered)\n"))
    }
}
