import Testing

@testable import localpush

@Suite struct DoctorTests {
    private static let now: Int64 = 1_800_000_000

    /// A machine on which nothing needs doing.
    private static var healthy: MachineFacts {
        var facts = MachineFacts()
        facts.ports = [.init(surface: "courier", option: "--courier-port", number: 5223, state: .free)]
        facts.wallMilliseconds = now * 1000
        facts.programSeconds = now - 1000
        facts.fileLimitSoft = 1024
        facts.fileLimitHard = 65_536
        facts.dataDirectory = ".localpush"
        facts.isDataDirectoryThere = true
        facts.freeBytes = 10 << 30
        facts.certificates = [.init(path: "ca.pem", validity: (now - 1)...(now + 365 * 86_400))]
        facts.libraries = [("openssl", "3.0")]
        return facts
    }

    private static func bad(_ change: (inout MachineFacts) -> Void) -> [Finding] {
        var facts = healthy
        change(&facts)
        return DoctorRules.findings(facts).filter { $0.verdict == .bad }
    }

    @Test func nothingNeedsDoingOnAHealthyMachine() {
        #expect(Self.bad { _ in }.isEmpty)
        #expect(DoctorText.text(DoctorRules.findings(Self.healthy)).hasSuffix("All is well.\n"))
    }

    @Test func aTakenPortNamesItsHolderAndTheOption() throws {
        let findings = Self.bad {
            $0.ports = [
                .init(
                    surface: "courier", option: "--courier-port", number: 5223,
                    state: .taken(.init(pid: 7, name: "nc")))
            ]
        }
        let finding = try #require(findings.first)
        #expect(finding.message == "taken by nc (process 7)")
        #expect(finding.remedy?.contains("--courier-port 0") == true)
    }

    @Test func aPortThatLocalPushHoldsIsNoFault() {
        let findings = Self.bad {
            $0.ports = [
                .init(
                    surface: "courier", option: "--courier-port", number: 5223,
                    state: .taken(.init(pid: 7, name: "localpush")))
            ]
        }
        #expect(findings.isEmpty)
    }

    @Test func eachThingThatIsWrongIsOneFindingWithARemedy() {
        let changes: [(inout MachineFacts) -> Void] = [
            { $0.ports = [.init(surface: "a", option: "--a", number: 80, state: .refused("Permission denied"))] },
            { $0.ports = [.init(surface: "a", option: "--a", number: 80, state: .taken(nil))] },
            { $0.wallMilliseconds = 1000 },
            { $0.programSeconds = Self.now + 10 * 86_400 },
            { $0.fileLimitHard = 256 },
            { $0.isDataDirectoryWritable = false },
            { $0.freeBytes = 1 },
            { $0.certificates = [.init(path: "ca.pem", validity: nil)] },
            { $0.certificates = [.init(path: "ca.pem", validity: (Self.now + 1)...(Self.now + 2))] },
            { $0.certificates = [.init(path: "ca.pem", validity: 0...(Self.now - 1))] },
            { $0.certificates = [.init(path: "ca.pem", validity: 0...(Self.now + 86_400))] },
        ]
        for (index, change) in changes.enumerated() {
            let findings = Self.bad(change)
            // The clock before 2025 is also before the certificate.
            #expect(findings.count == (index == 2 ? 2 : 1), "change \(index)")
            #expect(findings.allSatisfy { $0.remedy != nil })
        }
    }

    @Test func theReportIsOneObjectForMachines() {
        let json = JSONText.line(DoctorText.json(DoctorRules.findings(Self.healthy)))
        #expect(json.hasPrefix(#"{"ok":true,"findings":[{"subject":"port 5223 (courier)","verdict":"ok","#))
    }

    @Test func listeningSocketsAreReadFromTheKernelsTable() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1467 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 1681 1 0 100 0 0 10 0
               1: 0100007F:1468 0100007F:1467 01 00000000:00000000 00:00000000 00000000  0  0 1682 1 0 100 0 0 10 0
            garbage
            """
        #expect(ListeningSocket.parse(table) == [ListeningSocket(port: 5223, inode: "1681")])
    }
}
