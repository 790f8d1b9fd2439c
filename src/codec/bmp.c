/* bmp.c - Windows and OS/2 bitmaps of 1 to 32 bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Why there is no library: docs/decisions. Everything that comes from the file
 * is checked in read_head; what follows relies on it. */
#include "codec/bmp.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"

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

static int check_depth(const struct wr_bmp_head *h, weir_err *err)
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

static void read_core(const uint8_t *p, struct wr_bmp_head *h)
{
    h->width = wr_le16(p + 4);
    h->height = wr_le16(p + 6);
    h->bits = wr_le16(p + 10);
    h->entry = 3;
}

static void read_info(const uint8_t *p, struct wr_bmp_head *h)
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
static int read_masks(const uint8_t *bytes, size_t len, struct wr_bmp_head *h,
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
static int check_length(const struct wr_bmp_head *h, size_t len, weir_err *err)
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
static void set_offsets(const uint8_t *bytes, uint32_t size,
                        struct wr_bmp_head *h)
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

static int read_head(const uint8_t *bytes, size_t len, struct wr_bmp_head *ret,
                     weir_err *err)
{
    struct wr_bmp_head h = {0};
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
    struct wr_bmp_head h = {0};
    int r = read_head(bytes, len, &h, err);

    if (r < 0)
        return r;
    *ret = (struct wr_picture_info){
        .kind = WR_PICTURE_BMP,
        .width = h.width,
        .height = h.height,
        .components = 3,
    };
    return 0;
}

/* Colours that the palette does not have are black. */
static void read_palette(const struct wr_frame *f, const struct wr_bmp_head *h,
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

static void paint_indexed(const uint8_t *in, const struct wr_bmp_head *h,
                          const uint8_t rgb[256][3], uint8_t *out)
{
    uint32_t per_byte = 8 / h->bits, mask = (1u << h->bits) - 1;

    for (uint32_t x = 0; x < h->width; x++, out += 3) {
        uint32_t shift = 8 - h->bits * (x % per_byte + 1);

        memcpy(out, rgb[in[x / per_byte] >> shift & mask], 3);
    }
}

static void paint_bgr(const uint8_t *in, const struct wr_bmp_head *h,
                      uint8_t *out)
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

static void paint_fields(const uint8_t *in, const struct wr_bmp_head *h,
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
static uint8_t *row_of(const struct wr_frame *f, const struct wr_bmp_head *h,
                       uint32_t k)
{
    uint32_t y = h->top_down ? k : h->height - 1 - k;

    return f->rgb + (size_t)y * h->width * 3;
}

static int paint_rle(const struct wr_frame *f, struct wr_bmp_head *h,
                     const uint8_t palette[256][3], weir_err *err)
{
    uint8_t *out = malloc((size_t)h->width * h->height);
    int r;

    if (!out)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %ux%u pixels", h->width,
                       h->height);
    r = wr_bmp_unpack_rle(h, f->bytes + h->pixels, f->len - h->pixels, out,
                          err);
    h->bits = 8; /* from here on */
    for (uint32_t k = 0; k < h->height && r >= 0; k++)
        paint_indexed(out + (size_t)k * h->width, h, palette, row_of(f, h, k));
    free(out);
    return r;
}

static int bmp_check(const uint8_t *bytes, size_t len, weir_err *err)
{
    struct wr_bmp_head h = {0};
    int r = read_head(bytes, len, &h, err);

    return r < 0 ? r : check_length(&h, len, err);
}

static int bmp_paint(const struct wr_frame *f, weir_err *err)
{
    uint8_t palette[256][3];
    struct wr_bmp_head h = {0};
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
