/* protobuf.h - fields of a protobuf message, read where they lie.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_PROTOBUF_H
#define WR_FORMAT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Wire types. */
enum { WR_PB_VARINT = 0, WR_PB_64 = 1, WR_PB_LEN = 2, WR_PB_32 = 5 };

struct wr_pb_span {
    const uint8_t *at; /* borrowed; NULL: there is none */
    size_t len;
};

struct wr_pb_field {
    uint32_t number;
    unsigned wire;
    uint64_t value;         /* WR_PB_VARINT */
    struct wr_pb_span body; /* the others */
};

/* Each takes its result off the front of `s`; false: the bytes are no such
 * thing. */
bool wr_pb_varint(struct wr_pb_span *s, uint64_t *ret);
bool wr_pb_field(struct wr_pb_span *s, struct wr_pb_field *ret);
/* The next field `number` that has a body; others are passed over. *ret is
 * {NULL} at the end. */
bool wr_pb_message(struct wr_pb_span *s, uint32_t number,
                   struct wr_pb_span *ret);

#endif
