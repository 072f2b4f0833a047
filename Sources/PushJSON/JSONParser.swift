internal import CPushSimdJSON

/// Reads JSON (RFC 8259), strictly: UTF-8 is checked, nothing may follow the value.
///
/// One parser per thread: it owns buffers that it reuses, so that documents of usual length need no allocation
/// beyond the values that come out.
package final class JSONParser {
    /// Deepest nesting of arrays and objects taken: the depth to which Foundation reads as well, so that a receiver
    /// can read what we accept. An empty one may lie one level deeper.
    package static let depthMax = 512
    /// Longest document taken, in bytes: more than any request body that we let in.
    package static let bytesMax = 16 * 1024 * 1024
    /// After a longer document the buffers are given back: they take fifteen times its length.
    private static let retainedBytesMax = 64 * 1024

    private let parser: OpaquePointer

    package init() {
        guard let parser = push_json_create(Self.bytesMax, Self.depthMax) else {
            preconditionFailure("memory for a parser")
        }
        self.parser = parser
    }

    deinit { push_json_destroy(parser) }

    /// Whether `bytes` are one JSON value that `parse` takes. Allocates nothing once the buffers have their size.
    package func isValid(_ bytes: Span<UInt8>) -> Bool {
        defer { releaseLargeBuffers() }
        return read(bytes) == push_json_ok
    }

    package func parse(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        defer { releaseLargeBuffers() }
        let status = read(bytes)
        guard status == push_json_ok else { throw refusal(status, of: bytes) }
        var tape = JSONTape(words: push_json_tape(parser), strings: push_json_strings(parser))
        return tape.root()
    }

    package func parse(_ text: String) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8).span)
    }

    /// Longest document, in bytes, that needs no new buffers; 0 before the first.
    package var retainedBytes: Int { push_json_capacity(parser) }

    private func read(_ bytes: Span<UInt8>) -> push_json_status {
        // The bytes are copied during the call.
        let status = bytes.withUnsafeBufferPointer { push_json_parse(parser, $0.baseAddress, $0.count) }
        precondition(status != push_json_memory, "memory for a document of at most \(Self.bytesMax) bytes")
        return status
    }

    private func releaseLargeBuffers() {
        if push_json_capacity(parser) > Self.retainedBytesMax { push_json_release(parser) }
    }

    private func refusal(_ status: push_json_status, of bytes: Span<UInt8>) -> JSONError {
        if status == push_json_too_long { return JSONError(.tooLong, "longer than \(Self.bytesMax) bytes", nil) }
        var diagnosis = JSONDiagnosis(bytes.withUnsafeBufferPointer { Array($0) })
        do {
            try diagnosis.run()
        } catch {
            return error
        }
        return JSONError(.structure, "refused", nil)
    }
}

@available(*, unavailable)
extension JSONParser: Sendable {}
