import PushHTTP1
import Testing

@Suite struct HTTP1MessageTests {
    @Test(
        arguments: [
            ("", []), ("/", []), ("/a//b/", ["a", "b"]), ("/a%2Fb/c", ["a/b", "c"]), ("/100%/x%zz", ["100%", "x%zz"]),
            ("/%E4%BD%A0+%e5%a5%bd", ["你+好"]), ("/%", ["%"]), ("/%4", ["%4"]), ("/%41", ["A"]),
        ] as [(String, [String])])
    func pathSegmentsAreDecodedAfterSplitting(path: String, expected: [String]) {
        #expect(HTTP1Request(method: "GET", path: path).pathSegments == expected)
    }

    @Test func queryPairsAreDecodedInOrder() {
        let pairs = HTTP1Request.pairs("a=1&b=x+y%3D&a=2&flag&=nameless&e=")
        #expect(pairs.map(\.name) == ["a", "b", "a", "flag", "", "e"])
        #expect(pairs.map(\.value) == ["1", "x y=", "2", "", "nameless", ""])
        let request = HTTP1Request(method: "GET", path: "/", query: pairs)
        #expect(request.queryValue("a") == "2" && request.queryValue("A") == nil)
    }

    @Test func headersAreFoundInAnyCase() {
        let request = HTTP1Request(method: "GET", path: "/", headers: [("X-One", "1"), ("x-one", "2")])
        #expect(request.header("x-ONE") == "1" && request.header("x-on") == nil && request.header("x_one") == nil)
    }
}
