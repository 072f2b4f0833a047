import Foundation
import PushBytes
import PushCourier
import PushCrypto
import PushDevice
import PushTLS
import Testing

/// Very many connections, and devices that do not do their part.
@Suite(.serialized) struct CrowdTests {
    /// As many open files as this process may have.
    private static func raiseFileLimit() -> Int {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return 256 }
        limits.rlim_cur = limits.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        return Int(clamping: limits.rlim_cur)
    }

    @Test func amongTenThousandIdleConnectionsAPushIsAnsweredAndTheirFilesComeBack() throws {
        // The server holds both halves, we one of them, and either some more.
        let limit = Self.raiseFileLimit()
        let half = min(5000, (limit - 1000) / 2)
        if half < 5000 { print("only \(half) connections of each kind: \(limit) files may be open") }
        let server = try FaultServer(["--profile", "ideal"])
        let token = try FaultPhone.register(server)
        try RawProvider(server, token: token).send(0..<1)
        let descriptors = server.descriptorCount
        let memory = server.residentBytes

        let context = try TLSContext.client(
            trust: .authorities(pem: try server.text(ofFile: "ca")), applicationProtocols: ["h2"])
        let greeting = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
        var providers: [RawClient] = []
        for _ in 0..<half {
            let client = try RawClient(port: server.port("apns"), context: context)
            try client.send(greeting)
            providers.append(client)
        }
        let withProviders = server.residentBytes
        let farm = try Program(
            ["devices", "spawn", "\(half)", "--json"], in: server.directory,
            environment: ["LOCALPUSH_SERVER": server.url])
        #expect(farm.line(with: #""registered":\#(half)"#) != nil)
        let withDevices = server.residentBytes
        #expect(server.descriptorCount >= 2 * half)

        try RawProvider(server, token: token).send(1..<2)
        #expect(server.isHealthy)
        providers.removeAll()
        farm.interrupt()
        _ = farm.end()
        #expect(server.waitForDescriptors(atMost: descriptors), "\(server.descriptorNames), before \(descriptors)")
        #expect(try FaultPhone.run(server, count: 2).numbers == [0, 1])
        // The server gives memory back when it has been quiet for a while.
        #expect(eventually { server.residentBytes - memory < (withDevices - memory) / 2 })
        print(
            "\(half) idle providers: \((withProviders - memory) / half) bytes of RSS each;",
            "\(half) idle devices: \((withDevices - withProviders) / half) bytes each; RSS before \(memory >> 10) KiB,",
            "full \(withDevices >> 10) KiB, afterwards \(server.residentBytes >> 10) KiB")
    }

    /// A device in a known state: connected and listening, and from then on as deaf as its maker wants.
    private final class DeafDevice {
        let client: RawClient
        private(set) var token = ""
        private var decoder = CourierDecoder()

        init(_ server: FaultServer, _ context: TLSContext, _ identity: DeviceIdentity) throws {
            client = try RawClient(port: server.port("courier"), context: context)
            let clock = Int64(Date().timeIntervalSince1970 * 1000)
            try send(
                identity.connectFrame(baseToken: nil, clockMilliseconds: clock, random: SecureRandom.bytes(8)))
            let connected = try CourierConnectResponse(try frame(CourierConnectResponse.command))
            let base = connected.baseToken ?? []
            let topic = DeviceTopic("com.example.app")
            try send(CourierTokenRequest(baseToken: base, topicHash: topic.hash, topicName: topic.name))
            token = Hex.encode(try CourierTokenResponse(try frame(CourierTokenResponse.command)).token)
            try send(CourierFilter(baseToken: base, enabled: [topic.hash]))
        }

        private func send(_ message: some CourierMessage) throws {
            var bytes = ByteQueue()
            message.write(into: &bytes)
            try client.send(bytes.bytes)
        }

        private func frame(_ command: UInt8) throws -> CourierFrame {
            while true {
                while let frame = try decoder.next() {
                    if frame.command == command { return frame }
                }
                let bytes = try client.receive()
                if client.isEnded { throw RawClient.Failure(text: "the server has closed") }
                bytes.withUnsafeBufferPointer { decoder.receive($0.span) }
            }
        }
    }

    @Test func devicesThatNeverReadCostBoundedMemoryAndHinderNobody() throws {
        let server = try FaultServer(["--profile", "ideal"])
        let phone = try FaultPhone(server)
        let good = try RawProvider(server, token: try phone.token())
        try good.send(0..<1)
        #expect(try phone.numbers(upTo: 0) == [0])
        let descriptors = server.descriptorCount
        let context = try TLSContext.client(
            trust: .authorities(pem: try server.text(ofFile: "ca")), applicationProtocols: ["apns-security-v3"])
        let key = try RSAPrivateKey()
        let devices = try (0..<10).map { number in
            try DeafDevice(
                server, context,
                DeviceIdentity(
                    name: "deaf-\(number)", key: key, serial: SecureRandom.bytes(8),
                    unixSeconds: Int64(Date().timeIntervalSince1970)))
        }
        let memory = server.residentBytes
        for device in devices {
            let provider = try RawProvider(server, token: device.token)
            try provider.send(0..<1000, padding: 3900)
            #expect(provider.accepted.count == 1000)
        }
        // 40 MB were sent, of which each device's window lets out 1 MB.
        let growth = server.residentBytes - memory
        print("ten devices that never read, with 40 MB for them: \(growth >> 10) KiB of RSS")
        #expect(growth < 32 << 20)
        try good.send(1..<100)
        #expect(try phone.numbers(upTo: 99) == Array(1..<100))
        for device in devices { device.client.close() }
        #expect(server.waitForDescriptors(atMost: descriptors), "\(server.descriptorNames), before \(descriptors)")
        phone.interrupt()
    }
}
