/* chunk.h - one piece of a trace file: a head with a checksum, then its bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_CHUNK_H
#define WR_TRACE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "trace/pack.h"
#include "weir/error.h"

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
