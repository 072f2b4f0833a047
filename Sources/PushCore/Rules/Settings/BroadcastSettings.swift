/// Broadcast pushes and their channels. Names begin with `broadcast.`.
package struct BroadcastSettings: Sendable {
    package init() {}

    static let table: [RuleSetting] = []
}
