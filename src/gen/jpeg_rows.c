/* jpeg_rows.c - where the rows of blocks lie in the bits of a JPEG.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ITU-T T.81: B.2 has the segments, F.2 the decoding of blocks. */
#include "gen/jpeg_rows.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/be.h"
#include "base/error.h"
#include "base/mem.h"

/* --- rows of blocks -> the scan of a JPEG --- */

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

/* --- rows found in the bits --- */

#define SOF0 0xc0u
#define DHT  0xc4u
#define SOS  0xdau

/* Bits that are looked up at once: most codes are no longer. */
#define LOOK    10
#define SKIP    12
#define WINDOW  57 /* bits that are there after a load, at least */
#define PADDING 16 /* bytes that can be read behind the bits */

/* A table of codes, as F.2.2.3 decodes them. */
struct huffman {
    uint8_t symbols[256];
    /* Of codes of so many bits: the one behind the last, as the first of 16
     * bits; what is to be added to a code for the place of its symbol. */
    uint32_t limit[17];
    int32_t place[17];
    /* By the next LOOK bits: the symbol, and the bits of its code; 0: more. */
    uint8_t symbol[1 << LOOK], len[1 << LOOK];
};

/* By the next SKIP bits: how far the whole values in them go. Two or three are
 * passed with one look. */
struct leap {
    uint8_t bits;       /* 0: not one is whole */
    uint8_t values : 7; /* that they are */
    bool ends : 1;      /* the last one says that the others are 0 */
};

struct jpeg_scan {
    struct wr_jpeg_rows *to; /* borrowed */
    size_t end;              /* bits that there are */
    size_t at;               /* the next bit */
    int16_t mean[WR_JPEG_COMPONENTS];
    struct huffman table[4];        /* DC 0 and 1, AC 0 and 1 */
    struct leap leap[2][1 << SKIP]; /* AC 0 and 1 */
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

static void put_symbol(struct huffman *h, uint8_t symbol, unsigned code,
                       unsigned bits)
{
    unsigned first = code << (LOOK - WR_MIN(bits, LOOK));

    if (bits > LOOK)
        return;
    memset(h->symbol + first, symbol, (size_t)1 << (LOOK - bits));
    memset(h->len + first, (int)bits, (size_t)1 << (LOOK - bits));
}

/* One table of codes: 16 counts, then symbols. Returns its bytes, 0 if wrong. */
static size_t read_table(struct jpeg_scan *s, const uint8_t *p, size_t len)
{
    unsigned code = 0, which = len ? p[0] : 0, k = 17;
    struct huffman *h = &s->table[(which >> 4 & 1) * 2 + (which & 1)];

    if (len < 17 || which & 0xee)
        return 0;
    *h = (struct huffman){0};
    for (unsigned bits = 1; bits <= 16; bits++, code <<= 1) {
        h->place[bits] = (int32_t)(k - 17) - (int32_t)code;
        for (unsigned n = p[bits]; n; n--, code++, k++) {
            if (k >= len || k - 17 >= sizeof(h->symbols) || code >> bits)
                return 0;
            h->symbols[k - 17] = p[k];
            put_symbol(h, p[k], code, bits);
            if (!(which >> 4))
                put_code(&s->to->dc[which & 1], p[k], code, bits);
        }
        h->limit[bits] = code << (16 - bits);
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
    r->height = wr_be16(p + 1);
    r->width = wr_be16(p + 3);
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
        body = wr_be16(b + at + 2);
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
    uint8_t *to = malloc(len + PADDING);
    const uint8_t *from = b, *ff;
    size_t n = 0;

    if (!to)
        return wr_fail(err, WEIR_ENOMEM, "no memory for pictures");
    for (bool more = true; more; from = ff + 2) {
        ff = memchr(from, 0xff, len - (size_t)(from - b));
        more = ff && ff + 1 < b + len && ff[1] == 0;
        ff = ff ? ff : b + len;
        memcpy(to + n, from, (size_t)(ff - from) + more);
        n += (size_t)(ff - from) + more;
    }
    memset(to + n, 0, PADDING);
    s->to->bits = to;
    s->end = n * 8;
    return 0;
}

/* --- blocks --- */

/* WINDOW bits at least, from here on, as the highest ones; what is behind the
 * end is 0. */
static uint64_t peek(const struct jpeg_scan *s)
{
    return wr_be64(s->to->bits + s->at / 8) << s->at % 8;
}

/* The symbol that `v` begins with, and the bits of its code; -1: none. */
static int symbol_of(const struct huffman *h, uint64_t v, unsigned *ret_bits)
{
    unsigned k = (unsigned)(v >> (64 - LOOK)), bits = h->len[k];
    unsigned code = (unsigned)(v >> 48);

    *ret_bits = bits;
    if (bits)
        return h->symbol[k];
    for (bits = LOOK + 1; bits <= 16; bits++) {
        if (code < h->limit[bits]) {
            *ret_bits = bits;
            return h->symbols[(int32_t)(code >> (16 - bits)) + h->place[bits]];
        }
    }
    return -1;
}

/* The next symbol; -1: there is none. */
static int symbol(struct jpeg_scan *s, const struct huffman *h)
{
    unsigned bits;
    int v = s->at < s->end ? symbol_of(h, peek(s), &bits) : -1;

    if (v >= 0)
        s->at += bits;
    return v;
}

static void find_leap(const struct huffman *h, unsigned first, struct leap *ret)
{
    unsigned at = 0, values = 0, bits;
    bool ends = false;

    while (!ends) {
        uint64_t v = (uint64_t)first << (64 - SKIP) << at;
        int is = symbol_of(h, v, &bits);

        bits += (unsigned)is & 15;
        if (is < 0 || at + bits > SKIP || values + 16 > 63)
            break;
        at += bits;
        ends = !(is & 15) && is != 0xf0;
        values += ends ? 0 : ((unsigned)is >> 4) + 1;
    }
    *ret = (struct leap){(uint8_t)at, values & 63, ends};
}

static void find_leaps(struct jpeg_scan *s)
{
    for (unsigned t = 0; t < 2; t++)
        for (unsigned k = 0; k < 1u << SKIP; k++)
            find_leap(&s->table[2 + t], k, &s->leap[t][k]);
}

/* Skips one of the other values of a block, of which `k` is next; returns the
 * one behind it, 64 at the end, -1 if there is none. */
static int skip_one(struct jpeg_scan *s, const struct huffman *h, unsigned k)
{
    int v = symbol(s, h);

    if (v < 0)
        return -1;
    if (!(v & 15) && v != 0xf0)
        return 64; /* the end of the block */
    s->at += (unsigned)v & 15;
    return (int)(k + ((unsigned)v >> 4) + 1);
}

/* Skips values from `*k` on as far as the next bits go by leaps. True: that was
 * the end of the block. */
static bool skip_leaps(struct jpeg_scan *s, const struct leap *leaps, int *k)
{
    uint64_t v = peek(s);
    unsigned used = 0;
    bool ended = false;
    struct leap l = leaps[v >> (64 - SKIP)];

    /* The bits behind value 63 are another block's. */
    while (l.bits && *k + l.values < 64 && used <= WINDOW - SKIP) {
        used += l.bits;
        *k += l.values;
        ended = l.ends;
        if (ended)
            break;
        v <<= l.bits;
        l = leaps[v >> (64 - SKIP)];
    }
    s->at += used;
    return ended;
}

/* Skips the other 63 values of a block. */
static bool skip_rest(struct jpeg_scan *s, unsigned table)
{
    for (int k = 1; k >= 0 && k < 64;) {
        size_t at = s->at;

        if (at >= s->end)
            return false;
        if (skip_leaps(s, s->leap[table], &k))
            return true;
        if (s->at == at)
            k = skip_one(s, &s->table[2 + table], (unsigned)k);
        if (k < 0)
            return false;
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
    diff = bits ? (int)(peek(s) >> (64 - bits)) : 0;
    if (bits && diff < 1 << (bits - 1))
        diff -= (1 << bits) - 1;
    s->at += (unsigned)bits;
    s->mean[c] = (int16_t)(s->mean[c] + diff);
    if (row) {
        row->from[c] = from;
        row->to[c] = (uint32_t)s->at;
        row->first[c] = s->mean[c];
    }
    return skip_rest(s, c > 0) && s->at <= s->end;
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
    find_leaps(s);
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
