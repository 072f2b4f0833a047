/// How providers show who they are. Names begin with `auth.`.
package struct AuthSettings: Sendable {
    package init() {}

    static let table: [RuleSetting] = [
        RuleSetting(
            "auth.trustAnyKey", .flag(\.trustsAnyKey),
            "Accept well-formed provider tokens of unknown keys without checking the signature.")
    ]
}
