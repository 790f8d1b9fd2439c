/* jpeg_bits.c - rows of blocks -> the scan of a JPEG.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/jpeg_bits.h"

#include <endian.h>
#include <string.h>

#include "base/mem.h"

#define DIFFERENCE 27u /* bits of one at most: a code of 16 and 11 more */

size_t wr_jpeg_row_room(const struct wr_jpeg_row *row)
{
    size_t bits = row->end - row->from[0] + 3 * DIFFERENCE;

    return 2 * (bits / 8 + 8);
}

/* Whether one of the four bytes is 0xff. */
static int has_ff(uint32_t v)
{
    return ((~v - UINT32_C(0x01010101)) & v & UINT32_C(0x80808080)) != 0;
}

/* Writes what is there of whole words; behind 0xff comes a zero. */
static void drain(struct wr_jpeg_bits *b)
{
    uint32_t v = (uint32_t)(b->bits >> (b->count - 32));

    b->count -= 32;
    if (!has_ff(v)) {
        v = htobe32(v);
        memcpy(b->out, &v, 4);
        b->out += 4;
        return;
    }
    for (unsigned k = 0; k < 4; k++) {
        uint8_t byte = (uint8_t)(v >> (24 - 8 * k));

        *b->out++ = byte;
        if (byte == 0xff)
            *b->out++ = 0;
    }
}

/* The lowest `n` bits of `v`, at most 32. */
static void put(struct wr_jpeg_bits *b, uint32_t v, unsigned n)
{
    b->bits = b->bits << n | (v & (uint32_t)((UINT64_C(1) << n) - 1));
    b->count += n;
    if (b->count >= 32)
        drain(b);
}

/* Bits `at` to `end` of `from`, behind which 8 bytes more can be read. */
static void copy(struct wr_jpeg_bits *b, const uint8_t *from, uint32_t at,
                 uint32_t end)
{
    while (at < end) {
        unsigned n = WR_MIN(end - at, 32u);
        uint64_t v;

        memcpy(&v, from + at / 8, 8);
        v = be64toh(v) << at % 8;
        put(b, (uint32_t)(v >> (64 - n)), n);
        at += n;
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
    while (b->count) {
        uint8_t byte = (uint8_t)(b->bits >> (b->count - 8));

        b->count -= 8;
        *b->out++ = byte;
        if (byte == 0xff)
            *b->out++ = 0;
    }
}
