/* test_flip.c - regions of pictures, mirrored, and nothing decoded behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/mem.h"
#include "codec/layout.h"
#include "codec/picture.h"
#include "make_picture.h"

static const struct make_jpeg jpegs[] = {
    {.width = 200, .height = 150, .color = MAKE_RGB, .h_samp = 2, .v_samp = 2},
    {.width = 131, .height = 99, .color = MAKE_RGB, .h_samp = 2, .v_samp = 1},
    {.width = 99, .height = 133, .color = MAKE_RGB, .h_samp = 1, .v_samp = 2},
    {.width = 80, .height = 70, .color = MAKE_RGB},
    {.width = 77, .height = 55, .color = MAKE_GRAY},
    {.width = 90, .height = 60, .color = MAKE_CMYK},
    {.width = 110,
     .height = 120,
     .color = MAKE_RGB,
     .h_samp = 2,
     .v_samp = 2,
     .progressive = 1},
};

static const struct make_png png_how = {97, 61, 2, 8, 0};

static struct wr_picture_decoder *decoder(const weir_picture_config *spec)
{
    struct wr_picture_decoder *d = NULL;

    assert_int_equal(wr_picture_new(&d, spec, NULL), 0);
    return d;
}

static void run(struct wr_picture_decoder *d, struct made m,
                const struct wr_picture_crop *crop, uint8_t *slot)
{
    weir_err err;

    if (wr_picture_decode(d, m.bytes, m.len, crop, slot, NULL, &err) < 0)
        fail_msg("%s", err.msg);
}

/* Whether b is a, mirrored. */
static bool is_mirrored(const weir_picture_config *s, const uint8_t *a,
                        const uint8_t *b)
{
    bool planes = s->layout == WEIR_NCHW || s->channels == 1;
    size_t pixel = wr_dtype_bytes(s->dtype) * (planes ? 1 : s->channels);
    size_t rows = (size_t)s->height * (planes ? s->channels : 1);

    for (size_t y = 0; y < rows;
         y++, a += s->width * pixel, b += s->width * pixel)
        for (size_t x = 0; x < s->width; x++)
            if (memcmp(a + x * pixel, b + (s->width - 1 - x) * pixel, pixel))
                return false;
    return true;
}

static void check_flip(struct made m, const weir_picture_config *spec,
                       struct wr_picture_crop crop)
{
    size_t bytes = wr_picture_slot_bytes(spec);
    uint8_t *a = malloc(bytes), *b = malloc(bytes);
    struct wr_picture_decoder *d = decoder(spec);

    crop.flip = false;
    run(d, m, &crop, a);
    crop.flip = true;
    run(d, m, &crop, b);
    if (!is_mirrored(spec, a, b))
        fail_msg("to %ux%u, type %d, layout %d, decode %d, crop %ux%u: not "
                 "mirrored",
                 spec->width, spec->height, spec->dtype, spec->layout,
                 spec->decode, crop.width, crop.height);
    wr_picture_free(d);
    free(a);
    free(b);
}

static void check_flips(struct made m)
{
    static const struct wr_picture_crop crops[] = {
        {0}, {.x = 13, .y = 9, .width = 41, .height = 33}};
    static const uint32_t sizes[][2] = {{32, 24}, {61, 70}, {7, 5}};

    for (int i = 0; i < 3 * 2 * 2 * 2 * 2 * 3; i++) {
        weir_picture_config spec = {
            .width = sizes[i / 48][0],
            .height = sizes[i / 48][1],
            .channels = i / 24 % 2 ? 1 : 3,
            .dtype = (enum weir_dtype)(i % 3),
            .layout = (enum weir_layout)(i / 3 % 2),
            .decode = (enum weir_decode)(i / 6 % 2),
            .resize = (enum weir_resize)(i / 12 % 3),
            .mean = {0.4f, 0.5f, 0.6f},
            .std = {0.2f, 0.3f, 0.4f},
        };

        check_flip(m, &spec, crops[i / 12 % 2]);
        check_flip(m, &spec, crops[1 - i / 12 % 2]);
    }
}

static void test_flip(void **state)
{
    struct made m;

    for (size_t i = 0; i < WR_ARRAY_LEN(jpegs); i++) {
        m = make_jpeg(&jpegs[i]);
        check_flips(m);
        free(m.bytes);
    }
    m = make_png(&png_how);
    if (m.len)
        check_flips(m);
    free(m.bytes);
}

/* A crop that is all of the picture is no crop: the same shortcuts. */
static void test_whole_crop_is_none(void **state)
{
    struct made m = make_jpeg(&jpegs[0]);

    for (int fast = 0; fast < 2; fast++) {
        weir_picture_config spec = {.width = 64,
                                    .height = 48,
                                    .channels = 3,
                                    .dtype = WEIR_U8,
                                    .decode = (enum weir_decode)fast};
        struct wr_picture_crop all = {.width = 200, .height = 150};
        struct wr_picture_decoder *d = decoder(&spec);
        uint8_t a[64 * 48 * 3], b[64 * 48 * 3];

        run(d, m, NULL, a);
        run(d, m, &all, b);
        assert_memory_equal(a, b, sizeof(a));
        wr_picture_free(d);
    }
    free(m.bytes);
}

/* Small crops at every place around the borders of blocks, where colour is
 * upsampled from both sides: the pixels of the whole picture. */
static void check_places(struct made m, uint32_t width, uint32_t height)
{
    weir_picture_config spec = {
        .width = 5, .height = 3, .channels = 3, .dtype = WEIR_U8};
    struct wr_picture_decoder *d = decoder(&spec), *whole = decoder(&spec);
    const uint8_t *pixels = NULL;
    uint8_t slot[5 * 3 * 3];

    assert_int_equal(
        wr_picture_decode_only(whole, m.bytes, m.len, NULL, &pixels, NULL), 0);
    for (uint32_t y = 0; y + 3 <= height; y += y % 3 ? 1 : 2)
        for (uint32_t x = 0; x + 5 <= width; x++) {
            struct wr_picture_crop c = {
                .x = x, .y = y, .width = 5, .height = 3};

            if ((x > 36 && x + 40 < width) || (y > 36 && y + 40 < height))
                continue;
            run(d, m, &c, slot);
            for (uint32_t k = 0; k < 3; k++)
                if (memcmp(slot + k * 15,
                           pixels + ((y + k) * (size_t)width + x) * 3, 15))
                    fail_msg("5x3+%u+%u of %ux%u: row %u differs", x, y, width,
                             height, k);
        }
    wr_picture_free(d);
    wr_picture_free(whole);
}

static void test_crops_at_borders(void **state)
{
    struct made m;

    for (size_t i = 0; i < WR_ARRAY_LEN(jpegs); i++) {
        m = make_jpeg(&jpegs[i]);
        check_places(m, jpegs[i].width, jpegs[i].height);
        free(m.bytes);
    }
    m = make_png(&png_how);
    if (m.len)
        check_places(m, png_how.width, png_how.height);
    free(m.bytes);
}

/* Data behind the last row of a crop are not even looked at: damage there
 * fails the whole picture and not the crop. */
static void check_damage_behind(struct made m)
{
    weir_picture_config spec = {
        .width = 30, .height = 20, .channels = 3, .dtype = WEIR_U8};
    struct wr_picture_crop top = {.x = 20, .y = 4, .width = 30, .height = 20};
    struct wr_picture_decoder *d = decoder(&spec);
    uint8_t a[30 * 20 * 3], b[30 * 20 * 3];

    run(d, m, &top, a);
    assert_int_equal(wr_picture_decode_drop(d, m.bytes, m.len, &top, NULL), 0);
    assert_int_equal(wr_picture_decode_drop(d, m.bytes, m.len, NULL, NULL), 0);
    memset(m.bytes + m.len * 7 / 10, 0xff, m.len / 10);
    run(d, m, &top, b);
    assert_memory_equal(a, b, sizeof(a));
    assert_int_equal(wr_picture_decode_drop(d, m.bytes, m.len, &top, NULL), 0);
    assert_int_equal(wr_picture_decode_drop(d, m.bytes, m.len, NULL, NULL),
                     WEIR_EFORMAT);
    top.width = 4000;
    assert_int_equal(wr_picture_decode_drop(d, m.bytes, m.len, &top, NULL),
                     WEIR_EINVAL);
    wr_picture_free(d);
}

static void test_rows_behind_are_left_out(void **state)
{
    struct made m = make_jpeg(&jpegs[0]);

    check_damage_behind(m);
    free(m.bytes);
    m = make_png(&(struct make_png){400, 300, 2, 8, 0});
    if (m.len)
        check_damage_behind(m);
    free(m.bytes);
}

/* What is left of the picture decides how much libjpeg may shrink it. */
static void test_scale_follows_the_crop(void **state)
{
    struct make_jpeg how = {
        .width = 448, .height = 448, .color = MAKE_RGB, .h_samp = 2};
    weir_picture_config spec = {
        .width = 112, .height = 112, .channels = 3, .dtype = WEIR_U8};
    struct wr_picture_crop part = {
        .x = 224, .y = 128, .width = 112, .height = 112};
    uint8_t *exact = malloc(wr_picture_slot_bytes(&spec));
    uint8_t *fast = malloc(wr_picture_slot_bytes(&spec));
    struct wr_picture_decoder *d = decoder(&spec);
    struct made m = make_jpeg(&how);

    run(d, m, &part, exact);
    wr_picture_free(d);
    spec.decode = WEIR_DECODE_FAST;
    d = decoder(&spec);
    run(d, m, &part, fast); /* full scale: the very pixels */
    assert_memory_equal(exact, fast, wr_picture_slot_bytes(&spec));
    wr_picture_free(d);
    free(exact);
    free(fast);
    free(m.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flip),
        cmocka_unit_test(test_whole_crop_is_none),
        cmocka_unit_test(test_crops_at_borders),
        cmocka_unit_test(test_rows_behind_are_left_out),
        cmocka_unit_test(test_scale_follows_the_crop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
