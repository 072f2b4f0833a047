#include "CPushSimdJSON.h"

#include <simdjson.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <new>

namespace dom = simdjson::dom;

struct push_json_parser {
    // The library refuses what reaches its limit, hence one more.
    push_json_parser(size_t bytes_max, size_t depth_max) : bytes_max(bytes_max), library_depth_max(depth_max + 1) {}

    const size_t bytes_max;
    const size_t library_depth_max;
    size_t capacity = 0;
    std::unique_ptr<uint8_t[]> padded;
    dom::parser parser;
};

namespace {

// The smallest buffer holds every push payload; growth doubles, so that a run of ever longer documents settles.
constexpr size_t capacity_min = 8192;

enum push_json_status status_of(simdjson::error_code code) {
    switch (code) {
        case simdjson::SUCCESS: return push_json_ok;
        case simdjson::MEMALLOC: return push_json_memory;
        default: return push_json_invalid;
    }
}

void release(push_json_parser &self) {
    self.capacity = 0;
    self.padded.reset();
    self.parser = dom::parser();
}

bool reserve(push_json_parser &self, size_t count) {
    if (count <= self.capacity) { return true; }
    size_t capacity = capacity_min;
    while (capacity < count) { capacity *= 2; }
    release(self);
    self.padded.reset(new (std::nothrow) uint8_t[capacity + simdjson::SIMDJSON_PADDING]());
    if (!self.padded || self.parser.allocate(capacity, self.library_depth_max) != simdjson::SUCCESS
        || self.parser.doc.allocate(capacity) != simdjson::SUCCESS) {
        release(self);
        return false;
    }
    self.capacity = capacity;
    return true;
}

simdjson::error_code parse_padded(push_json_parser &self, size_t count) {
    return self.parser.parse(self.padded.get(), count, false).error();
}

bool is_number_byte(uint8_t byte) {
    return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' || byte == 'e' || byte == 'E';
}

bool overflows(const uint8_t *first, const uint8_t *last) {
    int64_t value;
    auto begin = reinterpret_cast<const char *>(first), end = reinterpret_cast<const char *>(last);
    auto result = std::from_chars(begin, end, value);
    return result.ptr == end && result.ec == std::errc::result_out_of_range;
}

// simdjson 3.0 refuses integers beyond 64 bits, which RFC 8259 allows. Writing "e0" behind them makes it read a
// double. Runs only after a number was refused. Returns the length of the new document.
size_t spell_out_large_integers(const uint8_t *bytes, size_t count, uint8_t *out) {
    size_t length = 0;
    bool in_string = false;
    for (size_t index = 0; index < count;) {
        const uint8_t byte = bytes[index];
        if (in_string || !is_number_byte(byte)) {
            if (in_string && byte == '\\' && index + 1 < count) { out[length++] = bytes[index++]; }
            else if (byte == '"') { in_string = !in_string; }
            out[length++] = bytes[index++];
            continue;
        }
        const size_t start = index;
        while (index < count && is_number_byte(bytes[index])) { out[length++] = bytes[index++]; }
        if (overflows(bytes + start, bytes + index)) {
            out[length++] = 'e';
            out[length++] = '0';
        }
    }
    return length;
}

enum push_json_status parse(push_json_parser &self, const uint8_t *bytes, size_t count) {
    if (count > self.bytes_max) { return push_json_too_long; }
    if (!reserve(self, count)) { return push_json_memory; }
    if (count > 0) { std::memcpy(self.padded.get(), bytes, count); }
    simdjson::error_code code = parse_padded(self, count);
    if (code == simdjson::NUMBER_ERROR) {
        // An integer that overflows has 19 digits at least, so two more bytes for each fit into an eighth.
        if (!reserve(self, count + count / 8)) { return push_json_memory; }
        code = parse_padded(self, spell_out_large_integers(bytes, count, self.padded.get()));
    }
    return status_of(code);
}

}  // namespace

// No exception may cross into Swift. The library promises none on these paths; the handlers hold it to that.

push_json_parser *push_json_create(size_t bytes_max, size_t depth_max) {
    try {
        return new push_json_parser(bytes_max, depth_max);
    } catch (...) {
        return nullptr;
    }
}

void push_json_destroy(push_json_parser *parser) { delete parser; }

enum push_json_status push_json_parse(push_json_parser *parser, const uint8_t *bytes, size_t count) {
    try {
        return parse(*parser, bytes, count);
    } catch (...) {
        return push_json_memory;
    }
}

const uint64_t *push_json_tape(const push_json_parser *parser) { return parser->parser.doc.tape.get(); }

const uint8_t *push_json_strings(const push_json_parser *parser) { return parser->parser.doc.string_buf.get(); }

size_t push_json_capacity(const push_json_parser *parser) { return parser->capacity; }

void push_json_release(push_json_parser *parser) {
    try {
        release(*parser);
    } catch (...) {
        // Nothing to do: what was not given back is kept.
    }
}
