/* jpeg.c - JPEG through libjpeg-turbo, row by row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/be.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/exif.h"
#include "codec/jpeg_guard.h"

#define STRIP_ROWS 8u /* a read's rows: 12 KB at 500 pixels, inside L1 */
/* Colour upsampling looks this far over the border of a crop. */
#define CROP_MARGIN 2u
#define MARKER_SOS  0xda

struct jpeg_state {
    struct wr_jpeg_guard guard;
    bool is_planar, is_cropped, is_cmyk;
    uint32_t channels;
    uint32_t row, end; /* next row to deliver; the one behind the last */
    struct wr_codec_shape shape;
    uint8_t *cmyk; /* owned: one row as decoded */
    size_t cmyk_cap;
};

static bool jpeg_sniff(const uint8_t *bytes, size_t len)
{
    return len >= 3 && !memcmp(bytes, "\xff\xd8\xff", 3);
}

static void jpeg_state_done(void *state)
{
    struct jpeg_state *s = state;

    wr_jpeg_guard_close(&s->guard);
    free(s->cmyk);
}

static void info_of(const struct jpeg_decompress_struct *c,
                    struct wr_picture_info *ret)
{
    *ret = (struct wr_picture_info){
        .kind = WR_PICTURE_JPEG,
        .width = c->image_width,
        .height = c->image_height,
        .components = (uint32_t)c->num_components,
    };
}

static int jpeg_info(const uint8_t *bytes, size_t len,
                     struct wr_picture_info *ret, weir_err *err)
{
    struct wr_jpeg_guard g = {0};

    if (setjmp(g.jump))
        return wr_jpeg_guard_fail(&g, err);
    wr_jpeg_guard_open(&g, bytes, len);
    jpeg_read_header(&g.jpeg, TRUE);
    info_of(&g.jpeg, ret);
    wr_jpeg_guard_close(&g);
    return 0;
}

/* The first APP1 segment of EXIF, in front of the first scan. */
static unsigned jpeg_orientation(const uint8_t *bytes, size_t len)
{
    size_t at = 2;

    while (len - at >= 4 && bytes[at] == 0xff) {
        uint8_t marker = bytes[at + 1];
        size_t size = wr_be16(bytes + at + 2);

        if (marker == 0xff) { /* a fill byte */
            at++;
            continue;
        }
        if (marker == JPEG_EOI || marker == MARKER_SOS || size < 2 ||
            size > len - at - 2)
            break;
        if (marker == JPEG_APP0 + 1 && size >= 8 &&
            !memcmp(bytes + at + 4, "Exif\0\0", 6))
            return wr_exif_orientation_named(bytes + at + 4, size - 2);
        at += 2 + size;
    }
    return WR_PICTURE_UPRIGHT;
}

/* Colour space to decode to; CMYK goes on to RGB in cmyk_to_rgb. */
static int choose_color(struct jpeg_state *s, weir_err *err)
{
    struct jpeg_decompress_struct *c = &s->guard.jpeg;

    s->is_cmyk = false;
    switch (c->jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_YCbCr:
    case JCS_RGB:
        c->out_color_space = s->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
        return 0;
    case JCS_CMYK:
    case JCS_YCCK:
        c->out_color_space = JCS_CMYK;
        s->is_cmyk = true;
        return 0;
    default:
        return wr_fail(err, WEIR_ENOTSUP, "JPEG of %d components",
                       c->num_components);
    }
}

/* The most libjpeg may shrink by with both sides still as large as what comes
 * out. Only these have SIMD code; 5/8 and the like cost more than 8/8. */
static uint32_t choose_denominator(const struct wr_codec_job *job,
                                   const struct jpeg_decompress_struct *c)
{
    uint32_t w = job->crop.width ? job->crop.width : c->image_width;
    uint32_t h = job->crop.width ? job->crop.height : c->image_height;

    if (!job->fast || !job->out_w)
        return 1;
    for (uint32_t d = 8; d > 1; d /= 2)
        if (w / d >= job->out_w && h / d >= job->out_h)
            return d;
    return 1;
}

/* How much smaller than the picture a component is: 1, 2; 0 for others. */
static uint32_t shrink_of(int whole, int part)
{
    return whole == part ? 1 : whole == 2 * part ? 2 : 0;
}

/* One plane of a planar picture; false when it cannot be done so. */
static bool shape_component(const struct jpeg_decompress_struct *c, int i,
                            struct wr_codec_plane *ret)
{
    const jpeg_component_info *p = &c->comp_info[i];
    int unit = c->min_DCT_scaled_size;
    uint32_t ux = shrink_of(c->max_h_samp_factor * unit,
                            p->h_samp_factor * p->DCT_scaled_size);
    uint32_t uy = shrink_of(c->max_v_samp_factor * unit,
                            p->v_samp_factor * p->DCT_scaled_size);
    double scale = (double)c->scale_num / c->scale_denom;

    if (!ux || !uy || (i == 0 && (ux > 1 || uy > 1)))
        return false;
    if (ux > 1 && p->downsampled_width <= 2) /* libjpeg repeats these */
        return false;
    *ret = (struct wr_codec_plane){
        .width = p->downsampled_width,
        .height = p->downsampled_height,
        .row_bytes = p->width_in_blocks * (uint32_t)p->DCT_scaled_size,
        .upsample_x = ux,
        .upsample_y = uy,
        .box_x = {0, c->image_width * scale},
        .box_y = {0, c->image_height * scale},
    };
    return true;
}

/* Y, Cb and Cr as they are stored: what colour costs is then paid for the
 * pixels that come out, not for those that are stored. */
static bool shape_planar(struct jpeg_state *s, const struct wr_codec_job *job)
{
    struct jpeg_decompress_struct *c = &s->guard.jpeg;

    if (!job->fast || !job->out_w || s->is_cropped || job->channels != 3 ||
        c->jpeg_color_space != JCS_YCbCr)
        return false;
    for (int i = 0; i < 3; i++)
        if (!shape_component(c, i, &s->shape.plane[i]))
            return false;
    s->shape.planes = 3;
    s->shape.rows = (uint32_t)(c->max_v_samp_factor * c->min_DCT_scaled_size);
    return s->shape.rows <= WR_CODEC_ROWS;
}

/* The part [from, from + len) of an axis of a picture that was shrunk by `d`
 * to `whole` samples: whole samples around it, and where it lies in them. */
static void scale_range(const uint32_t range[2], uint32_t d, uint32_t whole,
                        uint32_t ret[2], double ret_box[2])
{
    double lo = (double)range[0] / d, hi = ((double)range[0] + range[1]) / d;

    ret[0] = WR_MIN((uint32_t)floor(lo), whole - 1);
    ret[1] = WR_MIN((uint32_t)ceil(hi), whole) - ret[0];
    ret_box[0] = lo - ret[0];
    ret_box[1] = hi - ret[0];
}

/* Leaves out columns and rows around the crop, by libjpeg where it can. */
static void start_crop(struct jpeg_state *s, const uint32_t x[2],
                       const uint32_t y[2])
{
    struct jpeg_decompress_struct *c = &s->guard.jpeg;
    uint32_t left = x[0] - WR_MIN(x[0], CROP_MARGIN);
    uint32_t top = y[0] - WR_MIN(y[0], CROP_MARGIN);
    JDIMENSION at = left;
    JDIMENSION width = WR_MIN(x[0] + x[1] + CROP_MARGIN, c->output_width) -
                       left;

    if (width < c->output_width)
        jpeg_crop_scanline(c, &at, &width); /* moves `at` to the left */
    else
        at = 0;
    s->shape.plane[0].skip = x[0] - at;
    if (top)
        jpeg_skip_scanlines(c, top);
}

static void shape_rows(struct jpeg_state *s, const struct wr_codec_job *job)
{
    struct jpeg_decompress_struct *c = &s->guard.jpeg;
    struct wr_codec_plane *p = &s->shape.plane[0];
    const struct wr_picture_crop *crop = &job->crop;
    uint32_t x[2] = {crop->x, crop->width}, y[2] = {crop->y, crop->height};
    uint32_t d = c->scale_denom / c->scale_num;

    if (!s->is_cropped) {
        x[0] = y[0] = 0;
        x[1] = c->image_width;
        y[1] = c->image_height;
    }
    *p = (struct wr_codec_plane){.upsample_x = 1, .upsample_y = 1};
    scale_range(x, d, c->output_width, x, p->box_x);
    scale_range(y, d, c->output_height, y, p->box_y);
    p->width = x[1];
    p->height = y[1];
    s->row = y[0];
    s->end = y[0] + y[1];
    if (s->is_cropped)
        start_crop(s, x, y);
    p->row_bytes = c->output_width * (s->is_cmyk ? 3 : s->channels);
    s->shape.planes = 1;
    s->shape.rows = STRIP_ROWS;
}

static int prepare(struct jpeg_state *s, const struct wr_codec_job *job,
                   weir_err *err)
{
    struct jpeg_decompress_struct *c = &s->guard.jpeg;
    int r;

    info_of(c, &s->shape.info);
    r = wr_codec_check_size(&s->shape.info, &job->crop, err);
    if (r < 0)
        return r;
    s->channels = job->channels;
    r = choose_color(s, err);
    if (r < 0)
        return r;
    c->do_fancy_upsampling = TRUE;
    c->scale_num = 1;
    c->scale_denom = choose_denominator(job, c);
    jpeg_calc_output_dimensions(c);
    s->is_cropped = job->crop.width && (job->crop.width < c->image_width ||
                                        job->crop.height < c->image_height);
    s->is_planar = shape_planar(s, job);
    c->raw_data_out = s->is_planar;
    /* The fast DCT cuts off where the accurate one rounds. */
    s->shape.lift = s->is_planar && c->scale_denom == 1 ? 0.5f : 0;
    c->dct_method = s->shape.lift > 0 ? JDCT_IFAST : JDCT_ISLOW;
    return 0;
}

static int jpeg_start(const struct wr_codec *self, void *state,
                      const struct wr_codec_job *job,
                      struct wr_codec_shape *ret, weir_err *err)
{
    struct jpeg_state *s = state;
    struct jpeg_decompress_struct *c = &s->guard.jpeg;
    int r;

    if (setjmp(s->guard.jump))
        return wr_jpeg_guard_fail(&s->guard, err);
    wr_jpeg_guard_open(&s->guard, job->bytes, job->len);
    jpeg_read_header(c, TRUE);
    r = prepare(s, job, err);
    if (r < 0)
        return r;
    s->guard.phase = jpeg_has_multiple_scans(c) ? WR_JPEG_SCANS : WR_JPEG_ROWS;
    jpeg_start_decompress(c);
    if (s->guard.phase == WR_JPEG_SCANS)
        wr_jpeg_guard_check_scans(&s->guard);
    s->guard.phase = WR_JPEG_ROWS;
    if (s->is_planar)
        s->row = 0;
    else
        shape_rows(s, job);
    if (s->is_cmyk &&
        !wr_grow(&s->cmyk, &s->cmyk_cap, (size_t)c->output_width * 4, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for a row of %u pixels",
                       c->output_width);
    *ret = s->shape;
    return 0;
}

/* Inks as Adobe stores them, inverted: 255 is no ink. Rounded as PIL does. */
static void cmyk_to_rgb(const uint8_t *cmyk, size_t n, uint8_t *rgb)
{
    for (size_t i = 0; i < n; i++, cmyk += 4, rgb += 3)
        for (int k = 0; k < 3; k++) {
            unsigned product = (255u - cmyk[k]) * cmyk[3] + 128u;

            product = ((product >> 8) + product) >> 8;
            rgb[k] = (uint8_t)(cmyk[3] - product);
        }
}

static void read_row(struct jpeg_state *s, uint8_t *row)
{
    struct jpeg_decompress_struct *c = &s->guard.jpeg;

    if (!s->is_cmyk) {
        jpeg_read_scanlines(c, &row, 1);
        return;
    }
    jpeg_read_scanlines(c, &s->cmyk, 1);
    cmyk_to_rgb(s->cmyk, c->output_width, row);
    if (s->channels == 1)
        wr_codec_gray_row(row, c->output_width);
}

static void read_rows(struct jpeg_state *s, struct wr_codec_rows *rows)
{
    struct jpeg_decompress_struct *c = &s->guard.jpeg;
    uint32_t want = WR_MIN(s->end - s->row, STRIP_ROWS), got = 0;

    while (c->output_scanline < s->row)
        read_row(s, rows->row[0][0]);
    while (got < want && s->is_cmyk)
        read_row(s, rows->row[0][got++]);
    while (got < want)
        got += jpeg_read_scanlines(c, rows->row[0] + got, want - got);
    s->row += got;
    rows->count[0] = got;
}

/* One row of blocks of each component. */
static void read_planes(struct jpeg_state *s, struct wr_codec_rows *rows)
{
    struct jpeg_decompress_struct *c = &s->guard.jpeg;
    uint32_t step = c->output_scanline / s->shape.rows;

    jpeg_read_raw_data(c, rows->row, s->shape.rows);
    for (uint32_t i = 0; i < 3; i++) {
        const jpeg_component_info *p = &c->comp_info[i];
        uint32_t n = (uint32_t)(p->v_samp_factor * p->DCT_scaled_size);
        uint32_t before = step * n, height = s->shape.plane[i].height;

        rows->count[i] = before < height ? WR_MIN(n, height - before) : 0;
    }
}

static int jpeg_read(void *state, struct wr_codec_rows *rows, weir_err *err)
{
    struct jpeg_state *s = state;

    if (setjmp(s->guard.jump))
        return wr_jpeg_guard_fail(&s->guard, err);
    if (s->is_planar)
        read_planes(s, rows);
    else
        read_rows(s, rows);
    return 0;
}

static int jpeg_finish(void *state, weir_err *err)
{
    struct jpeg_state *s = state;

    if (setjmp(s->guard.jump))
        return wr_jpeg_guard_fail(&s->guard, err);
    if (!s->is_cropped)
        jpeg_finish_decompress(&s->guard.jpeg);
    wr_jpeg_guard_close(&s->guard);
    return 0;
}

const struct wr_codec wr_codec_jpeg = {
    .name = "JPEG",
    .kind = WR_PICTURE_JPEG,
    .exts = {".jpg", ".jpeg", ".jfif"},
    .sniff = jpeg_sniff,
    .state_bytes = sizeof(struct jpeg_state),
    .state_done = jpeg_state_done,
    .info = jpeg_info,
    .orientation = jpeg_orientation,
    .start = jpeg_start,
    .read = jpeg_read,
    .finish = jpeg_finish,
};
