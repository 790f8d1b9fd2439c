/* gif.c - the first frame of a GIF, through giflib.
 * SPDX-License-Identifier: Apache-2.0
 *
 * As PIL's convert('RGB') has it: transparent pixels keep the colour of their
 * palette entry, and what the first frame does not cover has the transparent
 * one's, or else that of entry 0. */
#include "codec/codec.h"

#include <string.h>

static bool gif_sniff(const uint8_t *bytes, size_t len)
{
    return len >= 6 &&
           (!memcmp(bytes, "GIF87a", 6) || !memcmp(bytes, "GIF89a", 6));
}

#ifdef WR_HAVE_GIF

#include <stdlib.h>

#include <gif_lib.h>

#include "base/error.h"
#include "base/mem.h"

/* What giflib reads from. */
struct input {
    const uint8_t *bytes; /* borrowed */
    size_t len, at;
};

/* An open file that stands in front of the first frame's pixels. */
struct gif {
    struct input in;
    GifFileType *file; /* owned */
    uint32_t width, height;
    int transparent; /* entry of the palette, or NO_TRANSPARENT_COLOR */
};

static int read_input(GifFileType *file, GifByteType *to, int want)
{
    struct input *in = file->UserData;
    size_t n = WR_MIN((size_t)want, in->len - in->at);

    memcpy(to, in->bytes + in->at, n);
    in->at += n;
    return (int)n;
}

static int fail_gif(int code, const char *where, weir_err *err)
{
    const char *text = GifErrorString(code);

    if (code == D_GIF_ERR_NOT_ENOUGH_MEM)
        return wr_fail(err, WEIR_ENOMEM, "no memory to decode a GIF");
    if (code == D_GIF_ERR_READ_FAILED || code == D_GIF_ERR_EOF_TOO_SOON)
        return wr_fail(err, WEIR_EFORMAT, "truncated GIF: data end %s", where);
    return wr_fail(err, WEIR_EFORMAT, "damaged GIF: %s %s",
                   text ? text : "an unknown error", where);
}

/* An extension: the one that says which entry is transparent is looked at. */
static bool take_extension(struct gif *g)
{
    GraphicsControlBlock gcb;
    GifByteType *data = NULL;
    int code;

    if (DGifGetExtension(g->file, &code, &data) == GIF_ERROR)
        return false;
    if (code == GRAPHICS_EXT_FUNC_CODE && data &&
        DGifExtensionToGCB(data[0], data + 1, &gcb) == GIF_OK)
        g->transparent = gcb.TransparentColor;
    while (data)
        if (DGifGetExtensionNext(g->file, &data) == GIF_ERROR)
            return false;
    return true;
}

/* Goes on to the first frame. */
static int find_frame(struct gif *g, weir_err *err)
{
    GifFileType *f = g->file;
    GifRecordType type;

    for (;;) {
        if (DGifGetRecordType(f, &type) == GIF_ERROR)
            return fail_gif(f->Error, "before the first frame", err);
        if (type == IMAGE_DESC_RECORD_TYPE)
            break;
        if (type == TERMINATE_RECORD_TYPE)
            return wr_fail(err, WEIR_EFORMAT, "damaged GIF: it has no frame");
        if (type == EXTENSION_RECORD_TYPE && !take_extension(g))
            return fail_gif(f->Error, "before the first frame", err);
    }
    if (DGifGetImageDesc(f) == GIF_ERROR)
        return fail_gif(f->Error, "in the head of the first frame", err);
    if (f->Image.Left < 0 || f->Image.Top < 0 || f->Image.Width <= 0 ||
        f->Image.Height <= 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "damaged GIF: a first frame of %dx%d pixels",
                       f->Image.Width, f->Image.Height);
    g->width = (uint32_t)WR_MAX(f->SWidth, f->Image.Left + f->Image.Width);
    g->height = (uint32_t)WR_MAX(f->SHeight, f->Image.Top + f->Image.Height);
    return 0;
}

static void gif_close(struct gif *g)
{
    if (g->file)
        DGifCloseFile(g->file, NULL);
    g->file = NULL;
}

/* `g` stays where it is until gif_close. */
static int gif_open(struct gif *g, const uint8_t *bytes, size_t len,
                    weir_err *err)
{
    int code = 0, r;

    *g = (struct gif){.in = {bytes, len, 0},
                      .transparent = NO_TRANSPARENT_COLOR};
    g->file = DGifOpen(&g->in, read_input, &code);
    if (!g->file)
        return fail_gif(code, "in the header", err);
    r = find_frame(g, err);
    if (r < 0)
        gif_close(g);
    return r;
}

static int gif_info(const uint8_t *bytes, size_t len,
                    struct wr_picture_info *ret, weir_err *err)
{
    struct gif g;
    int r = gif_open(&g, bytes, len, err);

    if (r < 0)
        return r;
    *ret = wr_picture_info_of(WR_PICTURE_GIF, g.width, g.height, 3);
    gif_close(&g);
    return 0;
}

/* The frame's own palette, or that of all; without any, shades of gray. */
static void read_palette(const struct gif *g, uint8_t rgb[256][3])
{
    const ColorMapObject *map = g->file->Image.ColorMap
                                    ? g->file->Image.ColorMap
                                    : g->file->SColorMap;

    for (int k = 0; k < 256; k++) {
        memset(rgb[k], k, 3);
        if (map && k < map->ColorCount) {
            rgb[k][0] = map->Colors[k].Red;
            rgb[k][1] = map->Colors[k].Green;
            rgb[k][2] = map->Colors[k].Blue;
        }
    }
}

static void fill(const struct wr_frame *f, const uint8_t colour[3])
{
    size_t n = (size_t)f->width * f->height;

    for (size_t k = 0; k < n; k++)
        memcpy(f->rgb + 3 * k, colour, 3);
}

/* The row of the frame that comes as the k-th of `height`. */
static uint32_t interlaced_row(uint32_t k, uint32_t height)
{
    static const uint32_t first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};

    for (int pass = 0; pass < 4; pass++) {
        uint32_t rows = first[pass] < height
                            ? (height - 1 - first[pass]) / step[pass] + 1
                            : 0;

        if (k < rows)
            return first[pass] + k * step[pass];
        k -= rows;
    }
    return 0; /* not reached: k < height */
}

static int paint_rows(const struct wr_frame *f, const struct gif *g,
                      const uint8_t palette[256][3], uint8_t *line,
                      weir_err *err)
{
    const GifImageDesc *d = &g->file->Image;
    uint32_t height = (uint32_t)d->Height;

    for (uint32_t k = 0; k < height; k++) {
        uint32_t y = d->Interlace ? interlaced_row(k, height) : k;
        uint8_t *out = f->rgb +
                       (((size_t)d->Top + y) * f->width + (size_t)d->Left) * 3;

        if (DGifGetLine(g->file, line, d->Width) == GIF_ERROR)
            return fail_gif(g->file->Error, "among the pixels", err);
        for (int x = 0; x < d->Width; x++, out += 3)
            memcpy(out, palette[line[x]], 3);
    }
    return 0;
}

static int gif_paint(const struct wr_frame *f, weir_err *err)
{
    uint8_t palette[256][3], *line;
    struct gif g;
    int r = gif_open(&g, f->bytes, f->len, err);

    if (r < 0)
        return r;
    line = malloc((size_t)g.file->Image.Width);
    if (line) {
        read_palette(&g, palette);
        fill(f, palette[g.transparent >= 0 ? g.transparent : 0]);
        r = paint_rows(f, &g, palette, line, err);
    } else {
        r = wr_fail(err, WEIR_ENOMEM, "no memory to decode a GIF");
    }
    free(line);
    gif_close(&g);
    return r;
}

#endif

const struct wr_codec wr_codec_gif = {
    .name = "GIF",
    .kind = WR_PICTURE_GIF,
    .exts = {".gif"},
    .sniff = gif_sniff,
#ifdef WR_HAVE_GIF
    .state_bytes = sizeof(struct wr_frame_state),
    .state_done = wr_frame_done,
    .info = gif_info,
    .start = wr_frame_start,
    .read = wr_frame_read,
    .finish = wr_frame_finish,
    .paint = gif_paint,
#else
    .missing = "weir was built without giflib (meson option 'gif')",
#endif
};
