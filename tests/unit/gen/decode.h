/* decode.h - the plainest JPEG decoder that tests can compare with.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_DECODE_H
#define WR_TEST_DECODE_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

struct decoded {
    unsigned width, height, channels;
    int sampling; /* of brightness: 2 means 4:2:0 */
    long warnings;
    uint8_t *pixels; /* owned */
};

struct decode_errors {
    struct jpeg_error_mgr jpeg;
    jmp_buf failed;
};

static void decode_failed(j_common_ptr jpeg)
{
    longjmp(((struct decode_errors *)jpeg->err)->failed, 1);
}

static void decode_silent(j_common_ptr jpeg)
{
    (void)jpeg;
}

/* 0, or -1 when the library refuses it. Free ret->pixels in either case. */
static inline int decode(const uint8_t *bytes, size_t len, struct decoded *ret)
{
    struct jpeg_decompress_struct d;
    struct decode_errors e;

    *ret = (struct decoded){0};
    d.err = jpeg_std_error(&e.jpeg);
    e.jpeg.error_exit = decode_failed;
    e.jpeg.output_message = decode_silent;
    jpeg_create_decompress(&d);
    if (setjmp(e.failed)) {
        jpeg_destroy_decompress(&d);
        return -1;
    }
    jpeg_mem_src(&d, bytes, (unsigned long)len);
    jpeg_read_header(&d, TRUE);
    jpeg_start_decompress(&d);
    ret->width = d.output_width;
    ret->height = d.output_height;
    ret->channels = (unsigned)d.output_components;
    ret->sampling = d.comp_info[0].h_samp_factor;
    ret->pixels = malloc((size_t)ret->width * ret->height * ret->channels);
    while (d.output_scanline < d.output_height) {
        JSAMPROW row = ret->pixels +
                       (size_t)d.output_scanline * ret->width * ret->channels;

        jpeg_read_scanlines(&d, &row, 1);
    }
    jpeg_finish_decompress(&d);
    ret->warnings = e.jpeg.num_warnings;
    jpeg_destroy_decompress(&d);
    return 0;
}

#endif
