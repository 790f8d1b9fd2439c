/* protobuf.c - fields of a protobuf message, read where they lie.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/protobuf.h"

bool wr_pb_varint(struct wr_pb_span *s, uint64_t *ret)
{
    uint64_t v = 0;

    if (s->len && *s->at < 0x80) { /* most are of one byte */
        *ret = *s->at;
        s->at++;
        s->len--;
        return true;
    }
    for (unsigned shift = 0; shift < 70 && s->len; shift += 7) {
        uint8_t b = *s->at;

        s->at++;
        s->len--;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *ret = v;
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct wr_pb_span *s, uint64_t n, struct wr_pb_span *ret)
{
    if (n > s->len)
        return false;
    *ret = (struct wr_pb_span){s->at, (size_t)n};
    s->at += n;
    s->len -= (size_t)n;
    return true;
}

bool wr_pb_field(struct wr_pb_span *s, struct wr_pb_field *ret)
{
    uint64_t tag, n;

    *ret = (struct wr_pb_field){0};
    if (!wr_pb_varint(s, &tag) || tag >> 3 == 0 || tag >> 32)
        return false;
    ret->number = (uint32_t)(tag >> 3);
    ret->wire = (unsigned)(tag & 7);
    switch (ret->wire) {
    case WR_PB_VARINT:
        return wr_pb_varint(s, &ret->value);
    case WR_PB_64:
        return take_bytes(s, 8, &ret->body);
    case WR_PB_32:
        return take_bytes(s, 4, &ret->body);
    case WR_PB_LEN:
        return wr_pb_varint(s, &n) && take_bytes(s, n, &ret->body);
    default:
        return false; /* groups are long gone */
    }
}

bool wr_pb_message(struct wr_pb_span *s, uint32_t number,
                   struct wr_pb_span *ret)
{
    struct wr_pb_field f;

    while (s->len) {
        if (!wr_pb_field(s, &f))
            return false;
        if (f.number == number && f.wire == WR_PB_LEN) {
            *ret = f.body;
            return true;
        }
    }
    *ret = (struct wr_pb_span){0};
    return true;
}
