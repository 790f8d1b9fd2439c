/* tiff.c - the first picture of a TIFF, through libtiff.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libtiff unpacks strips and tiles; what their samples mean is said here, because
 * its RGBA interface has other ideas of alpha, 16 bits and inks than PIL. */
#include <string.h>

#include "codec/codec.h"

static bool tiff_sniff(const uint8_t *bytes, size_t len)
{
    return len >= 4 &&
           (!memcmp(bytes, "II*\0", 4) || !memcmp(bytes, "MM\0*", 4) ||
            !memcmp(bytes, "II+\0", 4) || !memcmp(bytes, "MM\0+", 4));
}

#ifdef WR_HAVE_TIFF

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tiffio.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/turn.h"

/* Lives at one address while it is open. */
struct wr_tiff_file {
    TIFF *tiff;           /* owned */
    const uint8_t *bytes; /* borrowed */
    uint64_t len, at;
    bool is_strict; /* warnings are damage, as they are among pixels */
    int code;       /* of the first thing that was wrong; 0: nothing */
    char msg[200];
};

#define WR_TIFF_MAX_SAMPLES 16u /* of a pixel */

enum wr_tiff_color {
    WR_TIFF_GRAY,
    WR_TIFF_GRAY_INVERTED, /* 0 is white */
    WR_TIFF_RGB,
    WR_TIFF_RGB_MULTIPLIED, /* by alpha, the fourth sample */
    WR_TIFF_PALETTE,
    WR_TIFF_CMYK,
};

/* How the samples of a picture are to be read. */
struct wr_tiff_rows {
    enum wr_tiff_color color;
    uint32_t bits;    /* of a sample: 1, 2, 4, 8, 16 in this machine's order */
    uint32_t samples; /* of a pixel, those that are not looked at included */
    bool is_planar;   /* one after the other, instead of pixel by pixel */
    size_t plane_bytes; /* planar: from one sample's rows to the next one's */
    uint8_t palette[256][3];
};

#define TEXT_BYTES 160
#define MAX_MEMORY ((tmsize_t)1 << 30) /* of one block that libtiff takes */

/* --- libtiff held in: input in memory, errors, limits --- */

/* libtiff has no codes, only texts. */
static int code_of(const char *text)
{
    if (strstr(text, "beyond the"))
        return WEIR_ELIMIT;
    return wr_strcasestr(text, "memory") ? WEIR_ENOMEM : WEIR_EFORMAT;
}

static void note(struct wr_tiff_file *f, const char *module, const char *text)
{
    if (f->code)
        return; /* what came first is the cause */
    f->code = code_of(text);
    if (f->code == WEIR_EFORMAT)
        snprintf(f->msg, sizeof(f->msg), "damaged TIFF: %s", text);
    else
        snprintf(f->msg, sizeof(f->msg), "TIFF: %s: %s",
                 module ? module : "libtiff", text);
}

__attribute__((format(printf, 4, 0))) static int
on_error(TIFF *t, void *user, const char *module, const char *fmt, va_list ap)
{
    char text[TEXT_BYTES];

    wr_vsnprintf(text, sizeof(text), fmt, ap);
    note(user, module, text);
    return 1; /* and nobody prints it */
}

__attribute__((format(printf, 4, 0))) static int
on_warning(TIFF *t, void *user, const char *module, const char *fmt, va_list ap)
{
    struct wr_tiff_file *f = user;
    char text[TEXT_BYTES];

    wr_vsnprintf(text, sizeof(text), fmt, ap);
    /* Without its palette a picture would pass as a gray one. */
    if (f->is_strict || wr_strcasestr(text, "colormap"))
        note(f, module, text);
    return 1;
}

static tmsize_t on_read(thandle_t h, void *to, tmsize_t want)
{
    struct wr_tiff_file *f = h;
    uint64_t left = f->at < f->len ? f->len - f->at : 0;
    uint64_t n = want > 0 ? WR_MIN((uint64_t)want, left) : 0;

    if (n)
        memcpy(to, f->bytes + f->at, n);
    f->at += n;
    return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t h, void *from, tmsize_t want)
{
    return -1;
}

static toff_t on_seek(thandle_t h, toff_t to, int whence)
{
    struct wr_tiff_file *f = h;

    f->at = whence == SEEK_CUR   ? f->at + to
            : whence == SEEK_END ? f->len + to
                                 : to;
    return f->at;
}

static int on_close(thandle_t h)
{
    return 0;
}

static toff_t on_size(thandle_t h)
{
    return ((struct wr_tiff_file *)h)->len;
}

static void tiff_close(struct wr_tiff_file *f)
{
    if (f->tiff)
        TIFFClose(f->tiff);
    f->tiff = NULL;
}

/* The failure that libtiff reported, or `otherwise`. */
static int tiff_fail(const struct wr_tiff_file *f, const char *otherwise,
                     weir_err *err)
{
    if (f->code)
        return wr_fail(err, f->code, "%s", f->msg);
    return wr_fail(err, WEIR_EFORMAT, "damaged TIFF: %s", otherwise);
}

static int open_file(struct wr_tiff_file *f, const void *bytes, size_t len,
                     weir_err *err)
{
    TIFFOpenOptions *o = TIFFOpenOptionsAlloc();

    *f = (struct wr_tiff_file){.bytes = bytes, .len = len};
    if (!o)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a TIFF decoder");
    TIFFOpenOptionsSetMaxSingleMemAlloc(o, MAX_MEMORY);
    TIFFOpenOptionsSetErrorHandlerExtR(o, on_error, f);
    TIFFOpenOptionsSetWarningHandlerExtR(o, on_warning, f);
    /* m: no mapping, all input comes through on_read */
    f->tiff = TIFFClientOpenExt("TIFF", "rm", f, on_read, on_write, on_seek,
                                on_close, on_size, NULL, NULL, o);
    TIFFOpenOptionsFree(o);
    if (f->tiff && !f->code)
        return 0;
    tiff_close(f);
    return tiff_fail(f, "no directory", err);
}

/* --- samples as TIFF stores them -> RGB --- */

/* As PIL's convert('RGB'): alpha is dropped, 16 bits lose the lower 8. */

/* Samples of a pixel that a kind of colour needs. */
static uint32_t tiff_color_samples(enum wr_tiff_color color)
{
    static const uint32_t samples[] = {
        [WR_TIFF_GRAY] = 1,    [WR_TIFF_GRAY_INVERTED] = 1,
        [WR_TIFF_RGB] = 3,     [WR_TIFF_RGB_MULTIPLIED] = 4,
        [WR_TIFF_PALETTE] = 1, [WR_TIFF_CMYK] = 4,
    };

    return samples[color];
}

/* Sample k of a row, as it is stored; of 16 bits the upper 8. */
static uint8_t stored(const uint8_t *in, uint32_t bits, size_t k)
{
    uint16_t wide;

    switch (bits) {
    case 8:
        return in[k];
    case 16:
        memcpy(&wide, in + 2 * k, 2);
        return (uint8_t)(wide >> 8);
    default:
        return in[k * bits / 8] >> (8 - bits - k * bits % 8) &
               ((1u << bits) - 1);
    }
}

static uint8_t sample(const struct wr_tiff_rows *how, const uint8_t *in,
                      uint32_t x, uint32_t c)
{
    if (how->is_planar)
        return stored(in + c * how->plane_bytes, how->bits, x);
    return stored(in, how->bits, (size_t)x * how->samples + c);
}

static uint8_t gray(const struct wr_tiff_rows *how, uint8_t v)
{
    uint32_t bits = WR_MIN(how->bits, 8u);
    uint32_t full = v * 255u / ((1u << bits) - 1);

    return (uint8_t)(how->color == WR_TIFF_GRAY ? full : 255 - full);
}

/* Divides by alpha, as PIL does. */
static uint8_t divide(uint8_t v, uint8_t alpha)
{
    return alpha ? (uint8_t)WR_MIN(255u * v / alpha, 255u) : 0;
}

/* Ink c under black k, rounded as PIL does. */
static uint8_t ink(uint8_t c, uint8_t k)
{
    uint32_t light = 255u - k, product = c * light + 128;

    return (uint8_t)(light - (((product >> 8) + product) >> 8));
}

static void convert(const struct wr_tiff_rows *how, const uint8_t s[4],
                    uint8_t *rgb)
{
    switch (how->color) {
    case WR_TIFF_GRAY:
    case WR_TIFF_GRAY_INVERTED:
        memset(rgb, gray(how, s[0]), 3);
        break;
    case WR_TIFF_RGB:
        memcpy(rgb, s, 3);
        break;
    case WR_TIFF_RGB_MULTIPLIED:
        for (int c = 0; c < 3; c++)
            rgb[c] = divide(s[c], s[3]);
        break;
    case WR_TIFF_PALETTE:
        memcpy(rgb, how->palette[s[0]], 3);
        break;
    case WR_TIFF_CMYK:
        for (int c = 0; c < 3; c++)
            rgb[c] = ink(s[c], s[3]);
        break;
    }
}

/* One row of n pixels at `in`. */
static void tiff_row(const struct wr_tiff_rows *how, const uint8_t *in,
                     uint32_t n, uint8_t *rgb)
{
    uint32_t samples = tiff_color_samples(how->color);

    if (how->color == WR_TIFF_RGB && how->bits == 8 && how->samples == 3 &&
        !how->is_planar) {
        memcpy(rgb, in, (size_t)n * 3);
        return;
    }
    for (uint32_t x = 0; x < n; x++, rgb += 3) {
        uint8_t s[4];

        for (uint32_t c = 0; c < samples; c++)
            s[c] = sample(how, in, x, c);
        convert(how, s, rgb);
    }
}

/* A chunk (strip or tile) may be this large, whatever the picture's size; or
 * so many times as large as the picture. */
#define CHUNK_BYTES ((uint64_t)16 << 20)
#define CHUNK_TIMES 4u

struct tiff {
    struct wr_tiff_file file;
    uint32_t width, height;
    uint16_t compression, photometric;
    uint32_t chunk_w, chunk_h; /* pixels */
    uint64_t chunk_bytes;      /* of one sample only, when planar */
    size_t row_bytes;          /* of a chunk */
    bool is_tiled;
    bool by_library; /* libtiff makes RGBA of it */
    struct wr_tiff_rows rows;
};

static uint16_t field16(TIFF *t, uint32_t tag)
{
    uint16_t value = 0;

    TIFFGetFieldDefaulted(t, tag, &value);
    return value;
}

/* Those that PIL reads, without the ones that nobody writes any more and whose
 * decoders are the least tested. */
static bool is_read(uint16_t compression)
{
    static const uint16_t read[] = {
        COMPRESSION_NONE,          COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3,
        COMPRESSION_CCITTFAX4,     COMPRESSION_LZW,      COMPRESSION_JPEG,
        COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,  COMPRESSION_PACKBITS,
        COMPRESSION_LZMA,          COMPRESSION_ZSTD,     COMPRESSION_WEBP,
    };

    for (size_t k = 0; k < WR_ARRAY_LEN(read); k++)
        if (read[k] == compression)
            return TIFFIsCODECConfigured(compression);
    return false;
}

static bool is_multiplied(TIFF *t)
{
    uint16_t count = 0, *types = NULL;

    TIFFGetFieldDefaulted(t, TIFFTAG_EXTRASAMPLES, &count, &types);
    return count && types && types[0] == EXTRASAMPLE_ASSOCALPHA;
}

static int choose_color(struct tiff *t, weir_err *err)
{
    switch (t->photometric) {
    case PHOTOMETRIC_MINISWHITE:
        t->rows.color = WR_TIFF_GRAY_INVERTED;
        return 0;
    case PHOTOMETRIC_MINISBLACK:
        t->rows.color = WR_TIFF_GRAY;
        return 0;
    case PHOTOMETRIC_RGB:
        t->rows.color = is_multiplied(t->file.tiff) ? WR_TIFF_RGB_MULTIPLIED
                                                    : WR_TIFF_RGB;
        return 0;
    case PHOTOMETRIC_PALETTE:
        t->rows.color = WR_TIFF_PALETTE;
        return 0;
    case PHOTOMETRIC_SEPARATED:
        t->rows.color = WR_TIFF_CMYK;
        return 0;
    case PHOTOMETRIC_YCBCR:
        t->rows.color = WR_TIFF_RGB;
        t->by_library = t->compression != COMPRESSION_JPEG || t->rows.is_planar;
        if (!t->by_library)
            TIFFSetField(t->file.tiff, TIFFTAG_JPEGCOLORMODE,
                         JPEGCOLORMODE_RGB);
        return 0;
    default:
        return wr_fail(err, WEIR_ENOTSUP, "TIFF of photometric kind %u",
                       t->photometric);
    }
}

static int check_samples(const struct tiff *t, weir_err *err)
{
    const struct wr_tiff_rows *rows = &t->rows;
    uint16_t format = field16(t->file.tiff, TIFFTAG_SAMPLEFORMAT);
    uint32_t bits = rows->bits;

    if (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID)
        return wr_fail(err, WEIR_ENOTSUP,
                       "TIFF of samples that are not whole numbers from 0 on");
    if ((bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16) ||
        (rows->color == WR_TIFF_PALETTE && bits > 8) ||
        (bits < 8 && tiff_color_samples(rows->color) > 1))
        return wr_fail(err, WEIR_ENOTSUP,
                       "TIFF of %u bits a sample, photometric kind %u", bits,
                       t->photometric);
    if (rows->samples < tiff_color_samples(rows->color) ||
        rows->samples > WR_TIFF_MAX_SAMPLES)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged TIFF: %u samples a pixel, photometric kind %u",
                       rows->samples, t->photometric);
    return 0;
}

/* The map has 16 bits a colour, all red ones first; PIL takes the upper 8. */
static int read_palette(struct tiff *t, weir_err *err)
{
    uint16_t *map[3];

    if (!TIFFGetField(t->file.tiff, TIFFTAG_COLORMAP, &map[0], &map[1],
                      &map[2]))
        return wr_fail(err, WEIR_EFORMAT, "damaged TIFF: no palette");
    for (uint32_t k = 0; k < 1u << t->rows.bits; k++)
        for (int c = 0; c < 3; c++)
            t->rows.palette[k][c] = (uint8_t)(map[c][k] >> 8);
    return 0;
}

/* Sizes of strips or tiles. */
static int measure(struct tiff *t, weir_err *err)
{
    TIFF *f = t->file.tiff;
    uint64_t pixels = (uint64_t)t->width * t->height;
    uint64_t most = WR_MAX(CHUNK_BYTES, pixels * t->rows.samples *
                                            (t->rows.bits + 7) / 8 *
                                            CHUNK_TIMES);
    uint64_t row;

    t->is_tiled = TIFFIsTiled(f);
    if (t->is_tiled) {
        TIFFGetField(f, TIFFTAG_TILEWIDTH, &t->chunk_w);
        TIFFGetField(f, TIFFTAG_TILELENGTH, &t->chunk_h);
        t->chunk_bytes = TIFFTileSize64(f);
        row = TIFFTileRowSize64(f);
    } else {
        TIFFGetFieldDefaulted(f, TIFFTAG_ROWSPERSTRIP, &t->chunk_h);
        t->chunk_w = t->width;
        t->chunk_h = WR_MIN(t->chunk_h, t->height);
        t->chunk_bytes = TIFFVStripSize64(f, t->chunk_h);
        row = TIFFScanlineSize64(f);
    }
    if (!t->chunk_w || !t->chunk_h || !t->chunk_bytes || !row ||
        row > t->chunk_bytes / t->chunk_h)
        return tiff_fail(&t->file, "strips of no size", err);
    if (t->chunk_bytes > most)
        return wr_fail(err, WEIR_ELIMIT,
                       "TIFF of %ux%u pixels in pieces of %" PRIu64 " bytes",
                       t->width, t->height, t->chunk_bytes);
    t->row_bytes = (size_t)row;
    t->rows.plane_bytes = (size_t)t->chunk_bytes;
    return 0;
}

static int read_head(struct tiff *t, weir_err *err)
{
    TIFF *f = t->file.tiff;
    int r;

    TIFFGetField(f, TIFFTAG_IMAGEWIDTH, &t->width);
    TIFFGetField(f, TIFFTAG_IMAGELENGTH, &t->height);
    t->compression = field16(f, TIFFTAG_COMPRESSION);
    if (!is_read(t->compression))
        return wr_fail(err, WEIR_ENOTSUP, "TIFF of compression %u",
                       t->compression);
    if (!TIFFGetField(f, TIFFTAG_PHOTOMETRIC, &t->photometric))
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged TIFF: nothing says what its samples mean");
    t->rows.bits = field16(f, TIFFTAG_BITSPERSAMPLE);
    t->rows.samples = field16(f, TIFFTAG_SAMPLESPERPIXEL);
    t->rows.is_planar = field16(f, TIFFTAG_PLANARCONFIG) ==
                            PLANARCONFIG_SEPARATE &&
                        t->rows.samples > 1;
    r = choose_color(t, err);
    return r < 0 ? r : check_samples(t, err);
}

static int tiff_open(struct tiff *t, const uint8_t *bytes, size_t len,
                     weir_err *err)
{
    int r;

    *t = (struct tiff){0};
    r = open_file(&t->file, bytes, len, err);
    if (r < 0)
        return r;
    r = read_head(t, err);
    if (r < 0)
        tiff_close(&t->file);
    return r;
}

static int tiff_info(const uint8_t *bytes, size_t len,
                     struct wr_picture_info *ret, weir_err *err)
{
    struct tiff t;
    int r = tiff_open(&t, bytes, len, err);

    if (r < 0)
        return r;
    *ret = wr_picture_info_of(
        WR_PICTURE_TIFF, t.width, t.height,
        t.rows.color == WR_TIFF_PALETTE ? 3 : WR_MIN(t.rows.samples, 4u));
    tiff_close(&t.file);
    return 0;
}

/* What is not compressed is as large as it says. */
static int tiff_check(const uint8_t *bytes, size_t len, weir_err *err)
{
    struct tiff t;
    int r = tiff_open(&t, bytes, len, err);
    uint64_t bits;

    if (r < 0)
        return r;
    bits = (uint64_t)t.width * t.height * t.rows.samples * t.rows.bits;
    if (t.compression == COMPRESSION_NONE && !t.by_library && bits / 8 > len)
        r = wr_fail(err, WEIR_EFORMAT,
                    "truncated TIFF: %zu bytes for %ux%u pixels", len, t.width,
                    t.height);
    tiff_close(&t.file);
    return r;
}

/* --- pixels --- */

/* One strip or tile, its samples one after the other when they are planar. */
static int read_chunk(struct tiff *t, uint32_t x, uint32_t y, uint8_t *buf,
                      weir_err *err)
{
    uint32_t planes = t->rows.is_planar ? tiff_color_samples(t->rows.color) : 1;
    uint32_t rows = t->is_tiled ? t->chunk_h
                                : WR_MIN(t->chunk_h, t->height - y);
    tmsize_t size = (tmsize_t)(t->row_bytes * rows);

    for (uint32_t p = 0; p < planes; p++, buf += t->chunk_bytes) {
        TIFF *f = t->file.tiff;
        tmsize_t got;

        got = t->is_tiled
                  ? TIFFReadEncodedTile(
                        f, TIFFComputeTile(f, x, y, 0, (uint16_t)p), buf, size)
                  : TIFFReadEncodedStrip(f, TIFFComputeStrip(f, y, (uint16_t)p),
                                         buf, size);
        if (got != size || t->file.code)
            return tiff_fail(&t->file, "pixels are missing", err);
    }
    return 0;
}

static int paint_chunks(struct tiff *t, const struct wr_frame *f, uint8_t *buf,
                        weir_err *err)
{
    for (uint32_t y = 0; y < f->height; y += t->chunk_h)
        for (uint32_t x = 0; x < f->width; x += t->chunk_w) {
            uint32_t n = WR_MIN(t->chunk_w, f->width - x);
            uint32_t rows = WR_MIN(t->chunk_h, f->height - y);
            int r = read_chunk(t, x, y, buf, err);

            if (r < 0)
                return r;
            for (uint32_t k = 0; k < rows; k++)
                tiff_row(&t->rows, buf + k * t->row_bytes, n,
                         f->rgb + ((size_t)(y + k) * f->width + x) * 3);
        }
    return 0;
}

static int paint_samples(struct tiff *t, const struct wr_frame *f,
                         weir_err *err)
{
    uint32_t planes = t->rows.is_planar ? t->rows.samples : 1;
    uint8_t *buf;
    int r = measure(t, err);

    if (r >= 0 && t->rows.color == WR_TIFF_PALETTE)
        r = read_palette(t, err);
    if (r < 0)
        return r;
    buf = malloc((size_t)t->chunk_bytes * planes);
    if (!buf)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %" PRIu64 " bytes",
                       t->chunk_bytes);
    t->file.is_strict = true;
    r = paint_chunks(t, f, buf, err);
    free(buf);
    return r;
}

/* Luma and colour in blocks of their own sizes: libtiff knows how. */
static int paint_by_library(struct tiff *t, const struct wr_frame *f,
                            weir_err *err)
{
    size_t pixels = (size_t)f->width * f->height;
    uint32_t *raster = NULL;
    TIFFRGBAImage image;
    char why[1024] = "";
    int r = measure(t, err), ok;

    if (r < 0)
        return r;
    if (!TIFFRGBAImageBegin(&image, t->file.tiff, /* stop= */ 1, why))
        return tiff_fail(&t->file, why, err);
    image.req_orientation = image.orientation; /* as it is stored */
    raster = malloc(pixels * sizeof(*raster));
    if (!raster) {
        r = wr_fail(err, WEIR_ENOMEM, "no memory for %zu pixels", pixels);
        goto out;
    }
    t->file.is_strict = true;
    ok = TIFFRGBAImageGet(&image, raster, f->width, f->height);
    if (!ok || t->file.code) {
        r = tiff_fail(&t->file, "pixels are missing", err);
        goto out;
    }
    for (size_t k = 0; k < pixels; k++) {
        f->rgb[3 * k] = (uint8_t)TIFFGetR(raster[k]);
        f->rgb[3 * k + 1] = (uint8_t)TIFFGetG(raster[k]);
        f->rgb[3 * k + 2] = (uint8_t)TIFFGetB(raster[k]);
    }
out:
    free(raster);
    TIFFRGBAImageEnd(&image);
    return r;
}

static int tiff_paint(const struct wr_frame *f, weir_err *err)
{
    struct tiff t;
    int r;

    errno = 0;
    r = tiff_open(&t, f->bytes, f->len, err);
    if (r < 0)
        return r;
    r = t.by_library ? paint_by_library(&t, f, err) : paint_samples(&t, f, err);
    tiff_close(&t.file);
    /* Where memory lacks, libtiff may leave pixels out and call that success. */
    if (r == 0 && errno == ENOMEM)
        r = wr_fail(err, WEIR_ENOMEM, "no memory to decode a TIFF");
    return r;
}

#endif

const struct wr_codec wr_codec_tiff = {
    .name = "TIFF",
    .kind = WR_PICTURE_TIFF,
    .exts = {".tif", ".tiff"},
    .sniff = tiff_sniff,
#ifdef WR_HAVE_TIFF
    .state_bytes = sizeof(struct wr_frame_state),
    .state_done = wr_frame_done,
    .info = tiff_info,
    .orientation = wr_exif_orientation,
    .start = wr_frame_start,
    .read = wr_frame_read,
    .finish = wr_frame_finish,
    .check = tiff_check,
    .paint = tiff_paint,
#else
    .missing = "weir was built without libtiff 4.5 (meson option 'tiff')",
#endif
};
