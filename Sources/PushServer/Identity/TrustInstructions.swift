/// How a program in each language is told to believe the local authority, as text for a terminal.
package enum TrustInstructions {
    package enum Runtime: String, CaseIterable, Sendable {
        case python = "Python"
        case node = "Node.js"
        case java = "Java"
        case go = "Go"
        case curl = "curl"
        case debian = "Debian and Ubuntu, whole system"
    }

    /// One paragraph for each runtime.
    package static func text(caPath: String) -> String {
        Runtime.allCases.map { "\($0.rawValue)\n\(lines(for: $0, caPath: caPath))" }.joined(separator: "\n")
    }

    /// What to type for one runtime; each line is indented and ends with a newline.
    package static func lines(for runtime: Runtime, caPath: String) -> String {
        let path = quoted(caPath)
        let lines: [String] =
            switch runtime {
            case .python:
                [
                    "export SSL_CERT_FILE=\(path)         # ssl, httpx, aiohttp, aioapns",
                    "export REQUESTS_CA_BUNDLE=\(path)    # requests",
                    "# Both replace the other authorities. To keep them, give a file that holds all:",
                    "# cat /etc/ssl/certs/ca-certificates.crt \(path) > all.pem",
                ]
            case .node:
                ["export NODE_EXTRA_CA_CERTS=\(path)    # in addition to the others; read at start"]
            case .java:
                [
                    "keytool -importcert -noprompt -alias localpush -file \(path) \\",
                    "    -keystore localpush.p12 -storetype PKCS12 -storepass changeit",
                    "export JAVA_TOOL_OPTIONS=\"-Djavax.net.ssl.trustStore=$PWD/localpush.p12"
                        + " -Djavax.net.ssl.trustStorePassword=changeit\"",
                    "# Replaces the other authorities for that process.",
                ]
            case .go:
                ["export SSL_CERT_FILE=\(path)    # Linux; read once, at the first TLS connection"]
            case .curl:
                ["curl --cacert \(path) …", "export CURL_CA_BUNDLE=\(path)    # or for every call"]
            case .debian:
                [
                    "sudo cp \(path) /usr/local/share/ca-certificates/localpush.crt && sudo update-ca-certificates",
                    "# and to take it back:",
                    "sudo rm /usr/local/share/ca-certificates/localpush.crt && sudo update-ca-certificates --fresh",
                    "# Whoever can read ca.key can then pose as any host to this system: prefer the lines above.",
                ]
            }
        return lines.map { "  \($0)\n" }.joined()
    }

    /// For a POSIX shell: as it is when harmless, else between single quotes.
    private static func quoted(_ path: String) -> String {
        let isHarmless = path.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x2F, 0x5F: true
            default: false
            }
        }
        if isHarmless && !path.isEmpty { return path }
        return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
