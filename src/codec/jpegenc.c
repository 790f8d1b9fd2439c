/* jpegenc.c - pixels -> a baseline JPEG in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/jpegenc.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "base/error.h"
#include "base/mem.h"

#define BUFFER_START ((size_t)1 << 20)

struct wr_jpegenc {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr out;
    jmp_buf failed;
    uint8_t *buf; /* owned */
    size_t cap;
    size_t len; /* of the finished picture */
};

static void on_error(j_common_ptr jpeg)
{
    struct wr_jpegenc *e = jpeg->client_data;

    longjmp(e->failed, 1);
}

static void on_message(j_common_ptr jpeg)
{
}

static void out_start(j_compress_ptr jpeg)
{
    struct wr_jpegenc *e = jpeg->client_data;

    e->out.next_output_byte = e->buf;
    e->out.free_in_buffer = e->cap;
}

/* The library has filled the whole buffer: double it. */
static boolean out_full(j_compress_ptr jpeg)
{
    struct wr_jpegenc *e = jpeg->client_data;
    size_t used = e->cap;

    if (!wr_grow(&e->buf, &e->cap, used + 1, 1))
        longjmp(e->failed, 2);
    e->out.next_output_byte = e->buf + used;
    e->out.free_in_buffer = e->cap - used;
    return TRUE;
}

static void out_end(j_compress_ptr jpeg)
{
    struct wr_jpegenc *e = jpeg->client_data;

    e->len = e->cap - e->out.free_in_buffer;
}

int wr_jpegenc_new(struct wr_jpegenc **ret, weir_err *err)
{
    struct wr_jpegenc *e = calloc(1, sizeof(*e));

    if (!e || !wr_grow(&e->buf, &e->cap, BUFFER_START, 1)) {
        free(e);
        return wr_fail(err, WEIR_ENOMEM, "no memory for a JPEG encoder");
    }
    e->jpeg.err = jpeg_std_error(&e->errors);
    e->errors.error_exit = on_error;
    e->errors.output_message = on_message;
    e->jpeg.client_data = e;
    if (setjmp(e->failed)) {
        wr_jpegenc_free(e);
        return wr_fail(err, WEIR_ENOMEM, "cannot start a JPEG encoder");
    }
    jpeg_create_compress(&e->jpeg);
    e->out.init_destination = out_start;
    e->out.empty_output_buffer = out_full;
    e->out.term_destination = out_end;
    e->jpeg.dest = &e->out;
    *ret = e;
    return 0;
}

void wr_jpegenc_free(struct wr_jpegenc *e)
{
    if (!e)
        return;
    jpeg_destroy_compress(&e->jpeg);
    free(e->buf);
    free(e);
}

static J_COLOR_SPACE colours_of(uint32_t channels)
{
    return channels == 1   ? JCS_GRAYSCALE
           : channels == 3 ? JCS_RGB
                           : JCS_EXT_RGBX;
}

static void set_picture(struct jpeg_compress_struct *jpeg,
                        const struct wr_jpegenc_picture *p)
{
    int sampling = p->full_chroma || p->channels == 1 ? 1 : 2;

    jpeg->image_width = p->width;
    jpeg->image_height = p->height;
    jpeg->input_components = (int)p->channels;
    jpeg->in_color_space = colours_of(p->channels);
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, (int)p->quality, TRUE);
    jpeg->comp_info[0].h_samp_factor = sampling;
    jpeg->comp_info[0].v_samp_factor = sampling;
    jpeg->restart_interval = p->restart;
    jpeg->restart_in_rows = 0;
}

static void write_rows(struct jpeg_compress_struct *jpeg,
                       const struct wr_jpegenc_picture *p)
{
    size_t stride = (size_t)p->width * p->channels;
    union {
        const uint8_t *in;
        JSAMPROW row;
    } rows[16];

    while (jpeg->next_scanline < jpeg->image_height) {
        uint32_t y = jpeg->next_scanline;
        uint32_t n = WR_MIN(16, jpeg->image_height - y);

        for (uint32_t k = 0; k < n; k++)
            rows[k].in = p->pixels + (y + k) * stride;
        jpeg_write_scanlines(jpeg, &rows[0].row, n);
    }
}

int wr_jpegenc_encode(struct wr_jpegenc *e, const struct wr_jpegenc_picture *p,
                      const uint8_t **ret_bytes, size_t *ret_len, weir_err *err)
{
    char text[JMSG_LENGTH_MAX];
    int failed = setjmp(e->failed);

    if (failed) {
        if (failed == 2)
            snprintf(text, sizeof(text), "out of memory");
        else
            e->errors.format_message((j_common_ptr)&e->jpeg, text);
        jpeg_abort_compress(&e->jpeg);
        return wr_fail(err, failed == 2 ? WEIR_ENOMEM : WEIR_EINVAL,
                       "JPEG encoder: %s", text);
    }
    set_picture(&e->jpeg, p);
    jpeg_start_compress(&e->jpeg, TRUE);
    write_rows(&e->jpeg, p);
    jpeg_finish_compress(&e->jpeg);
    *ret_bytes = e->buf;
    *ret_len = e->len;
    return 0;
}
