/* coding.h - the bytes of a trace file: numbers, events, chunks.
 * SPDX-License-Identifier: Apache-2.0
 *
 * docs/formats/trace.md. */
#ifndef WR_TRACE_CODING_H
#define WR_TRACE_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/event.h"
#include "weir/error.h"

/* --- numbers and texts in few bytes, written and read with care ---
 *
 * Numbers are LEB128 (7 bits per byte, the lowest first); signed ones go through
 * the zigzag first. A reader never passes the end: it marks itself bad and gives
 * zeros, so that a caller checks once, at the end. */

struct wr_pack {
    uint8_t *bytes; /* owned: free() */
    size_t len, cap;
    bool failed; /* memory was short: bytes are missing */
};

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

/* --- events as columns of small numbers ---
 *
 * One chunk of a trace file. Neighbors in time look alike column by column, not
 * event by event; what follows from the event before in the same thread (its
 * file, where its next read begins) takes no bytes. */

#define WR_CODING_EVENTS_MAX 65536 /* in one chunk */

/* Sorts `events` by the time they ended, then appends them to `out`. */
int wr_coding_encode(struct wr_trace_event *events, size_t count,
                     struct wr_pack *out, weir_err *err);

/* Exactly `count` events (at most WR_CODING_EVENTS_MAX) from `bytes`, which must
 * be used up. Numbers of files and processes are not checked; kinds are. */
int wr_coding_decode(struct wr_packed bytes, size_t count,
                     struct wr_trace_event *ret_events, weir_err *err);

/* --- one piece of a trace file: a head with a checksum, then its bytes --- */

#define WR_TRACE_MAGIC     "WEIRTRC1"
#define WR_TRACE_VERSION   1
#define WR_TRACE_HEAD      16 /* bytes of the file's head */
#define WR_CHUNK_HEAD      32
#define WR_CHUNK_BYTES_MAX (UINT32_C(64) << 20) /* stored, and unpacked */

/* Part of the format. Readers pass over kinds that they do not know. */
enum wr_chunk_kind {
    WR_CHUNK_INFO = 1,
    WR_CHUNK_NAMES,
    WR_CHUNK_PROCESSES,
    WR_CHUNK_EVENTS,
    WR_CHUNK_COUNTS,
    WR_CHUNK_RESIDENT,
    WR_CHUNK_END, /* the trace is complete; nothing follows */
};

struct wr_chunk {
    uint16_t kind, coding; /* coding: 0 plain, 1 zstd */
    uint32_t stored, raw;  /* bytes in the file, and unpacked */
    uint32_t items;
    uint64_t sum;
};

/* The head and the bytes of a chunk, ready to be written, into `out` (whose
 * length is set). `ctx` comes from wr_chunk_packer_new. */
struct wr_chunk_packer;
struct wr_chunk_packer *wr_chunk_packer_new(void); /* NULL: no memory */
void wr_chunk_packer_free(struct wr_chunk_packer *cp);
int wr_chunk_pack(struct wr_chunk_packer *cp, int kind, uint32_t items,
                  const struct wr_pack *raw, struct wr_pack *out,
                  weir_err *err);

/* What is wrong with a head of WR_CHUNK_HEAD bytes, or NULL and *ret is
 * filled. */
const char *wr_chunk_parse(const uint8_t *head, struct wr_chunk *ret);
/* Whether `stored` bytes are those that were written; `head` as in the file. */
bool wr_chunk_sum_ok(const uint8_t *head, const struct wr_chunk *c,
                     const uint8_t *stored);
/* Unpacks into `to` of c->raw bytes. */
int wr_chunk_unpack(const struct wr_chunk *c, const uint8_t *stored,
                    uint8_t *to, weir_err *err);

#endif
