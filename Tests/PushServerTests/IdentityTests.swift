import Foundation
import Glibc
import PushBytes
import PushCrypto
import PushTLS
import Testing

@testable import PushServer

/// A directory that is gone when the test is over.
private final class Scratch {
    let path = NSTemporaryDirectory() + "push-identity-" + UUID().uuidString

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func text(_ name: String) throws -> String { try String(contentsOfFile: path + "/" + name, encoding: .utf8) }

    func write(_ text: String, _ name: String) throws {
        try text.write(toFile: path + "/" + name, atomically: false, encoding: .utf8)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

@Suite struct IdentityTests {
    private static let now: Int64 = 1_800_000_000
    private static let day: Int64 = 86_400
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func open(now: Int64 = now, names: [String] = LocalHostNames.all) throws -> LocalIdentity {
        try LocalIdentity.open(directory: scratch.path, now: now, names: names)
    }

    private func server(_ identity: LocalIdentity) throws -> Certificate {
        try Certificate(pem: identity.serverChain)
    }

    @Test func firstUseMakesAllFilesAndClosesTheSecretOnes() throws {
        let identity = try LocalIdentity.open(directory: scratch.path + "/a/b", now: Self.now)
        #expect(identity.directory.hasSuffix("/a/b"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: identity.directory).sorted()
                == ["AuthKey_LOCALPUSH1.p8", "ca.key", "ca.pem", "server.key", "server.pem"])
        #expect(try scratch.mode("a") == 0o700)
        #expect(try scratch.mode("a/b") == 0o700)
        for name in ["ca.key", "server.key", "AuthKey_LOCALPUSH1.p8"] {
            #expect(try scratch.mode("a/b/" + name) == 0o600)
        }
        #expect(try String(contentsOfFile: identity.authorityPath, encoding: .utf8) == identity.authority.pem)
        let providerPEM = try String(contentsOfFile: identity.providerKeyPath, encoding: .utf8)
        #expect(providerPEM == identity.providerKey.pem && providerPEM.hasPrefix("-----BEGIN PRIVATE KEY-----"))
    }

    @Test func laterUseLoadsTheSame() throws {
        let first = try open()
        let before = try scratch.names().map { try scratch.text($0) }
        let second = try open(now: Self.now + 300 * Self.day)
        #expect(second.authority.der == first.authority.der)
        #expect(second.serverChain == first.serverChain && second.serverKey == first.serverKey)
        #expect(second.providerKey.pem == first.providerKey.pem)
        #expect(try scratch.names().map { try scratch.text($0) } == before)
    }

    @Test func certificatesLastAsLongAsPromised() throws {
        let identity = try open()
        #expect(identity.authority.notAfter == Self.now + 3650 * Self.day)
        #expect(try server(identity).notAfter == Self.now + 397 * Self.day)
        #expect(try server(identity).notBefore == Self.now - Self.day)
        #expect(try server(identity).isIssued(by: identity.authority))
    }

    @Test func serverCertificateIsRenewedWithinThirtyDaysOfItsEnd() throws {
        let first = try open()
        let edge = Self.now + 367 * Self.day
        #expect(try open(now: edge - 1).serverChain == first.serverChain)
        let renewed = try open(now: edge)
        #expect(renewed.serverChain != first.serverChain && renewed.serverKey == first.serverKey)
        #expect(renewed.authority.der == first.authority.der)
        #expect(try server(renewed).notAfter == edge + 397 * Self.day)
    }

    @Test func serverCertificateNeverOutlivesTheAuthority() throws {
        let first = try open()
        let late = first.authority.notAfter - 10
        #expect(try server(open(now: late)).notAfter == first.authority.notAfter)
    }

    @Test func clockSetBackMakesANewServerCertificate() throws {
        let first = try open()
        let second = try open(now: Self.now - 10 * Self.day)
        #expect(second.serverChain != first.serverChain)
        #expect(try server(second).notBefore < Self.now - 10 * Self.day)
    }

    @Test func otherNamesMakeANewServerCertificate() throws {
        let first = try open(names: ["localhost"])
        let second = try open(names: ["localhost", "10.0.0.7"])
        #expect(try server(second).subjectAlternativeNames == ["localhost", "10.0.0.7"])
        #expect(second.authority.der == first.authority.der)
    }

    @Test(arguments: ["server.pem", "server.key", "AuthKey_LOCALPUSH1.p8"], ["", nil])
    func missingOrEmptyFileIsMadeAgainUnderTheSameAuthority(name: String, text: String?) throws {
        let first = try open()
        if let text { try scratch.write(text, name) } else { try scratch.remove(name) }
        let second = try open()
        #expect(second.authority.der == first.authority.der)
        #expect(try server(second).belongs(to: ES256PrivateKey(pem: second.serverKey)))
        #expect(try scratch.names().count == 5)
        #expect(try open().serverChain == second.serverChain)
    }

    @Test(arguments: ["server.pem", "server.key"]) func damagedServerFileIsMadeAgain(name: String) throws {
        let first = try open()
        try scratch.write("nonsense", name)
        let second = try open()
        #expect(second.authority.der == first.authority.der && second.serverChain != first.serverChain)
        #expect(try server(second).belongs(to: ES256PrivateKey(pem: second.serverKey)))
    }

    /// As a crash leaves it after the new key was written and before the new certificate.
    @Test func serverKeyOfAnotherCertificateGetsANewCertificate() throws {
        _ = try open()
        let key = try ES256PrivateKey()
        try scratch.write(key.pem, "server.key")
        let second = try open()
        #expect(second.serverKey == key.pem)
        #expect(try server(second).belongs(to: key))
    }

    @Test func whileOneProcessWorksOnTheDirectoryOthersWait() throws {
        let other = Glibc.open(scratch.path, O_RDONLY | O_DIRECTORY)
        defer { close(other) }
        do {
            let directory = try IdentityDirectory.open(scratch.path)
            #expect(flock(other, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK)
            #expect(directory.path(of: "x").hasSuffix("/x"))
        }
        #expect(flock(other, LOCK_SH | LOCK_NB) == 0)
    }

    @Test func authorityWithoutCertificateIsMadeAnewWithAllBelowIt() throws {
        let first = try open()
        try scratch.remove("ca.pem")
        let second = try open()
        #expect(second.authority.der != first.authority.der)
        #expect(second.authority.commonName != first.authority.commonName)
        #expect(try server(second).isIssued(by: second.authority))
        #expect(second.serverChain.hasSuffix(second.authority.pem))
        #expect(second.providerKey.pem == first.providerKey.pem)
    }

    @Test(arguments: [
        ("ca.pem", "nonsense", "ca.pem"), ("ca.key", "nonsense", "ca.key"), ("ca.key", "", "ca.key"),
        ("AuthKey_LOCALPUSH1.p8", "nonsense", "AuthKey_LOCALPUSH1.p8"),
    ]) func damageThatClientsWouldNoticeIsAnErrorThatNamesTheFile(
        name: String, text: String, named: String
    ) throws {
        _ = try open()
        let before = try scratch.text("ca.pem")
        try scratch.write(text, name)
        try scratch.remove("server.pem")
        let error = #expect(throws: IdentityError.self) { try open() }
        #expect(error?.path.hasSuffix("/" + named) == true)
        #expect(error?.remedy.contains("delete") == true)
        #expect(try scratch.text(name) == text)
        #expect(try name == "ca.pem" || scratch.text("ca.pem") == before)
    }

    /// Its owner may keep it elsewhere.
    @Test func authorityKeyIsNotNeededWhileTheServerCertificateLasts() throws {
        let first = try open()
        try scratch.remove("ca.key")
        #expect(try open().serverChain == first.serverChain)
    }

    @Test func authorityKeyOfAnotherIsAnError() throws {
        _ = try open()
        try scratch.write(ES256PrivateKey().pem, "ca.key")
        try scratch.remove("server.pem")
        let error = #expect(throws: IdentityError.self) { try open() }
        #expect(error?.problem == "belongs to another authority")
    }

    @Test func authorityThatHasRunOutIsAnError() throws {
        let identity = try open()
        let error = #expect(throws: IdentityError.self) { try open(now: identity.authority.notAfter) }
        #expect(error?.problem == "has run out")
    }

    @Test func secretThatOthersMayReadIsClosed() throws {
        _ = try open()
        for name in ["ca.key", "server.key", "AuthKey_LOCALPUSH1.p8"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: scratch.path + "/" + name)
        }
        _ = try open()
        for name in ["ca.key", "server.key", "AuthKey_LOCALPUSH1.p8"] { #expect(try scratch.mode(name) == 0o600) }
    }

    @Test func draftLeftByACrashIsNoHindrance() throws {
        try scratch.write("half", "ca.pem.new")
        _ = try open()
        #expect(try scratch.names().count == 5)
    }

    @Test func fileInPlaceOfTheDirectoryIsAnErrorThatNamesIt() throws {
        try scratch.write("", "file")
        for path in ["/file", "/file/below"] {
            let error = #expect(throws: IdentityError.self) {
                try LocalIdentity.open(directory: scratch.path + path, now: Self.now)
            }
            #expect(error?.path.contains("/file") == true)
            #expect(error?.code == ENOTDIR)
            #expect(error?.remedy == "choose a data directory that is no file")
        }
    }

    @Test(arguments: ["ca.pem", "ca.key", "server.pem", "server.key", "AuthKey_LOCALPUSH1.p8"])
    func directoryInPlaceOfAFileIsAnErrorThatNamesIt(name: String) throws {
        try FileManager.default.createDirectory(atPath: scratch.path + "/" + name, withIntermediateDirectories: true)
        let error = #expect(throws: IdentityError.self) { try open() }
        #expect(error?.path.hasSuffix("/" + name) == true)
        #expect(try !scratch.names().contains { $0.hasSuffix(".new") })
    }

    @Test func manyAtOnceEndWithOneIdentity() async throws {
        let path = scratch.path
        let authorities = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 {
                group.addTask { try LocalIdentity.open(directory: path, now: Self.now).authority.der }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(authorities.count == 1)
    }

    @Test func descriptionOfAnErrorNamesTheFileAndTheRemedy() throws {
        _ = try open()
        try scratch.remove("ca.key")
        try scratch.remove("server.pem")
        let error = #expect(throws: IdentityError.self) { try open() }
        #expect(
            error?.description
                == "\(authorityKeyPath()): is missing; restore it, or delete ca.pem to get a new authority")
    }

    private func authorityKeyPath() -> String {
        URL(fileURLWithPath: scratch.path).resolvingSymlinksInPath().path + "/ca.key"
    }

    /// The clock of the check is the real one, so the identity is made for now.
    @Test func clientsAcceptTheServerUnderEachName() throws {
        let identity = try open(now: Int64(Date().timeIntervalSince1970))
        let server = try TLSContext.server(
            certificateChain: identity.serverChain, privateKey: identity.serverKey, applicationProtocols: ["h2"])
        let client = try TLSContext.client(
            trust: .authorities(pem: identity.authority.pem), applicationProtocols: ["h2"])
        let hosts =
            LocalHostNames.all.filter { !$0.hasPrefix("*") } + [
                "12-courier.push.apple.com", "7-courier.sandbox.push.apple.com", "init.push.apple.com",
            ]
        for host in hosts {
            let pair = (client: try TLSEngine(client: client, host: host), server: try TLSEngine(server: server))
            try Self.shakeHands(pair.client, pair.server)
            #expect(pair.client.isEstablished && pair.server.isEstablished, "\(host)")
        }
        let stranger = try TLSEngine(client: client, host: "www.apple.com")
        #expect(throws: TLSError.self) { try Self.shakeHands(stranger, try TLSEngine(server: server)) }
    }

    private static func shakeHands(_ client: TLSEngine, _ server: TLSEngine) throws {
        try client.start()
        var plain = ByteQueue()
        for _ in 0..<4 {
            for (from, to) in [(client, server), (server, client)] {
                var cipher = ByteQueue()
                from.drain(into: &cipher)
                try cipher.withSpan { (bytes) throws(TLSError) in try to.receive(bytes, into: &plain) }
            }
        }
    }
}

@Suite struct TrustInstructionsTests {
    @Test func eachRuntimeGetsThePath() {
        let text = TrustInstructions.text(caPath: "/data/ca.pem")
        for word in [
            "SSL_CERT_FILE=/data/ca.pem", "NODE_EXTRA_CA_CERTS=/data/ca.pem", "keytool", "--cacert /data/ca.pem",
        ] {
            #expect(text.contains(word))
        }
        for runtime in TrustInstructions.Runtime.allCases {
            #expect(text.contains(runtime.rawValue + "\n  "))
            #expect(TrustInstructions.lines(for: runtime, caPath: "/data/ca.pem").contains("/data/ca.pem"))
        }
    }

    @Test func strangePathIsQuotedForTheShell() {
        let lines = TrustInstructions.lines(for: .node, caPath: "/my data/it's/$x")
        #expect(lines.contains(#"='/my data/it'\''s/$x' "#))
    }

    @Test func namesOfTheListAreAllDifferent() {
        #expect(Set(LocalHostNames.all).count == LocalHostNames.all.count)
        #expect(LocalHostNames.all.first == "localhost")
    }
}
