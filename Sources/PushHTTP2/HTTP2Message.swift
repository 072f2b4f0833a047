/// A whole request (at the server) or response (at the client).
///
/// It comes out of an `HTTP2Pool` and goes back with the engine's `recycle`; its arrays keep their memory in between.
/// Bound to the engine's thread.
package final class HTTP2Message {
    package struct Field {
        package var name: Range<Int>
        package var value: Range<Int>
    }

    // Exclusive access is left unchecked here and in the engine's other records: no access is held across a call out,
    // and the checks at run time would take a tenth of the time of a request.

    @exclusivity(unchecked) package internal(set) var streamID: Int32 = 0
    /// All names and values, one after the other.
    @exclusivity(unchecked) package internal(set) var bytes: [UInt8] = []
    /// Where each field lies in `bytes`: pseudo fields first, in the order in which they came, repeated ones repeated.
    @exclusivity(unchecked) package internal(set) var fields: [Field] = []
    @exclusivity(unchecked) package internal(set) var body: [UInt8] = []
    /// Bytes of body the peer sent, kept or not.
    @exclusivity(unchecked) package internal(set) var bodyBytesSeen = 0
    /// Size of the fields as RFC 9113, section 6.5.2 counts it.
    @exclusivity(unchecked) var fieldBytesCounted = 0

    init() {}

    /// Where the value of the first field called `name` lies in `bytes`; nil if there is none.
    package func value(of name: StaticString) -> Range<Int>? {
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return bytes.withUnsafeBufferPointer { all in
            fields.withUnsafeBufferPointer { fields in
                for field in fields where field.name.count == wanted.count {
                    if unsafeEqual(all, at: field.name.lowerBound, wanted) { return field.value }
                }
                return nil
            }
        }
    }

    /// The value of the first field called `name` as text; bytes that are not UTF-8 are replaced. Allocates.
    package func text(of name: StaticString) -> String? {
        value(of: name).map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    func append(
        _ name: UnsafePointer<UInt8>, _ nameCount: Int, _ value: UnsafePointer<UInt8>, _ valueCount: Int
    ) {
        let start = bytes.count
        bytes.append(contentsOf: UnsafeBufferPointer(start: name, count: nameCount))
        bytes.append(contentsOf: UnsafeBufferPointer(start: value, count: valueCount))
        let middle = start + nameCount
        fields.append(Field(name: start..<middle, value: middle..<middle + valueCount))
    }

    /// Takes a part of the body; what goes beyond `bytesMax` is counted only.
    func appendBody(_ data: UnsafePointer<UInt8>, _ count: Int, bytesMax: Int) {
        bodyBytesSeen += count
        let kept = min(count, bytesMax - body.count)
        body.append(contentsOf: UnsafeBufferPointer(start: data, count: kept))
    }

    /// Empties it for the next use; a body's memory beyond `bodyBytesKept` is given back.
    func clear(bodyBytesKept: Int) {
        removeFields()
        body.removeAll(keepingCapacity: body.capacity <= bodyBytesKept)
        bodyBytesSeen = 0
        streamID = 0
    }

    func removeFields() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
        fieldBytesCounted = 0
    }
}

private func unsafeEqual(_ all: UnsafeBufferPointer<UInt8>, at start: Int, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool
{
    for index in 0..<wanted.count where all[start + index] != wanted[index] { return false }
    return true
}
