internal import CPushLibevent

typealias EvhttpRequest = UnsafeMutablePointer<evhttp_request>

/// Reading and writing the pieces of an evhttp request; nothing here outlives its call.
enum EvhttpMessage {
    static let methods: [(name: String, type: evhttp_cmd_type)] = [
        ("GET", EVHTTP_REQ_GET), ("POST", EVHTTP_REQ_POST), ("PUT", EVHTTP_REQ_PUT), ("PATCH", EVHTTP_REQ_PATCH),
        ("DELETE", EVHTTP_REQ_DELETE), ("HEAD", EVHTTP_REQ_HEAD), ("OPTIONS", EVHTTP_REQ_OPTIONS),
    ]

    /// A copy of a request that arrived in full.
    static func request(_ raw: EvhttpRequest) -> HTTP1Request {
        let command = evhttp_request_get_command(raw)
        let uri = evhttp_request_get_evhttp_uri(raw)
        return HTTP1Request(
            method: methods.first { $0.type == command }?.name ?? "?",
            path: evhttp_uri_get_path(uri).map { String(cString: $0) } ?? "",
            query: evhttp_uri_get_query(uri).map { HTTP1Request.pairs(String(cString: $0)) } ?? [],
            headers: headers(evhttp_request_get_input_headers(raw)),
            body: takeAll(evhttp_request_get_input_buffer(raw)))
    }

    static func headers(_ list: UnsafeMutablePointer<evkeyvalq>?) -> [(name: String, value: String)] {
        var found: [(name: String, value: String)] = []
        var next = list?.pointee.tqh_first
        while let entry = next {
            found.append((String(cString: entry.pointee.key), String(cString: entry.pointee.value)))
            next = entry.pointee.next.tqe_next
        }
        return found
    }

    /// Adds headers; evhttp leaves out those that would break the line.
    static func add(_ headers: [(name: String, value: String)], to list: UnsafeMutablePointer<evkeyvalq>?) {
        for (name, value) in headers { evhttp_add_header(list, name, value) }
    }

    /// Moves everything out of a buffer.
    static func takeAll(_ buffer: OpaquePointer?) -> [UInt8] {
        let count = evbuffer_get_length(buffer)
        return [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
            initialized = max(0, Int(evbuffer_remove(buffer, target.baseAddress, count)))
        }
    }

    /// Calls `body` with a buffer that holds `bytes`, and frees it.
    static func withBuffer(_ bytes: [UInt8], _ body: (OpaquePointer) -> Void) {
        guard let buffer = evbuffer_new() else { preconditionFailure("a buffer fits into memory") }
        defer { evbuffer_free(buffer) }
        evbuffer_add(buffer, bytes, bytes.count)
        body(buffer)
    }
}
