/* pnm.c - PBM, PGM and PPM, plain and raw (P1 to P6).
 * SPDX-License-Identifier: Apache-2.0
 *
 * Why there is no library: docs/decisions. Samples of any largest value are
 * scaled to 0..255 and rounded. */
#include "codec/codec.h"

#include <string.h>

#include "base/be.h"
#include "base/error.h"
#include "base/mem.h"

#define MAX_NUMBER 99999999u

struct pnm_head {
    char kind; /* '1' to '6' */
    uint32_t width, height;
    uint32_t comps; /* samples of a pixel: 1 or 3 */
    uint32_t most;  /* largest value of a sample */
    uint32_t bits;  /* of a sample, raw: 1, 8, 16 */
    bool is_plain;  /* numbers in decimal */
    size_t pixels;  /* where they start */
};

/* Text on its way through a parser. */
struct cursor {
    const uint8_t *at, *end;
};

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool pnm_sniff(const uint8_t *bytes, size_t len)
{
    return len >= 4 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
           (is_space(bytes[2]) || bytes[2] == '#') &&
           (is_space(bytes[3]) || bytes[2] == '#' || bytes[3] == '#' ||
            (bytes[3] >= '0' && bytes[3] <= '9'));
}

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && (is_space(*c->at) || *c->at == '#')) {
        if (*c->at == '#')
            while (c->at < c->end && *c->at != '\n' && *c->at != '\r')
                c->at++;
        else
            c->at++;
    }
}

/* A decimal number and the one character behind it. */
static bool take_number(struct cursor *c, uint32_t *ret)
{
    uint32_t n = 0;
    const uint8_t *from;

    skip_space(c);
    from = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        n = n * 10 + (*c->at - '0');
        if (n > MAX_NUMBER)
            return false;
    }
    if (c->at == from || (c->at < c->end && !is_space(*c->at) && *c->at != '#'))
        return false;
    *ret = n;
    return true;
}

static int fail_head(weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "damaged PNM: no size or largest value in the header");
}

static int read_head(const uint8_t *bytes, size_t len, struct pnm_head *ret,
                     weir_err *err)
{
    struct cursor c = {bytes + 2, bytes + len};
    struct pnm_head h = {.kind = (char)bytes[1], .comps = 1, .most = 1};
    bool is_bits = h.kind == '1' || h.kind == '4';

    h.is_plain = h.kind <= '3';
    if (h.kind == '3' || h.kind == '6')
        h.comps = 3;
    if (!take_number(&c, &h.width) || !take_number(&c, &h.height) ||
        (!is_bits && !take_number(&c, &h.most)))
        return fail_head(err);
    if (!h.most || h.most > 65535)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged PNM: a largest value of %u, not of 1 to 65535",
                       h.most);
    if (c.at < c.end && is_space(*c.at))
        c.at++; /* one character, then the pixels */
    else if (!h.is_plain)
        return fail_head(err);
    h.bits = is_bits ? 1 : h.most > 255 ? 16 : 8;
    h.pixels = (size_t)(c.at - bytes);
    *ret = h;
    return 0;
}

static int pnm_info(const uint8_t *bytes, size_t len,
                    struct wr_picture_info *ret, weir_err *err)
{
    struct pnm_head h = {0};
    int r = read_head(bytes, len, &h, err);

    if (r < 0)
        return r;
    *ret = wr_picture_info_of(WR_PICTURE_PNM, h.width, h.height, h.comps);
    return 0;
}

/* To 0..255, rounded to the nearest; halves to the even one, as PIL does. */
static uint8_t scale(uint32_t value, uint32_t most)
{
    uint32_t scaled = WR_MIN(value, most) * 255u, low = scaled / most;
    uint32_t twice = scaled % most * 2;

    return (uint8_t)(low + (twice > most || (twice == most && low % 2)));
}

static void put(uint8_t *to, uint32_t comps, uint32_t k, uint8_t value)
{
    if (comps == 3)
        to[k] = value;
    else
        memset(to + 3 * (size_t)k, value, 3);
}

/* One row: 1 is black in bitmaps. */
static void paint_row(const uint8_t *in, const struct pnm_head *h, uint8_t *out)
{
    for (uint32_t k = 0; k < h->width * h->comps; k++) {
        uint32_t v = h->bits == 1    ? !(in[k / 8] >> (7 - k % 8) & 1)
                     : h->bits == 16 ? wr_be16(in + 2 * (size_t)k)
                                     : in[k];

        put(out, h->comps, k, scale(v, h->most));
    }
}

static int fail_cut(uint32_t y, const struct pnm_head *h, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT, "truncated PNM: data end at row %u of %u",
                   y, h->height);
}

static size_t raw_row(const struct pnm_head *h)
{
    return ((size_t)h->width * h->comps * h->bits + 7) / 8;
}

/* Can all pixels be there? A plain sample is one character at least. */
static int pnm_check(const uint8_t *bytes, size_t len, weir_err *err)
{
    struct pnm_head h = {0};
    int r = read_head(bytes, len, &h, err);
    size_t row, rows;

    if (r < 0)
        return r;
    row = h.is_plain ? (size_t)h.width * h.comps : raw_row(&h);
    rows = (len - h.pixels) / row;
    return rows < h.height ? fail_cut((uint32_t)rows, &h, err) : 0;
}

static void paint_raw(const struct wr_frame *f, const struct pnm_head *h)
{
    size_t row = raw_row(h);

    for (uint32_t y = 0; y < h->height; y++)
        paint_row(f->bytes + h->pixels + y * row, h,
                  f->rgb + (size_t)y * h->width * 3);
}

/* Plain bitmaps need no spaces between their digits. */
static bool take_bit(struct cursor *c, uint32_t *ret)
{
    skip_space(c);
    if (c->at == c->end || *c->at < '0' || *c->at > '1')
        return false;
    *ret = *c->at++ == '0';
    return true;
}

static int paint_plain(const struct wr_frame *f, const struct pnm_head *h,
                       weir_err *err)
{
    struct cursor c = {f->bytes + h->pixels, f->bytes + f->len};
    uint8_t *out = f->rgb;

    for (uint32_t y = 0; y < h->height; y++, out += (size_t)h->width * 3)
        for (uint32_t k = 0; k < h->width * h->comps; k++) {
            uint32_t v;

            if (h->kind == '1' ? take_bit(&c, &v) : take_number(&c, &v)) {
                if (v > h->most)
                    return wr_fail(err, WEIR_EFORMAT,
                                   "damaged PNM: %u over the largest value %u",
                                   v, h->most);
                put(out, h->comps, k, scale(v, h->most));
                continue;
            }
            if (c.at == c.end)
                return fail_cut(y, h, err);
            return wr_fail(err, WEIR_EFORMAT,
                           "damaged PNM: no number in row %u of %u", y,
                           h->height);
        }
    return 0;
}

static int pnm_paint(const struct wr_frame *f, weir_err *err)
{
    struct pnm_head h = {0};
    int r = read_head(f->bytes, f->len, &h, err);

    if (r < 0)
        return r;
    if (h.is_plain)
        return paint_plain(f, &h, err);
    paint_raw(f, &h);
    return 0;
}

const struct wr_codec wr_codec_pnm = {
    .name = "PNM",
    .kind = WR_PICTURE_PNM,
    .exts = {".ppm", ".pgm", ".pbm", ".pnm"},
    .sniff = pnm_sniff,
    .state_bytes = sizeof(struct wr_frame_state),
    .state_done = wr_frame_done,
    .info = pnm_info,
    .start = wr_frame_start,
    .read = wr_frame_read,
    .finish = wr_frame_finish,
    .check = pnm_check,
    .paint = pnm_paint,
};
