import Testing

@testable import localpush

/// A small tree of commands with one option of every kind.
private enum Sample {
    static let title = Option.value("title", .anyText("TEXT"), "Title.")
    static let count = Option.value("count", .integer("N", 1...10), default: "1", "Count.")
    static let timeout = Option.value("timeout", .duration, default: "5s", "Timeout.")
    static let port = Option.value("port", .port, "Port.")
    static let via = Option.value("via", .choice(["apns", "getui"]), default: "apns", "Surface.")
    static let match = Option.list("match", .text("PATH=VALUE"), "Condition.")
    static let app = Option.value("app", .bundle, default: "com.example.app", "App.")
    static let follow = Option.flag("follow", letter: "f", "Follow.")
    static let server = Option.value(
        "server", .text("URL"), default: "http://127.0.0.1:7580", "Server.", environment: "SAMPLE_SERVER")

    static let send = Command(
        name: "send", summary: "sends",
        operands: [.one("N", .integer("N", 0...9), isRequired: false, "A digit.")],
        options: [
            title.declaration, count.declaration, timeout.declaration, port.declaration, via.declaration,
            match.declaration, app.declaration, follow.declaration,
        ], commonOptions: [server.declaration, CommonOption.help.declaration], run: { _ in .done })
    static let show = Command(
        name: "show", summary: "shows", operands: [.one("ID", .text("ID"), "Its id.")],
        commonOptions: CommonOption.plain, run: { _ in .done })
    static let devices = Command(
        name: "devices", summary: "groups", commonOptions: CommonOption.plain, subcommands: [show])
    static let root = Command(name: "localpush", summary: "all", subcommands: [send, devices])

    static func parse(_ line: String, _ environment: [String: String] = [:]) throws -> Arguments {
        let words = line.split(separator: " ").map(String.init)
        switch try ArgumentParser(root: root, environment: environment).parse(words) {
        case .run(_, let arguments, _): return arguments
        case .help, .topic, .version: throw CommandFailure("help or version")
        }
    }

    static func failure(_ line: String, _ environment: [String: String] = [:]) -> CommandFailure? {
        do {
            _ = try parse(line, environment)
            return nil
        } catch {
            return error as? CommandFailure
        }
    }
}

@Suite struct ArgumentParserTests {
    @Test func valuesAreReadAsTheirTypes() throws {
        let arguments = try Sample.parse(
            "send --title=a=b --count 3 --timeout 250ms --port 65535 --via getui --match a=1 --match b=2 "
                + "--app A-1.voip -f 7")
        #expect(arguments[Sample.title] == "a=b")
        #expect(arguments[Sample.count] == 3)
        #expect(arguments[Sample.timeout] == .milliseconds(250))
        #expect(arguments[Sample.port] == 65535)
        #expect(arguments[Sample.via] == "getui")
        #expect(arguments[Sample.match] == ["a=1", "b=2"])
        #expect(arguments[Sample.app] == "A-1.voip")
        #expect(arguments[Sample.follow])
        #expect(arguments.operands == ["7"])
    }

    @Test func defaultsStandInForWhatIsNotGiven() throws {
        let arguments = try Sample.parse("send")
        #expect(arguments[Sample.title] == nil)
        #expect(arguments[Sample.count] == 1)
        #expect(arguments[Sample.timeout] == .seconds(5))
        #expect(arguments[Sample.via] == "apns")
        #expect(arguments[Sample.match] == [])
        #expect(!arguments[Sample.follow])
        #expect(!arguments.has(Sample.count))
    }

    @Test(arguments: [
        ("snd", "did you mean send?"),
        ("xyz", "there are send, devices"),
        ("devices", "a command is missing; there are show"),
        ("devices shwo", "did you mean show?"),
        ("devices show", "ID is missing"),
        ("devices show a b", "no use for 'b'"),
        ("send --tilte x", "unknown option --tilte, did you mean --title?"),
        ("send --quux", "unknown option --quux"),
        ("send -x", "unknown option -x"),
        ("send --title", "--title needs a value"),
        ("send --title --count 1", "--title needs a value"),
        ("send --title -f", "--title needs a value"),
        ("send --count 11", "--count takes a whole number from 1 to 10, not '11'"),
        ("send --count 1 --count 2", "--count is given twice"),
        ("send --timeout soon", "--timeout takes a duration such as 250ms, 5s, 2m or 1h, not 'soon'"),
        ("send --port 65536", "--port takes a port from 0 to 65535"),
        ("send --via getiu", "--via takes one of apns, getui, not 'getiu', did you mean getui?"),
        ("send --app my_app!", "--app takes a bundle id (letters, digits, hyphens, periods) such as com.example.app"),
        ("send --follow=yes", "--follow takes no value"),
        ("send x", "N takes a whole number from 0 to 9, not 'x'"),
        ("--server x send", "the command comes first"),
    ])
    func aMistakeIsNamedWithExitCodeTwo(line: String, part: String) throws {
        let failure = try #require(Sample.failure(line))
        #expect(failure.description.contains(part))
        #expect(failure.exitCode == .usage)
    }

    @Test func aMistakeSaysWhichCommandItIsAbout() throws {
        #expect(try #require(Sample.failure("devices show")).path == ["devices", "show"])
    }

    @Test func aValueMayLookLikeAnOptionAfterAnEqualsSign() throws {
        #expect(try Sample.parse("send --title=--count")[Sample.title] == "--count")
    }

    @Test func aValueMayBeginWithOneDash() throws {
        #expect(try Sample.parse("send --title -1")[Sample.title] == "-1")
        #expect(try Sample.parse("send --title -")[Sample.title] == "-")
    }

    @Test func afterTwoDashesEverythingIsAWord() throws {
        #expect(try Sample.parse("devices show -- --help").operands == ["--help"])
    }

    @Test func theEnvironmentStandsInForAnOptionButDoesNotOverrideIt() throws {
        let environment = ["SAMPLE_SERVER": "http://other"]
        #expect(try Sample.parse("send", environment)[Sample.server] == "http://other")
        #expect(try Sample.parse("send --server http://given", environment)[Sample.server] == "http://given")
        #expect(try Sample.parse("send", ["SAMPLE_SERVER": ""])[Sample.server] == "http://127.0.0.1:7580")
    }

    @Test(
        arguments: [
            ("", []), ("--help", []), ("help", []), ("help devices show", ["devices", "show"]),
            ("devices --help", ["devices"]), ("devices show -h", ["devices", "show"]),
            ("send --count 1 --help", ["send"]),
        ] as [(String, [String])])
    func helpIsFoundEverywhere(line: String, expected: [String]) throws {
        let words = line.split(separator: " ").map(String.init)
        let outcome = try ArgumentParser(root: Sample.root, environment: [:]).parse(words)
        guard case .help(let path) = outcome else {
            Issue.record("not help: \(outcome)")
            return
        }
        #expect(path == expected)
    }
}
