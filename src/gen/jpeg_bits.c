/* jpeg_bits.c - rows of blocks -> the scan of a JPEG.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/jpeg_bits.h"

#include <endian.h>
#include <string.h>

#include "base/be.h"
#include "base/mem.h"

#define DIFFERENCE 27u /* bits of one at most: a code of 16 and 11 more */

size_t wr_jpeg_row_room(const struct wr_jpeg_row *row)
{
    size_t bits = row->end - row->from[0] + 3 * DIFFERENCE;

    return 2 * (bits / 8 + 8);
}

/* Whether one of the eight bytes is 0xff. */
static int has_ff(uint64_t v)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);

    return ((~v - ones) & v & ones << 7) != 0;
}

/* The highest `bytes` bytes of `v`; behind 0xff comes a zero. */
static void put_stuffed(struct wr_jpeg_bits *b, uint64_t v, unsigned bytes)
{
    uint8_t *out = b->out;

    for (; bytes; bytes--, v <<= 8) {
        uint8_t byte = (uint8_t)(v >> 56);

        *out++ = byte;
        if (byte == 0xff)
            *out++ = 0;
    }
    b->out = out;
}

static void put_word(struct wr_jpeg_bits *b, uint64_t v)
{
    if (has_ff(v)) {
        put_stuffed(b, v, 8);
        return;
    }
    v = htobe64(v);
    memcpy(b->out, &v, 8);
    b->out += 8;
}

/* The lowest `n` bits of `v`, at most 32. */
static void put(struct wr_jpeg_bits *b, uint32_t v, unsigned n)
{
    b->bits = b->bits << n | (v & (uint32_t)((UINT64_C(1) << n) - 1));
    b->count += n;
    if (b->count >= 32) {
        b->count -= 32;
        put_stuffed(b, b->bits >> b->count << 32, 4);
    }
}

/* 64 bits from bit `at` of `from` on. */
static uint64_t load(const uint8_t *from, uint32_t at)
{
    return wr_be64(from + at / 8) << at % 8 | from[at / 8 + 8] >> (8 - at % 8);
}

/* Bits `at` to `end` of `from`, behind which 8 bytes more can be read. The
 * words that are written are `count` bits behind those that are read, all along:
 * one goes through in a load and a shift. */
static void copy(struct wr_jpeg_bits *b, const uint8_t *from, uint32_t at,
                 uint32_t end)
{
    unsigned n;

    if (end - at >= 64) {
        n = 64 - b->count;
        put_word(b, (b->count ? b->bits << n : 0) | load(from, at) >> b->count);
        for (at += n; end - at >= 64; at += 64)
            put_word(b, load(from, at));
        b->count = 0;
    }
    for (; at < end; at += n) {
        n = WR_MIN(end - at, 32u);
        put(b, (uint32_t)(load(from, at) >> (64 - n)), n);
    }
}

/* A mean as the difference to the one before: its category, then its bits. */
static void put_difference(struct wr_jpeg_bits *b, const struct wr_jpeg_code *c,
                           int diff)
{
    unsigned bits = 0;
    int size = diff < 0 ? -diff : diff;

    while (size >> bits)
        bits++;
    put(b, c->code[bits], c->len[bits]);
    if (bits)
        put(b, (uint32_t)(diff < 0 ? diff - 1 : diff), bits);
}

void wr_jpeg_bits_row(struct wr_jpeg_bits *b, const struct wr_jpeg_rows *from,
                      const struct wr_jpeg_row *row)
{
    for (unsigned c = 0; c < from->components; c++) {
        uint32_t end = c + 1 < from->components ? row->from[c + 1] : row->end;

        put_difference(b, &from->dc[c > 0], row->first[c] - b->mean[c]);
        copy(b, from->bits, row->to[c], end);
        b->mean[c] = row->last[c];
    }
}

void wr_jpeg_bits_end(struct wr_jpeg_bits *b)
{
    unsigned over = b->count % 8;

    if (over)
        put(b, UINT32_MAX, 8 - over);
    put_stuffed(b, b->count ? b->bits << (64 - b->count) : 0, b->count / 8);
    b->count = 0;
}
