/* jpeg_rows.c - where the rows of blocks lie in the bits of a JPEG.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ITU-T T.81: B.2 has the segments, F.2 the decoding of blocks. */
#include "gen/jpeg_rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

#define SOF0 0xc0u
#define DHT  0xc4u
#define SOS  0xdau

/* The symbol that begins with 16 bits, and its length; 0: there is none. */
struct huffman {
    uint8_t symbol[1 << 16], len[1 << 16];
};

struct jpeg_scan {
    struct wr_jpeg_rows *to; /* borrowed */
    size_t end;              /* bits that there are */
    size_t at;               /* the next bit */
    int16_t mean[WR_JPEG_COMPONENTS];
    struct huffman table[4]; /* DC 0 and 1, AC 0 and 1 */
};

void wr_jpeg_rows_done(struct wr_jpeg_rows *r)
{
    free(r->bits);
    free(r->rows);
    *r = (struct wr_jpeg_rows){0};
}

/* --- segments --- */

static void put_code(struct wr_jpeg_code *c, unsigned symbol, unsigned code,
                     unsigned len)
{
    if (symbol >= WR_ARRAY_LEN(c->code))
        return;
    c->code[symbol] = (uint16_t)code;
    c->len[symbol] = (uint8_t)len;
}

/* One table of codes: 16 counts, then symbols. Returns its bytes, 0 if wrong. */
static size_t read_table(struct jpeg_scan *s, const uint8_t *p, size_t len)
{
    unsigned code = 0, which = len ? p[0] : 0, k = 17;
    struct huffman *h = &s->table[(which >> 4 & 1) * 2 + (which & 1)];

    if (len < 17 || which & 0xee)
        return 0;
    for (unsigned bits = 1; bits <= 16; bits++, code <<= 1) {
        for (unsigned n = p[bits]; n; n--, code++, k++) {
            unsigned first = code << (16 - bits);

            if (k >= len || code >> bits)
                return 0;
            memset(h->symbol + first, p[k], (size_t)1 << (16 - bits));
            memset(h->len + first, (int)bits, (size_t)1 << (16 - bits));
            if (!(which >> 4))
                put_code(&s->to->dc[which & 1], p[k], code, bits);
        }
    }
    return k;
}

static bool read_tables(struct jpeg_scan *s, const uint8_t *p, size_t len)
{
    size_t n;

    for (; len; p += n, len -= n) {
        n = read_table(s, p, len);
        if (!n)
            return false;
    }
    return true;
}

/* Precision, height, width, components: (id, sampling, table) of each. */
static bool read_frame(struct wr_jpeg_rows *r, const uint8_t *p, size_t len)
{
    unsigned side;

    if (len < 9 || (p[5] != 1 && p[5] != 3) || len < 6u + 3u * p[5])
        return false;
    r->height = (uint32_t)p[1] << 8 | p[2];
    r->width = (uint32_t)p[3] << 8 | p[4];
    r->components = p[5];
    r->sampling = r->components == 1 ? 0x11 : p[7];
    side = r->sampling == 0x22 ? 16 : 8;
    r->across = (r->width + side - 1) / side;
    r->count = (r->height + side - 1) / side;
    return (r->sampling == 0x11 || r->sampling == 0x22) && r->count &&
           r->across;
}

static int read_head(struct jpeg_scan *s, const uint8_t *b, size_t len,
                     weir_err *err)
{
    struct wr_jpeg_rows *r = s->to;
    bool good = true;
    size_t at = 2, body;

    while (good && at + 4 <= len && b[at] == 0xff) {
        body = (size_t)b[at + 2] << 8 | b[at + 3];
        if (body < 2 || body > len - at - 2)
            break;
        if (at == 2)
            r->soi_len = (uint32_t)(2 + 2 + body);
        if (b[at + 1] == SOF0)
            good = read_frame(r, b + at + 4, body - 2);
        else if (b[at + 1] == DHT)
            good = read_tables(s, b + at + 4, body - 2);
        at += 2 + body;
        if (b[at - body - 1] == SOS && good && r->count) {
            r->head_len = (uint32_t)at;
            return 0;
        }
    }
    return wr_fail(err, WEIR_EFORMAT, "a JPEG that cannot be taken apart");
}

/* The scan up to the next marker, without the zeros behind 0xff. */
static int unstuff(struct jpeg_scan *s, const uint8_t *b, size_t len,
                   weir_err *err)
{
    uint8_t *to = malloc(len + 8);
    size_t n = 0;

    if (!to)
        return wr_fail(err, WEIR_ENOMEM, "no memory for pictures");
    for (size_t k = 0; k < len; k++) {
        to[n++] = b[k];
        if (b[k] != 0xff)
            continue;
        if (k + 1 < len && b[k + 1] == 0) {
            k++;
        } else {
            n--;
            break;
        }
    }
    memset(to + n, 0, 8);
    s->to->bits = to;
    s->end = n * 8;
    return 0;
}

/* --- blocks --- */

/* 16 bits from here on; what is behind the end is 0. */
static unsigned peek(const struct jpeg_scan *s)
{
    const uint8_t *p = s->to->bits + s->at / 8;
    uint32_t v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];

    return v >> (8 - s->at % 8) & 0xffff;
}

/* The next symbol; -1: there is none. */
static int symbol(struct jpeg_scan *s, const struct huffman *h)
{
    unsigned v;

    if (s->at >= s->end)
        return -1;
    v = peek(s);
    if (!h->len[v])
        return -1;
    s->at += h->len[v];
    return h->symbol[v];
}

/* Skips the other 63 values of a block. */
static bool skip_rest(struct jpeg_scan *s, const struct huffman *h)
{
    for (unsigned k = 1; k < 64;) {
        int v = symbol(s, h);

        if (v < 0)
            return false;
        if (!(v & 15) && v != 0xf0)
            return true; /* the end of the block */
        s->at += (unsigned)v & 15;
        k += ((unsigned)v >> 4) + 1;
    }
    return true;
}

/* One block of component `c`; with `row`, the first one of it. */
static bool take_block(struct jpeg_scan *s, unsigned c, struct wr_jpeg_row *row)
{
    uint32_t from = (uint32_t)s->at;
    int bits = symbol(s, &s->table[c > 0]), diff;

    if (bits < 0 || bits > 11 || s->at >= s->end)
        return false;
    diff = (int)(peek(s) >> (16 - bits));
    if (bits && diff < 1 << (bits - 1))
        diff -= (1 << bits) - 1;
    s->at += (unsigned)bits;
    s->mean[c] = (int16_t)(s->mean[c] + diff);
    if (row) {
        row->from[c] = from;
        row->to[c] = (uint32_t)s->at;
        row->first[c] = s->mean[c];
    }
    return skip_rest(s, &s->table[2 + (c > 0)]) && s->at <= s->end;
}

static bool take_row(struct jpeg_scan *s, struct wr_jpeg_row *row)
{
    unsigned bright = s->to->sampling == 0x22 ? 4 : 1;

    for (uint32_t x = 0; x < s->to->across; x++) {
        for (unsigned c = 0; c < s->to->components; c++) {
            for (unsigned k = 0; k < (c ? 1 : bright); k++)
                if (!take_block(s, c, x || k ? NULL : row))
                    return false;
        }
    }
    memcpy(row->last, s->mean, sizeof(row->last));
    row->end = (uint32_t)s->at;
    return true;
}

static int take_rows(struct jpeg_scan *s, weir_err *err)
{
    struct wr_jpeg_rows *r = s->to;

    r->rows = calloc(r->count, sizeof(*r->rows));
    if (!r->rows)
        return wr_fail(err, WEIR_ENOMEM, "no memory for pictures");
    for (size_t y = 0; y < r->count; y++)
        if (!take_row(s, &r->rows[y]))
            return wr_fail(err, WEIR_EFORMAT,
                           "a JPEG whose scan ends before its last row");
    return 0;
}

int wr_jpeg_rows_find(const uint8_t *bytes, size_t len,
                      struct wr_jpeg_rows *ret, weir_err *err)
{
    struct wr_jpeg_rows rows = {0};
    struct jpeg_scan *s = calloc(1, sizeof(*s));
    int r = s ? 0 : wr_fail(err, WEIR_ENOMEM, "no memory for pictures");

    if (r == 0 && len >= UINT32_MAX / 8)
        r = wr_fail(err, WEIR_ELIMIT, "a JPEG of %zu bytes", len);
    if (r == 0) {
        s->to = &rows;
        r = read_head(s, bytes, len, err);
    }
    if (r == 0)
        r = unstuff(s, bytes + rows.head_len, len - rows.head_len, err);
    if (r == 0)
        r = take_rows(s, err);
    free(s);
    if (r < 0)
        wr_jpeg_rows_done(&rows);
    else
        *ret = rows;
    return r;
}
