/// The hosts in whose place the server can stand: a client that reaches it under any of these names finds it in the
/// certificate.
package enum LocalHostNames {
    package static let all = local + apple + getui + jpush

    static let local = ["localhost", "127.0.0.1", "::1"]

    /// The wildcards cover the numbered courier hosts ("12-courier.push.apple.com").
    static let apple = [
        "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com",
        "api-broadcast.push.apple.com", "api-broadcast.sandbox.push.apple.com", "api-manage-broadcast.push.apple.com",
        "api-manage-broadcast.sandbox.push.apple.com", "courier.push.apple.com", "courier.sandbox.push.apple.com",
        "*.push.apple.com", "*.sandbox.push.apple.com",
    ]

    static let getui = [
        "restapi.getui.com", "cncrestapi.getui.com", "nzrestapi.getui.com", "api.getui.com", "sdk.open.api.igexin.com",
    ]

    static let jpush = [
        "api.jpush.cn", "device.jpush.cn", "report.jpush.cn", "admin.jpush.cn", "bjapi.push.jiguang.cn",
    ]
}
