/* pack.h - numbers and texts in few bytes, written and read with care.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers are LEB128 (7 bits per byte, the lowest first); signed ones go through
 * the zigzag first. A reader never passes the end: it marks itself bad and gives
 * zeros, so that a caller checks once, at the end. */
#ifndef WR_TRACE_PACK_H
#define WR_TRACE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wr_pack {
    uint8_t *bytes; /* owned: free() */
    size_t len, cap;
    bool failed; /* memory was short: bytes are missing */
};

/* Makes sure that `more` bytes fit; false: memory is short. */
bool wr_pack_room(struct wr_pack *p, size_t more);
void wr_pack_bytes(struct wr_pack *p, const void *bytes, size_t len);
void wr_pack_number(struct wr_pack *p, uint64_t v);
/* Its length, then the bytes; NULL is kept apart from "". */
void wr_pack_text(struct wr_pack *p, const char *s);

#define WR_PACK_NUMBER_MAX 10 /* bytes of the longest number */

static inline uint8_t *wr_pack_put(uint8_t *to, uint64_t v)
{
    while (v >= 0x80) {
        *to++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *to++ = (uint8_t)v;
    return to;
}

static inline uint64_t wr_zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t wr_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

struct wr_packed {
    const uint8_t *at, *end; /* borrowed */
    bool bad;                /* something was missing or too long */
};

uint64_t wr_packed_long(struct wr_packed *p); /* the general case */

static inline uint64_t wr_packed_number(struct wr_packed *p)
{
    if (p->at < p->end && *p->at < 0x80)
        return *p->at++;
    return wr_packed_long(p);
}

/* The next `len` bytes as a part of their own; empty and bad if they are not
 * there. */
struct wr_packed wr_packed_part(struct wr_packed *p, uint64_t len);

/* A text of at most `max` bytes: *ret_len bytes at the return, not terminated;
 * NULL: it is one, or p is bad. */
const char *wr_packed_text(struct wr_packed *p, size_t max, size_t *ret_len);

#endif
