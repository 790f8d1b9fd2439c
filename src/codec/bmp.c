/* bmp.c - Windows and OS/2 bitmaps of 1 to 32 bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Why there is no library: docs/decisions. Everything that comes from the file
 * is checked in read_head; what follows relies on it. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "codec/codec.h"

struct bmp_head {
    uint32_t width, height;
    bool top_down;
    uint32_t bits; /* of a pixel: 1, 2, 4, 8, 16, 24, 32 */
    uint32_t compression;
    uint32_t mask[3]; /* 16 and 32 bits: red, green, blue */
    uint32_t colors;  /* entries of the palette */
    size_t palette;   /* where it starts in the file */
    size_t entry;     /* bytes of one of its entries: 3 or 4 */
    size_t pixels;    /* where they start in the file */
};

/* --- run lengths of BMP: RLE8 and RLE4 --- */

/* Where the next pixel goes, in rows as the file has them. */
struct rle {
    const struct bmp_head *head;
    const uint8_t *in, *end;
    uint8_t *out;
    uint32_t x, y;
    bool is_over;    /* pixels of this row were dropped beyond its end, */
    uint32_t beyond; /* and so many began there */
};

static int rle_fail_cut(const struct rle *s, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "truncated BMP: data end at row %u of %u, from below", s->y,
                   s->head->height);
}

static int fail_run(const struct rle *s, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "damaged BMP: pixels outside of row %u of %u, from below",
                   s->y, s->head->height);
}

static int fail_line(const struct rle *s, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "damaged BMP: row %u of %u, from below, goes on beyond its "
                   "width: an end of line is missing",
                   s->y, s->head->height);
}

/* Where `n` pixels go, and how many of them: what reaches over the row's end is
 * dropped, for some programs write rows of whole words. More pixels than that
 * belong to another row, and readers disagree about which. */
static int place(struct rle *s, uint32_t *n, uint8_t **ret_to, weir_err *err)
{
    const struct bmp_head *h = s->head;
    uint32_t room = h->width - s->x, padding = -h->width % (32 / h->bits);

    if (s->y >= h->height)
        return fail_run(s, err);
    if (room == 0)
        s->beyond += *n;
    if (s->beyond > padding)
        return fail_line(s, err);
    *ret_to = s->out + (size_t)s->y * h->width + s->x;
    s->is_over |= *n > room;
    *n = WR_MIN(*n, room);
    s->x += *n;
    return 0;
}

/* `n` pixels of one colour, or of two in turn. */
static int put_run(struct rle *s, uint32_t n, uint8_t value, weir_err *err)
{
    uint8_t *to = NULL;
    int r = place(s, &n, &to, err);

    for (uint32_t k = 0; k < n && r >= 0; k++)
        to[k] = s->head->bits == 8 ? value : k % 2 ? value & 15 : value >> 4;
    return r;
}

/* `n` pixels as they are, padded to 16 bits. */
static int put_pixels(struct rle *s, uint32_t n, weir_err *err)
{
    size_t bytes = s->head->bits == 8 ? n : (n + 1) / 2;
    uint8_t *to = NULL;
    int r = place(s, &n, &to, err);

    if (r < 0)
        return r;
    if ((size_t)(s->end - s->in) < bytes)
        return rle_fail_cut(s, err);
    for (uint32_t k = 0; k < n; k++)
        to[k] = s->head->bits == 8 ? s->in[k]
                : k % 2            ? s->in[k / 2] & 15
                                   : s->in[k / 2] >> 4;
    s->in += bytes;
    s->in += bytes % 2 && s->in < s->end;
    return 0;
}

/* `up` rows on, which end this one unless there are none. */
static void leave_row(struct rle *s, uint32_t up)
{
    s->y += up;
    if (up > 0) {
        s->is_over = false;
        s->beyond = 0;
    }
}

static int move(struct rle *s, weir_err *err)
{
    if (s->end - s->in < 2)
        return rle_fail_cut(s, err);
    if (s->in[1] > s->head->height - s->y)
        return fail_run(s, err);
    s->x = WR_MIN(s->x + s->in[0], s->head->width);
    leave_row(s, s->in[1]);
    s->in += 2;
    return 0;
}

/* What follows a zero; 1 at the end of the picture. */
static int escape(struct rle *s, uint8_t code, weir_err *err)
{
    switch (code) {
    case 0:
        if (s->y == s->head->height)
            return fail_run(s, err);
        s->x = 0;
        leave_row(s, 1);
        return 0;
    case 1:
        return s->is_over && s->y + 1 < s->head->height ? fail_line(s, err) : 1;
    case 2:
        return move(s, err);
    default:
        return put_pixels(s, code, err);
    }
}

/* Unpacks RLE8 or RLE4 to one byte a pixel, rows as they are in the file;
 * `out` has width * height bytes. Pixels that are skipped are 0. */
static int bmp_unpack_rle(const struct bmp_head *h, const uint8_t *in,
                          size_t len, uint8_t *out, weir_err *err)
{
    struct rle s = {.head = h, .in = in, .end = in + len, .out = out};
    int r = 0;

    memset(out, 0, (size_t)h->width * h->height);
    while (r == 0) {
        uint8_t n, value;

        if (s.end - s.in < 2) { /* some end without saying so */
            bool is_full = s.y == h->height ||
                           (s.y == h->height - 1 && s.x == h->width);

            return is_full ? 0 : rle_fail_cut(&s, err);
        }
        n = s.in[0];
        value = s.in[1];
        s.in += 2;
        r = n ? put_run(&s, n, value, err) : escape(&s, value, err);
    }
    return r < 0 ? r : 0;
}

enum { RAW = 0, RLE8 = 1, RLE4 = 2, BITFIELDS = 3, ALPHA_BITFIELDS = 6 };

#define FILE_HEAD 14u
#define CORE_HEAD 12u /* OS/2 1.x: 16-bit sizes, 3 bytes a colour */
#define INFO_HEAD 40u

static bool is_head_size(uint32_t size)
{
    return size == CORE_HEAD || size == INFO_HEAD || size == 52 || size == 56 ||
           size == 64 || size == 108 || size == 124;
}

/* "BM" alone would be many a text. */
static bool bmp_sniff(const uint8_t *bytes, size_t len)
{
    return len >= FILE_HEAD + 4 && bytes[0] == 'B' && bytes[1] == 'M' &&
           is_head_size(wr_le32(bytes + FILE_HEAD));
}

static int fail_cut(const char *where, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT, "truncated BMP: data end %s", where);
}

static int check_depth(const struct bmp_head *h, weir_err *err)
{
    static const uint8_t depths[] = {1, 2, 4, 8, 16, 24, 32};
    uint32_t c = h->compression;

    if (c != RAW && c != RLE8 && c != RLE4 && c != BITFIELDS &&
        c != ALPHA_BITFIELDS)
        return wr_fail(err, WEIR_ENOTSUP, "BMP of compression %u", c);
    if (!h->bits || !memchr(depths, (int)WR_MIN(h->bits, 255u), sizeof(depths)))
        return wr_fail(err, WEIR_EFORMAT, "damaged BMP: %u bits a pixel",
                       h->bits);
    if ((c == RLE8 && h->bits != 8) || (c == RLE4 && h->bits != 4) ||
        (c >= BITFIELDS && h->bits != 16 && h->bits != 32))
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged BMP: compression %u of %u bits a pixel", c,
                       h->bits);
    if ((c == RLE8 || c == RLE4) && h->top_down)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged BMP: compressed from the top down");
    return 0;
}

static void read_core(const uint8_t *p, struct bmp_head *h)
{
    h->width = wr_le16(p + 4);
    h->height = wr_le16(p + 6);
    h->bits = wr_le16(p + 10);
    h->entry = 3;
}

static void read_info(const uint8_t *p, struct bmp_head *h)
{
    uint32_t height = wr_le32(p + 8);

    h->width = wr_le32(p + 4);
    h->top_down = height >> 31;
    h->height = h->top_down ? 0u - height : height;
    h->bits = wr_le16(p + 14);
    h->compression = wr_le32(p + 16);
    h->colors = wr_le32(p + 32);
    h->entry = 4;
}

/* Masks stand behind a header of 40 bytes and inside of longer ones. */
static int read_masks(const uint8_t *bytes, size_t len, struct bmp_head *h,
                      weir_err *err)
{
    size_t at = FILE_HEAD + INFO_HEAD;

    if (h->bits == 16)
        memcpy(h->mask, (uint32_t[]){0x7c00, 0x3e0, 0x1f}, sizeof(h->mask));
    else
        memcpy(h->mask, (uint32_t[]){0xff0000, 0xff00, 0xff}, sizeof(h->mask));
    if (h->compression != BITFIELDS && h->compression != ALPHA_BITFIELDS)
        return 0;
    if (len < at + 16)
        return fail_cut("in the header", err);
    if (!(wr_le32(bytes + at) | wr_le32(bytes + at + 4) |
          wr_le32(bytes + at + 8)))
        return 0;
    for (int k = 0; k < 3; k++)
        h->mask[k] = wr_le32(bytes + at + 4 * (size_t)k);
    return 0;
}

/* Are all pixels there? Padding behind the last one may be missing. */
static int check_length(const struct bmp_head *h, size_t len, weir_err *err)
{
    uint64_t row = (uint64_t)h->width * h->bits;
    uint64_t need = (row + 31) / 32 * 4 * (h->height - 1) + (row + 7) / 8;

    if (h->pixels > len || h->palette > len)
        return fail_cut("before the pixels", err);
    if (h->compression != RLE8 && h->compression != RLE4 &&
        need > len - h->pixels)
        return fail_cut("inside of the pixels", err);
    return 0;
}

/* Where palette and pixels lie. */
static void set_offsets(const uint8_t *bytes, uint32_t size, struct bmp_head *h)
{
    size_t behind = FILE_HEAD + size;
    uint32_t at = wr_le32(bytes + 10);

    if (size == INFO_HEAD && h->compression == BITFIELDS)
        behind += 12;
    else if (size == INFO_HEAD && h->compression == ALPHA_BITFIELDS)
        behind += 16;
    h->palette = behind;
    if (h->bits > 8)
        h->colors = 0;
    else if (!h->colors || h->colors > 1u << h->bits)
        h->colors = 1u << h->bits;
    h->pixels = at >= behind ? at : behind + h->colors * h->entry;
    if (h->pixels < behind + h->colors * h->entry) /* a palette cut short */
        h->colors = (uint32_t)((h->pixels - behind) / h->entry);
}

static int read_head(const uint8_t *bytes, size_t len, struct bmp_head *ret,
                     weir_err *err)
{
    struct bmp_head h = {0};
    struct wr_picture_info info;
    static const struct wr_picture_crop no_crop;
    uint32_t size = wr_le32(bytes + FILE_HEAD); /* there: it was sniffed */
    int r;

    if (len < FILE_HEAD + size)
        return fail_cut("in the header", err);
    if (size == CORE_HEAD)
        read_core(bytes + FILE_HEAD, &h);
    else
        read_info(bytes + FILE_HEAD, &h);
    info = (struct wr_picture_info){.width = h.width, .height = h.height};
    r = wr_codec_check_size(&info, &no_crop, err);
    if (r >= 0)
        r = check_depth(&h, err);
    if (r >= 0)
        r = read_masks(bytes, len, &h, err);
    if (r < 0)
        return r;
    set_offsets(bytes, size, &h);
    *ret = h;
    return 0;
}

static int bmp_info(const uint8_t *bytes, size_t len,
                    struct wr_picture_info *ret, weir_err *err)
{
    struct bmp_head h = {0};
    int r = read_head(bytes, len, &h, err);

    if (r < 0)
        return r;
    *ret = wr_picture_info_of(WR_PICTURE_BMP, h.width, h.height, 3);
    return 0;
}

/* Colours that the palette does not have are black. */
static void read_palette(const struct wr_frame *f, const struct bmp_head *h,
                         uint8_t rgb[256][3])
{
    memset(rgb, 0, (size_t)256 * 3);
    for (uint32_t k = 0; k < h->colors; k++) {
        size_t at = h->palette + k * h->entry;

        if (at + 3 > f->len)
            break;
        for (int c = 0; c < 3; c++)
            rgb[k][c] = f->bytes[at + 2 - (size_t)c];
    }
}

static void paint_indexed(const uint8_t *in, const struct bmp_head *h,
                          const uint8_t rgb[256][3], uint8_t *out)
{
    uint32_t per_byte = 8 / h->bits, mask = (1u << h->bits) - 1;

    for (uint32_t x = 0; x < h->width; x++, out += 3) {
        uint32_t shift = 8 - h->bits * (x % per_byte + 1);

        memcpy(out, rgb[in[x / per_byte] >> shift & mask], 3);
    }
}

static void paint_bgr(const uint8_t *in, const struct bmp_head *h, uint8_t *out)
{
    for (uint32_t x = 0; x < h->width; x++, in += 3, out += 3) {
        out[0] = in[2];
        out[1] = in[1];
        out[2] = in[0];
    }
}

/* 5 bits 31 -> 255, cut off as PIL does. */
static uint8_t field(uint32_t pixel, uint32_t mask)
{
    unsigned shift = mask ? (unsigned)__builtin_ctz(mask) : 0;
    uint64_t most = mask >> shift;

    return most ? (uint8_t)(((pixel & mask) >> shift) * UINT64_C(255) / most)
                : 0;
}

static void paint_fields(const uint8_t *in, const struct bmp_head *h,
                         uint8_t *out)
{
    for (uint32_t x = 0; x < h->width; x++, out += 3) {
        uint32_t pixel = h->bits == 16 ? wr_le16(in + 2 * (size_t)x)
                                       : wr_le32(in + 4 * (size_t)x);

        for (int c = 0; c < 3; c++)
            out[c] = field(pixel, h->mask[c]);
    }
}

/* Rows lie in the file from the bottom up, unless it says otherwise. */
static uint8_t *row_of(const struct wr_frame *f, const struct bmp_head *h,
                       uint32_t k)
{
    uint32_t y = h->top_down ? k : h->height - 1 - k;

    return f->rgb + (size_t)y * h->width * 3;
}

static int paint_rle(const struct wr_frame *f, struct bmp_head *h,
                     const uint8_t palette[256][3], weir_err *err)
{
    uint8_t *out = malloc((size_t)h->width * h->height);
    int r;

    if (!out)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %ux%u pixels", h->width,
                       h->height);
    r = bmp_unpack_rle(h, f->bytes + h->pixels, f->len - h->pixels, out, err);
    h->bits = 8; /* from here on */
    for (uint32_t k = 0; k < h->height && r >= 0; k++)
        paint_indexed(out + (size_t)k * h->width, h, palette, row_of(f, h, k));
    free(out);
    return r;
}

static int bmp_check(const uint8_t *bytes, size_t len, weir_err *err)
{
    struct bmp_head h = {0};
    int r = read_head(bytes, len, &h, err);

    return r < 0 ? r : check_length(&h, len, err);
}

static int bmp_paint(const struct wr_frame *f, weir_err *err)
{
    uint8_t palette[256][3];
    struct bmp_head h = {0};
    size_t stride;
    int r = read_head(f->bytes, f->len, &h, err);

    if (r < 0)
        return r;
    read_palette(f, &h, palette);
    if (h.compression == RLE8 || h.compression == RLE4)
        return paint_rle(f, &h, palette, err);
    stride = ((size_t)h.width * h.bits + 31) / 32 * 4;
    for (uint32_t k = 0; k < h.height; k++) {
        const uint8_t *in = f->bytes + h.pixels + k * stride;

        if (h.bits <= 8)
            paint_indexed(in, &h, palette, row_of(f, &h, k));
        else if (h.bits == 24)
            paint_bgr(in, &h, row_of(f, &h, k));
        else
            paint_fields(in, &h, row_of(f, &h, k));
    }
    return 0;
}

const struct wr_codec wr_codec_bmp = {
    .name = "BMP",
    .kind = WR_PICTURE_BMP,
    .exts = {".bmp", ".dib"},
    .sniff = bmp_sniff,
    .state_bytes = sizeof(struct wr_frame_state),
    .state_done = wr_frame_done,
    .info = bmp_info,
    .start = wr_frame_start,
    .read = wr_frame_read,
    .finish = wr_frame_finish,
    .check = bmp_check,
    .paint = bmp_paint,
};
