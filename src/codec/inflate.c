/* inflate.c - gzip or zlib -> bytes, within limits, and back, by ISA-L.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/inflate.h"

#include <inttypes.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "base/be.h"
#include "base/error.h"
#include "base/mem.h"

#define PIECE ((size_t)1 << 30) /* the library counts in 32 bits */
#define SLACK (1u << 16) /* what may come of nothing before ratios count */

struct wr_inflate {
    const uint8_t *in; /* borrowed: what is not used up yet */
    size_t in_len;
    uint64_t total_in, total_out;
    bool begun;   /* a byte was seen: it is known what it is */
    bool ended;   /* between members, after one at least */
    bool padding; /* zeros behind the last member: nothing else may follow */
    int failed;   /* said again by every later read */
    weir_err why;
    /* The library keeps its own copy of a header on the stack while it reads
     * one: a header that comes in two pieces would be read wrongly. */
    bool in_header; /* of a gzip member */
    struct isal_gzip_header header;
    struct inflate_state state;
};

bool wr_is_gzip(const void *bytes, size_t len)
{
    const uint8_t *p = bytes;

    return len >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8;
}

/* Deflate, a window of at most 32 KiB, no dictionary, and a check of these. */
bool wr_is_zlib(const void *bytes, size_t len)
{
    const uint8_t *p = bytes;

    return len >= 2 && (p[0] & 15) == 8 && p[0] >> 4 <= 7 && !(p[1] & 32) &&
           wr_be16(p) % 31 == 0;
}

const char *wr_inflate_name(const struct wr_inflate *z)
{
    return z->state.crc_flag == ISAL_ZLIB      ? "zlib"
           : z->state.crc_flag == ISAL_DEFLATE ? "deflate"
                                               : "gzip";
}

int wr_inflate_new(struct wr_inflate **ret, weir_err *err)
{
    struct wr_inflate *z = malloc(sizeof(*z));

    if (!z)
        return wr_fail(err, WEIR_ENOMEM, "out of memory to inflate");
    isal_inflate_init(&z->state);
    z->state.crc_flag = ISAL_GZIP;
    z->in = NULL;
    z->in_len = 0;
    z->total_in = z->total_out = 0;
    z->begun = z->ended = z->padding = z->in_header = false;
    z->failed = 0;
    *ret = z;
    return 0;
}

void wr_inflate_free(struct wr_inflate *z)
{
    free(z);
}

void wr_inflate_set_raw(struct wr_inflate *z)
{
    z->begun = true;
    z->state.crc_flag = ISAL_DEFLATE;
}

void wr_inflate_feed(struct wr_inflate *z, const void *bytes, size_t len)
{
    z->in = bytes;
    z->in_len = len;
}

bool wr_inflate_is_done(const struct wr_inflate *z)
{
    return z->ended && !z->failed;
}

static const char *reason(int code)
{
    switch (code) {
    case ISAL_INVALID_WRAPPER:
        return "not the header of a member";
    case ISAL_UNSUPPORTED_METHOD:
        return "not compressed by deflate";
    case ISAL_INCORRECT_CHECKSUM:
        return "checksum mismatch";
    default:
        return "damaged";
    }
}

static void begin_member(struct wr_inflate *z)
{
    z->in_header = z->state.crc_flag == ISAL_GZIP;
    isal_gzip_header_init(&z->header);
}

/* Zeros behind the last member are padding, as gzip(1) has it; anything else
 * is the next member. False: the input is used up. */
static bool next_member(struct wr_inflate *z)
{
    while (z->in_len && *z->in == 0) {
        z->padding = true;
        z->in++;
        z->in_len--;
        z->total_in++;
    }
    if (!z->in_len)
        return false;
    if (z->padding) {
        z->failed = wr_fail(&z->why, WEIR_EFORMAT,
                            "%s: bytes after the end at offset %" PRIu64,
                            wr_inflate_name(z), z->total_in);
        return false;
    }
    z->ended = false;
    isal_inflate_reset(&z->state);
    begin_member(z);
    return true;
}

/* One call of the library; returns the bytes that it made, and whether it got
 * anywhere at all. */
static size_t step(struct wr_inflate *z, uint8_t *buf, size_t cap,
                   bool *ret_moved)
{
    struct inflate_state *s = &z->state;
    uint32_t in_len = (uint32_t)WR_MIN(z->in_len, PIECE);
    uint32_t out_len = (uint32_t)WR_MIN(cap, PIECE);
    union {
        const uint8_t *in;
        uint8_t *lib; /* the library's prototype lacks the const */
    } at = {.in = z->in};
    size_t used, made;
    int r;

    s->next_in = at.lib;
    s->avail_in = in_len;
    s->next_out = buf;
    s->avail_out = out_len;
    r = z->in_header ? isal_read_gzip_header(s, &z->header) : isal_inflate(s);
    z->in_header = z->in_header && r != ISAL_DECOMP_OK;
    used = in_len - s->avail_in;
    made = out_len - s->avail_out;
    z->in = used ? z->in + used : z->in; /* which may be NULL */
    z->in_len -= used;
    z->total_in += used;
    z->ended = s->block_state == ISAL_BLOCK_FINISH && r >= 0;
    if (z->ended) {
        /* Behind zlib's short trailer the library may have read on. */
        size_t back = (size_t)s->read_in_length / 8;

        z->in -= back;
        z->in_len += back;
        z->total_in -= back;
    }
    *ret_moved = used || made || z->ended;
    if (r < 0 || r == ISAL_NEED_DICT)
        z->failed = wr_fail(&z->why, WEIR_EFORMAT,
                            "%s: %s at or before offset %" PRIu64,
                            wr_inflate_name(z), reason(r), z->total_in);
    return made;
}

static void check_limits(struct wr_inflate *z)
{
    if (z->total_out > WR_INFLATE_MAX)
        z->failed = wr_fail(&z->why, WEIR_ELIMIT,
                            "%s: inflates to more than %" PRIu64 " bytes",
                            wr_inflate_name(z), WR_INFLATE_MAX);
    else if (z->total_out > SLACK &&
             (z->total_out - SLACK) / WR_INFLATE_RATIO > z->total_in)
        z->failed = wr_fail(&z->why, WEIR_ELIMIT,
                            "%s: %" PRIu64 " bytes inflate to more than "
                            "%u times as many",
                            wr_inflate_name(z), z->total_in, WR_INFLATE_RATIO);
}

int64_t wr_inflate_read(struct wr_inflate *z, void *buf, size_t cap,
                        weir_err *err)
{
    uint8_t *to = buf;
    size_t done = 0;
    bool moved = true;

    if (!z->begun && z->in_len) {
        z->begun = true;
        z->state.crc_flag = (*z->in & 15) == 8 ? ISAL_ZLIB : ISAL_GZIP;
        begin_member(z);
    }
    /* Bytes that came before a failure are handed out first. */
    while (!z->failed && done < cap && moved) {
        size_t made;

        if (z->ended && !next_member(z))
            break;
        made = step(z, to + done, cap - done, &moved);
        done += made;
        z->total_out += made;
        if (!z->failed)
            check_limits(z);
    }
    if (z->failed && (!done || z->failed == WEIR_ELIMIT))
        return wr_fail_as(err, z->failed, &z->why);
    return (int64_t)done;
}

/* --- bytes -> deflate without a wrapper, piece by piece --- */

struct wr_deflate {
    struct isal_zstream z;
    uint8_t level[ISAL_DEF_LVL1_DEFAULT];
};

int wr_deflate_new(struct wr_deflate **ret, weir_err *err)
{
    struct wr_deflate *d = calloc(1, sizeof(*d));

    if (!d)
        return wr_fail(err, WEIR_ENOMEM, "no memory to deflate");
    isal_deflate_init(&d->z);
    d->z.level = 1;
    d->z.level_buf = d->level;
    d->z.level_buf_size = sizeof(d->level);
    d->z.gzip_flag = IGZIP_DEFLATE;
    *ret = d;
    return 0;
}

void wr_deflate_free(struct wr_deflate *d)
{
    free(d);
}

void wr_deflate_feed(struct wr_deflate *d, const void *bytes, size_t len,
                     bool last)
{
    d->z.next_in = (uint8_t *)(uintptr_t)bytes; /* ISA-L does not write */
    d->z.avail_in = (uint32_t)len;
    d->z.end_of_stream = last;
}

size_t wr_deflate_read(struct wr_deflate *d, void *buf, size_t cap)
{
    if (d->z.internal_state.state == ZSTATE_END)
        return 0;
    d->z.next_out = buf;
    d->z.avail_out = (uint32_t)cap;
    isal_deflate(&d->z); /* fails for settings alone */
    return cap - d->z.avail_out;
}

uint32_t wr_crc32(uint32_t crc, const void *bytes, size_t len)
{
    return crc32_gzip_refl(crc, bytes, len);
}

uint32_t wr_adler32(uint32_t sum, const void *bytes, size_t len)
{
    return isal_adler32(sum, bytes, len);
}
