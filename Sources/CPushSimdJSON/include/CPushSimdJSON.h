#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What became of a document. Why it was refused is found out elsewhere: simdjson does not say where.
enum push_json_status {
    push_json_ok = 0,
    push_json_invalid,
    push_json_too_long,
    push_json_memory,
};

/// A simdjson parser with its buffers. Not thread-safe. No function below throws.
typedef struct push_json_parser push_json_parser;

/// NULL when memory is short.
push_json_parser *push_json_create(size_t bytes_max, size_t depth_max);
void push_json_destroy(push_json_parser *parser);

/// Copies the bytes into the padded buffer and parses them. Integers that no int64_t holds become doubles.
enum push_json_status push_json_parse(push_json_parser *parser, const uint8_t *bytes, size_t count);

/// The tape of the last document that was parsed with success, in simdjson's documented format; valid until the
/// next call with this parser.
const uint64_t *push_json_tape(const push_json_parser *parser);
/// The strings that the tape points to: length (uint32_t, host order), then bytes.
const uint8_t *push_json_strings(const push_json_parser *parser);

/// Longest document that needs no allocation.
size_t push_json_capacity(const push_json_parser *parser);
/// Gives all buffers back.
void push_json_release(push_json_parser *parser);

#ifdef __cplusplus
}
#endif
