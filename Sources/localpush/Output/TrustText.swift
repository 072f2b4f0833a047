internal import PushJSON

/// How each runtime is told to trust the local authority.
enum TrustText {
    struct Recipe {
        let runtime: String
        let meaning: String
        /// Shell lines, or lines of the runtime's language.
        let lines: [String]
    }

    static let runtimes = ["python", "node", "java", "go", "curl", "system"]

    /// `ca` is the absolute path of the authority's certificate.
    static func recipes(ca: String) -> [Recipe] {
        let quoted = Completions.quoted(ca)
        return [
            Recipe(
                runtime: "python",
                meaning:
                    "ssl and httpx read SSL_CERT_FILE in place of their own list; requests reads REQUESTS_CA_BUNDLE.",
                lines: ["export SSL_CERT_FILE=\(quoted)", "export REQUESTS_CA_BUNDLE=\(quoted)"]),
            Recipe(
                runtime: "node", meaning: "Added to the built-in list; read once, when node starts.",
                lines: ["export NODE_EXTRA_CA_CERTS=\(quoted)"]),
            Recipe(
                runtime: "java", meaning: "A trust store of its own, named when the virtual machine starts.",
                lines: [
                    "keytool -importcert -noprompt -alias localpush -file \(quoted) \\",
                    "    -keystore localpush.p12 -storetype PKCS12 -storepass localpush",
                    "java -Djavax.net.ssl.trustStore=localpush.p12 \\",
                    "    -Djavax.net.ssl.trustStorePassword=localpush -jar …",
                ]),
            Recipe(
                runtime: "go", meaning: "On Linux crypto/x509 reads SSL_CERT_FILE in place of the system's list.",
                lines: ["export SSL_CERT_FILE=\(quoted)"]),
            Recipe(
                runtime: "curl", meaning: "One call, or all calls of a shell.",
                lines: ["curl --cacert \(quoted) …", "export CURL_CA_BUNDLE=\(quoted)"]),
            Recipe(
                runtime: "system",
                meaning: "For everything on a Debian or Ubuntu machine. Remove it when you are done: whoever has the "
                    + "authority's key can then pose as any site on this machine.",
                lines: [
                    "sudo cp \(quoted) /usr/local/share/ca-certificates/localpush.crt",
                    "sudo update-ca-certificates",
                ]),
        ]
    }

    static func text(_ recipes: [Recipe]) -> String {
        let parts = recipes.map { recipe in
            let meaning = TextWrap.wrap("\(recipe.runtime): \(recipe.meaning)", columns: HelpText.columnsMax)
            return (meaning + recipe.lines.map { "    \($0)" }).joined(separator: "\n")
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    static func json(_ recipes: [Recipe], ca: String) -> JSONValue {
        let rows = recipes.map { recipe -> JSONValue in
            [
                "runtime": .string(recipe.runtime), "meaning": .string(recipe.meaning),
                "lines": .array(recipe.lines.map { .string($0) }),
            ]
        }
        return ["ca": .string(ca), "recipes": .array(rows)]
    }
}
