/* test_jpeg_end.c - a JPEG without its last marker is whole, any less is not.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/picture.h"
#include "make_picture.h"

static const struct make_jpeg jpegs[] = {
    {.width = 200, .height = 150, .color = MAKE_RGB, .h_samp = 2, .v_samp = 2},
    {.width = 64, .height = 48, .color = MAKE_RGB},
    {.width = 77, .height = 55, .color = MAKE_GRAY},
    {.width = 90, .height = 60, .color = MAKE_CMYK},
    {.width = 150,
     .height = 99,
     .color = MAKE_RGB,
     .h_samp = 2,
     .v_samp = 2,
     .progressive = 1},
    {.width = 40, .height = 40, .color = MAKE_GRAY, .progressive = 1},
    {.width = 80, .height = 80, .color = MAKE_RGB, .restart_rows = 1},
    {.width = 90,
     .height = 70,
     .color = MAKE_RGB,
     .h_samp = 2,
     .v_samp = 2,
     .separate = 1},
    {.width = 1, .height = 1, .color = MAKE_RGB, .h_samp = 2, .v_samp = 2},
};
#define JPEGS (sizeof(jpegs) / sizeof(jpegs[0]))

static const weir_picture_config specs[] = {
    {.width = 32, .height = 24, .channels = 3, .dtype = WEIR_U8},
    {.width = 32,
     .height = 24,
     .channels = 3,
     .dtype = WEIR_U8,
     .decode = WEIR_DECODE_FAST},
};

#define SLOT (32 * 24 * 3)

/* Exactly `len` bytes, so that reading on is noticed. */
static int decode(struct wr_picture_decoder *d, struct made m, size_t len,
                  const struct wr_picture_crop *crop, uint8_t *slot,
                  weir_err *err)
{
    uint8_t *cut = malloc(len ? len : 1);
    int r;

    assert_non_null(cut);
    memcpy(cut, m.bytes, len);
    r = wr_picture_decode(d, cut, len, crop, slot, NULL, err);
    free(cut);
    return r;
}

/* The last marker, or the second byte of it, is missing: the same pixels. */
static void without_the_marker(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * JPEGS; i++) {
        struct made m = make_jpeg(&jpegs[i / 2]);
        const struct wr_picture_crop part = {
            .width = jpegs[i / 2].width / 2 + 1, .height = jpegs[i / 2].height};
        struct wr_picture_decoder *d = NULL;
        uint8_t whole[SLOT], slot[SLOT];
        weir_err err;

        assert_int_equal(wr_picture_new(&d, &specs[i % 2], NULL), 0);
        for (unsigned k = 0; k < 4; k++) {
            const struct wr_picture_crop *crop = k / 2 ? &part : NULL;

            assert_int_equal(decode(d, m, m.len, crop, whole, &err), 0);
            memset(slot, 0x5a, sizeof(slot));
            if (decode(d, m, m.len - 1 - k % 2, crop, slot, &err) < 0)
                fail_msg("JPEG %zu: %s", i, err.msg);
            assert_memory_equal(slot, whole, sizeof(slot));
        }
        wr_picture_free(d);
        free(m.bytes);
    }
}

/* One byte less is not enough, nor is any other: also at the end of a scan. */
static void without_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * JPEGS; i++) {
        struct made m = make_jpeg(&jpegs[i / 2]);
        struct wr_picture_decoder *d = NULL;
        uint8_t slot[SLOT];

        assert_int_equal(wr_picture_new(&d, &specs[i % 2], NULL), 0);
        for (size_t len = 0; len < m.len - 2; len++) {
            weir_err err = {0};

            if (decode(d, m, len, NULL, slot, &err) >= 0)
                fail_msg("JPEG %zu: %zu of %zu bytes were taken", i, len,
                         m.len);
            assert_int_equal(err.code, WEIR_EFORMAT);
        }
        wr_picture_free(d);
        free(m.bytes);
    }
}

/* Arithmetic coding may leave out bytes at its end: nobody can tell. */
static void arithmetic_needs_its_end(void **state)
{
    const struct make_jpeg how = {
        .width = 80, .height = 80, .color = MAKE_RGB, .arithmetic = 1};
    struct made m = make_jpeg(&how);
    struct wr_picture_decoder *d = NULL;
    uint8_t slot[SLOT];
    weir_err err;

    (void)state;
    assert_int_equal(wr_picture_new(&d, &specs[0], NULL), 0);
    assert_int_equal(decode(d, m, m.len, NULL, slot, &err), 0);
    for (size_t less = 1; less < 60; less++)
        assert_true(decode(d, m, m.len - less, NULL, slot, &err) < 0);
    wr_picture_free(d);
    free(m.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_marker),
        cmocka_unit_test(without_more),
        cmocka_unit_test(arithmetic_needs_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
