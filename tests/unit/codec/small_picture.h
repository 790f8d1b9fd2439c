/* small_picture.h - what a few bytes decode to, or why they do not.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_SMALL_PICTURE_H
#define WR_TEST_SMALL_PICTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/picture.h"

static const weir_picture_config small_spec = {.channels = 3, .dtype = WEIR_U8};

/* The picture is w x h and has these pixels. */
static inline void check_pixels(const void *bytes, size_t len, uint32_t w,
                                uint32_t h, const uint8_t *rgb)
{
    struct wr_picture_decoder *d = NULL;
    struct wr_picture_info info = {0};
    const uint8_t *pixels = NULL;
    uint8_t *copy = malloc(len ? len : 1); /* for sanitizers: its end is */
    weir_err err = {0};
    int r;

    memcpy(copy, bytes, len);
    assert_int_equal(wr_picture_new(&d, &small_spec, NULL), 0);
    r = wr_picture_decode_only(d, copy, len, &info, &pixels, &err);
    if (r < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(info.width, w);
    assert_int_equal(info.height, h);
    assert_memory_equal(pixels, rgb, (size_t)w * h * 3);
    wr_picture_free(d);
    free(copy);
}

/* It is refused with this code and a message that has `word` in it. */
static inline void check_refused(const void *bytes, size_t len, int code,
                                 const char *word)
{
    struct wr_picture_decoder *d = NULL;
    uint8_t *copy = malloc(len ? len : 1);
    weir_err err = {0};
    int r;

    memcpy(copy, bytes, len);
    assert_int_equal(wr_picture_new(&d, &small_spec, NULL), 0);
    r = wr_picture_decode_only(d, copy, len, NULL, NULL, &err);
    assert_int_equal(r, code);
    if (!strstr(err.msg, word))
        fail_msg("'%s' is not in '%s'", word, err.msg);
    wr_picture_free(d);
    free(copy);
}

#endif
