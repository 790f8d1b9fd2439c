/* chunk.c - one piece of a trace file: a head with a checksum, then its bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/chunk.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>
#ifdef WR_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/error.h"
#include "base/le.h"

#define CHUNK_MAGIC UINT32_C(0x4b4e4843) /* "CHNK" */
#define SUMMED      24                   /* bytes of the head under the sum */
#define LEVEL       1 /* of zstd: tracing must not cost the traced program */

enum { CODING_PLAIN, CODING_ZSTD };

struct wr_chunk_packer {
    void *ctx; /* owned: of zstd; NULL without it */
};

struct wr_chunk_packer *wr_chunk_packer_new(void)
{
    struct wr_chunk_packer *cp = calloc(1, sizeof(*cp));

#ifdef WR_HAVE_ZSTD
    if (cp && !(cp->ctx = ZSTD_createCCtx())) {
        free(cp);
        cp = NULL;
    }
#endif
    return cp;
}

void wr_chunk_packer_free(struct wr_chunk_packer *cp)
{
    if (!cp)
        return;
#ifdef WR_HAVE_ZSTD
    ZSTD_freeCCtx(cp->ctx);
#endif
    free(cp);
}

/* The head is part of the sum: a flipped bit in it must show too. */
static uint64_t sum_of(const uint8_t *head, const uint8_t *stored, size_t len)
{
    return XXH3_64bits_withSeed(stored, len, XXH3_64bits(head, SUMMED));
}

/* Packs behind the head; 0: it stays as it is. */
static size_t squeeze(struct wr_chunk_packer *cp, const struct wr_pack *raw,
                      struct wr_pack *out)
{
#ifdef WR_HAVE_ZSTD
    size_t n = ZSTD_compressCCtx(cp->ctx, out->bytes + WR_CHUNK_HEAD,
                                 out->cap - WR_CHUNK_HEAD, raw->bytes, raw->len,
                                 LEVEL);

    if (!ZSTD_isError(n) && n < raw->len)
        return n;
#endif
    return 0;
}

static size_t most_bytes(size_t raw)
{
#ifdef WR_HAVE_ZSTD
    return ZSTD_compressBound(raw);
#else
    return raw;
#endif
}

int wr_chunk_pack(struct wr_chunk_packer *cp, int kind, uint32_t items,
                  const struct wr_pack *raw, struct wr_pack *out, weir_err *err)
{
    size_t stored;
    uint8_t *head;

    if (raw->len > WR_CHUNK_BYTES_MAX)
        return wr_fail(err, WEIR_ELIMIT, "a chunk of %zu bytes", raw->len);
    out->len = 0;
    if (raw->failed || !wr_pack_room(out, WR_CHUNK_HEAD + most_bytes(raw->len)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    head = out->bytes;
    stored = squeeze(cp, raw, out);
    wr_le_put(head, CHUNK_MAGIC, 4);
    wr_le_put(head + 4, (uint64_t)kind, 2);
    wr_le_put(head + 6, stored ? CODING_ZSTD : CODING_PLAIN, 2);
    if (!stored) {
        stored = raw->len;
        if (stored)
            memcpy(head + WR_CHUNK_HEAD, raw->bytes, stored);
    }
    wr_le_put(head + 8, stored, 4);
    wr_le_put(head + 12, raw->len, 4);
    wr_le_put(head + 16, items, 4);
    wr_le_put(head + 20, 0, 4);
    wr_le_put(head + 24, sum_of(head, head + WR_CHUNK_HEAD, stored), 8);
    out->len = WR_CHUNK_HEAD + stored;
    return 0;
}

const char *wr_chunk_parse(const uint8_t *head, struct wr_chunk *ret)
{
    struct wr_chunk c = {.kind = wr_le16(head + 4),
                         .coding = wr_le16(head + 6),
                         .stored = wr_le32(head + 8),
                         .raw = wr_le32(head + 12),
                         .items = wr_le32(head + 16),
                         .sum = wr_le64(head + 24)};

    if (wr_le32(head) != CHUNK_MAGIC)
        return "no chunk begins there";
    if (c.coding > CODING_ZSTD)
        return "a chunk has an unknown coding";
    if (c.stored > WR_CHUNK_BYTES_MAX || c.raw > WR_CHUNK_BYTES_MAX)
        return "a chunk claims over 64 MiB";
    if (c.coding == CODING_PLAIN && c.stored != c.raw)
        return "the sizes of a chunk differ";
    if (c.items > c.raw)
        return "a chunk claims more items than bytes";
    *ret = c;
    return NULL;
}

bool wr_chunk_sum_ok(const uint8_t *head, const struct wr_chunk *c,
                     const uint8_t *stored)
{
    return sum_of(head, stored, c->stored) == c->sum;
}

int wr_chunk_unpack(const struct wr_chunk *c, const uint8_t *stored,
                    uint8_t *to, weir_err *err)
{
    if (c->coding == CODING_PLAIN) {
        if (c->raw)
            memcpy(to, stored, c->raw);
        return 0;
    }
#ifdef WR_HAVE_ZSTD
    if (ZSTD_decompress(to, c->raw, stored, c->stored) != c->raw)
        return wr_fail(err, WEIR_EFORMAT, "a chunk does not unpack");
    return 0;
#else
    return wr_fail(err, WEIR_ENOTSUP,
                   "compressed by zstd, which this weir was built without");
#endif
}
