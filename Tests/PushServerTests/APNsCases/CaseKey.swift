import PushCrypto
import PushServer

/// A key of its own, registered with the server through the control API.
struct CaseKey {
    let id: String
    let team: String
    let key: ES256PrivateKey

    init(_ bench: CaseBench, _ id: String, team: String = LocalPushDefaults.team, _ more: String = "") throws {
        self.id = id
        self.team = team
        key = try ES256PrivateKey()
        let pem = key.publicKey.pem.replacing("\n", with: "\\n")
        try bench.control("POST", "keys", #"{"id":"\#(id)","team":"\#(team)","pem":"\#(pem)"\#(more)}"#)
    }

    func token(_ bench: CaseBench, age: Int64 = 0) throws -> String {
        "bearer " + (try bench.providerToken(age: age, keyID: id, team: team, key: key))
    }
}
