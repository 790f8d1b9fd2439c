/* jpeg.c - JPEG through libjpeg-turbo, row by row.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h> /* needs FILE */

#include <jerror.h>

#include "base/be.h"
#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/codec.h"
#include "codec/turn.h"
#include "weir/error.h"

enum wr_jpeg_phase {
    WR_JPEG_HEADER = 0,
    WR_JPEG_SCANS, /* all scans of a progressive picture are read */
    WR_JPEG_ROWS,
};

/* Lives at one address while libjpeg uses it. Zero it to start. */
struct wr_jpeg_guard {
    struct jpeg_decompress_struct jpeg;
    jmp_buf jump; /* set by the caller before every call into libjpeg */
    int is_live;  /* jpeg is created and not destroyed */
    enum wr_jpeg_phase phase;
    int is_cut;    /* the data ended, and an end marker was made up */
    unsigned seen; /* bits of components that had a scan of several */
    int code;
    char msg[JMSG_LENGTH_MAX + 100];
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
};

/* Coefficients of a progressive picture are kept in memory as a whole. */
#define MAX_MEMORY (512L << 20)
/* Encoders write about 10 scans. A file of a few bytes a scan can ask for
 * work on all pixels in each of them. */
#define MAX_SCANS       100
#define MAX_SCAN_PIXELS (UINT64_C(1) << 31)

/* --- libjpeg held in: errors, input's end and limits --- */

/* libjpeg reports by callbacks and leaves by longjmp. A guard turns all that
 * into a return code and a message, takes warnings about the data as the
 * errors they are, and bounds what a hostile file can cost. */

/* The guard starts with its jpeg object. */
static struct wr_jpeg_guard *guard_of(j_common_ptr c)
{
    return (struct wr_jpeg_guard *)(void *)c;
}

__attribute__((format(printf, 3, 4), noreturn, cold)) static void
leave(struct wr_jpeg_guard *g, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    wr_vsnprintf(g->msg, sizeof(g->msg), fmt, ap);
    va_end(ap);
    g->code = code;
    longjmp(g->jump, 1);
}

/* " at row 120 of 375", " in scan 2", " in its header". */
static const char *where(const struct wr_jpeg_guard *g, char *buf, size_t cap)
{
    const struct jpeg_decompress_struct *c = &g->jpeg;

    if (g->phase == WR_JPEG_ROWS)
        snprintf(buf, cap, "at row %u of %u", c->output_scanline,
                 c->output_height);
    else if (g->phase == WR_JPEG_SCANS)
        snprintf(buf, cap, "in scan %d", c->input_scan_number);
    else
        snprintf(buf, cap, "in the header");
    return buf;
}

static int code_of(int message)
{
    if (message == JERR_OUT_OF_MEMORY)
        return WEIR_ENOMEM;
    return message == JERR_NO_BACKING_STORE ? WEIR_ELIMIT : WEIR_EFORMAT;
}

__attribute__((noreturn, cold)) static void leave_cut(struct wr_jpeg_guard *g)
{
    char buf[64];

    leave(g, WEIR_EFORMAT, "truncated JPEG: data end %s",
          where(g, buf, sizeof(buf)));
}

static void on_error(j_common_ptr c)
{
    struct wr_jpeg_guard *g = guard_of(c);
    char text[JMSG_LENGTH_MAX], buf[64];
    int code = code_of(c->err->msg_code);

    if (g->is_cut && code == WEIR_EFORMAT)
        leave_cut(g);
    if (code == WEIR_ELIMIT)
        leave(g, code,
              "progressive JPEG of %ux%u pixels needs more than "
              "%ld MiB",
              g->jpeg.image_width, g->jpeg.image_height, MAX_MEMORY >> 20);
    if (code == WEIR_ENOMEM)
        leave(g, code, "no memory to decode a JPEG");
    c->err->format_message(c, text);
    leave(g, code, "damaged JPEG: %s (%s)", text, where(g, buf, 64));
}

/* Warnings about bookkeeping that leave the pixels alone. Bytes between the
 * last block and the end marker are what some cameras write, and what every
 * other decoder accepts. */
static int is_harmless(const struct jpeg_error_mgr *e)
{
    if (e->msg_code == JWRN_EXTRANEOUS_DATA)
        return e->msg_parm.i[1] == JPEG_EOI;
    return e->msg_code == JWRN_ADOBE_XFORM || e->msg_code == JWRN_JFIF_MAJOR ||
           e->msg_code == JWRN_NOT_SEQUENTIAL;
}

static void on_message(j_common_ptr c, int level)
{
    if (level < 0 && !is_harmless(c->err))
        on_error(c);
}

static void on_output(j_common_ptr c)
{
    (void)c; /* the library never prints */
}

static void source_init(j_decompress_ptr c)
{
}

/* The data are at their end. A picture that lacks its end marker alone is
 * whole, and others deliver it: libjpeg is given one. Whatever else is missing
 * it then misses itself, and warns that the marker came too early. Not so where
 * bits may be left out at the end: there nobody can tell. */
static boolean source_fill(j_decompress_ptr c)
{
    static const JOCTET end[] = {0xff, JPEG_EOI};
    struct wr_jpeg_guard *g = guard_of((j_common_ptr)c);

    if (g->phase == WR_JPEG_HEADER || c->arith_code)
        leave_cut(g);
    g->is_cut = 1;
    c->src->next_input_byte = end;
    c->src->bytes_in_buffer = sizeof(end);
    return TRUE;
}

static void source_skip(j_decompress_ptr c, long n)
{
    if (n <= 0)
        return;
    if ((size_t)n > c->src->bytes_in_buffer)
        leave_cut(guard_of((j_common_ptr)c));
    c->src->next_input_byte += n;
    c->src->bytes_in_buffer -= (size_t)n;
}

/* Each coefficient of each component to its last bit, or each component. */
static int has_all_scans(const struct wr_jpeg_guard *g)
{
    const struct jpeg_decompress_struct *c = &g->jpeg;

    if (!c->progressive_mode)
        return g->seen == (1u << c->num_components) - 1;
    for (int i = 0; i < c->num_components; i++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (c->coef_bits[i][k] != 0)
                return 0;
    return 1;
}

/* After all scans were read: leaves if some are missing. Those that are there
 * are complete; but the data may have ended between two. May jump. */
static void check_scans(struct wr_jpeg_guard *g)
{
    if (g->is_cut && !has_all_scans(g))
        leave(g, WEIR_EFORMAT, "truncated JPEG: data end after scan %d",
              g->jpeg.input_scan_number);
}

/* Called by libjpeg for each row of blocks of each scan. */
static void on_progress(j_common_ptr common)
{
    struct wr_jpeg_guard *g = guard_of(common);
    const struct jpeg_decompress_struct *c = &g->jpeg;
    uint64_t pixels = (uint64_t)c->image_width * c->image_height;
    uint64_t scans = (uint64_t)c->input_scan_number;

    if (g->phase == WR_JPEG_SCANS)
        for (int i = 0; i < c->comps_in_scan; i++)
            g->seen |= 1u << c->cur_comp_info[i]->component_index;
    if (scans > MAX_SCANS || (scans > 1 && scans * pixels > MAX_SCAN_PIXELS))
        leave(g, WEIR_ELIMIT, "JPEG of %ux%u pixels has too many scans: %d",
              c->image_width, c->image_height, c->input_scan_number);
}

/* Destroys the object, if there is one. */
static void guard_close(struct wr_jpeg_guard *g)
{
    if (g->is_live)
        jpeg_destroy_decompress(&g->jpeg);
    g->is_live = 0;
}

/* Makes a fresh libjpeg object (tables of a picture before must not leak into
 * the next) that reads `bytes`, borrowed. May jump. */
static void guard_open(struct wr_jpeg_guard *g, const void *bytes, size_t len)
{
    guard_close(g);
    g->phase = WR_JPEG_HEADER;
    g->is_cut = 0;
    g->seen = 0;
    g->jpeg.err = jpeg_std_error(&g->errors);
    g->errors.error_exit = on_error;
    g->errors.emit_message = on_message;
    g->errors.output_message = on_output;
    jpeg_create_decompress(&g->jpeg);
    g->is_live = 1;
    g->progress.progress_monitor = on_progress;
    g->jpeg.progress = &g->progress;
    g->jpeg.mem->max_memory_to_use = MAX_MEMORY;
    g->source = (struct jpeg_source_mgr){
        .next_input_byte = bytes,
        .bytes_in_buffer = len,
        .init_source = source_init,
        .fill_input_buffer = source_fill,
        .skip_input_data = source_skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = source_init,
    };
    g->jpeg.src = &g->source;
}

/* After a jump: closes and returns the failure with its message. */
static int guard_fail(struct wr_jpeg_guard *g, weir_err *err)
{
    /* When creating failed half way, what it got is in its memory manager. */
    jpeg_destroy((j_common_ptr)&g->jpeg);
    g->is_live = 0;
    return wr_fail(err, g->code, "%s", g->msg);
}

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

    guard_close(&s->guard);
    free(s->cmyk);
}

static void info_of(const struct jpeg_decompress_struct *c,
                    struct wr_picture_info *ret)
{
    *ret = wr_picture_info_of(WR_PICTURE_JPEG, c->image_width, c->image_height,
                              (uint32_t)c->num_components);
}

static int jpeg_info(const uint8_t *bytes, size_t len,
                     struct wr_picture_info *ret, weir_err *err)
{
    struct wr_jpeg_guard g = {0};

    if (setjmp(g.jump))
        return guard_fail(&g, err);
    guard_open(&g, bytes, len);
    jpeg_read_header(&g.jpeg, TRUE);
    info_of(&g.jpeg, ret);
    guard_close(&g);
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
        return guard_fail(&s->guard, err);
    guard_open(&s->guard, job->bytes, job->len);
    jpeg_read_header(c, TRUE);
    r = prepare(s, job, err);
    if (r < 0)
        return r;
    s->guard.phase = jpeg_has_multiple_scans(c) ? WR_JPEG_SCANS : WR_JPEG_ROWS;
    jpeg_start_decompress(c);
    if (s->guard.phase == WR_JPEG_SCANS)
        check_scans(&s->guard);
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
        return guard_fail(&s->guard, err);
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
        return guard_fail(&s->guard, err);
    if (!s->is_cropped)
        jpeg_finish_decompress(&s->guard.jpeg);
    guard_close(&s->guard);
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
