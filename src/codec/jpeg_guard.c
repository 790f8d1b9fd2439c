/* jpeg_guard.c - libjpeg held in: errors, input's end and limits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/jpeg_guard.h"

#include <inttypes.h>
#include <stdarg.h>

#include <jerror.h>

#include "base/c_locale.h"
#include "base/error.h"

/* Coefficients of a progressive picture are kept in memory as a whole. */
#define MAX_MEMORY (512L << 20)
/* Encoders write about 10 scans. A file of a few bytes a scan can ask for
 * work on all pixels in each of them. */
#define MAX_SCANS       100
#define MAX_SCAN_PIXELS (UINT64_C(1) << 31)

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

void wr_jpeg_guard_check_scans(struct wr_jpeg_guard *g)
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

void wr_jpeg_guard_open(struct wr_jpeg_guard *g, const void *bytes, size_t len)
{
    wr_jpeg_guard_close(g);
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

void wr_jpeg_guard_close(struct wr_jpeg_guard *g)
{
    if (g->is_live)
        jpeg_destroy_decompress(&g->jpeg);
    g->is_live = 0;
}

int wr_jpeg_guard_fail(struct wr_jpeg_guard *g, weir_err *err)
{
    /* When creating failed half way, what it got is in its memory manager. */
    jpeg_destroy((j_common_ptr)&g->jpeg);
    g->is_live = 0;
    return wr_fail(err, g->code, "%s", g->msg);
}
