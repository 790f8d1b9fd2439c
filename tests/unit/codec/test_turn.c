/* test_turn.c - pictures turned upright: whole, cropped, resized, mirrored.
 * SPDX-License-Identifier: Apache-2.0
 *
 * tests/interop compares with PIL's exif_transpose. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/turn.h"
#include "oriented.h"

enum { W = 40, H = 24 };

/* Where the upright picture's pixel (x, y) is stored, written out. */
static void stored_at(unsigned o, uint32_t x, uint32_t y, uint32_t *sx,
                      uint32_t *sy)
{
    const uint32_t at[9][2] = {
        {0, 0},         {x, y}, {W - 1 - x, y}, {W - 1 - x, H - 1 - y},
        {x, H - 1 - y}, {y, x}, {y, H - 1 - x}, {W - 1 - y, H - 1 - x},
        {W - 1 - y, x}};

    *sx = at[o][0];
    *sy = at[o][1];
}

static struct wr_picture_decoder *new_decoder(const weir_picture_config *s)
{
    struct wr_picture_decoder *d = NULL;

    assert_int_equal(wr_picture_new(&d, s, NULL), 0);
    return d;
}

static const weir_picture_config plain = {.channels = 3, .dtype = WEIR_U8};

static void test_whole(void **state)
{
    weir_picture_config upright = plain;

    upright.orient = WEIR_ORIENT_EXIF;
    for (unsigned o = 1; o <= 8; o++) {
        struct wr_picture_decoder *a = new_decoder(&plain);
        struct wr_picture_decoder *b = new_decoder(&upright);
        struct made m = make_oriented(W, H, o);
        struct wr_picture_info info;
        const uint8_t *from, *to;

        assert_int_equal(
            wr_picture_decode_only(a, m.bytes, m.len, &info, &from, NULL), 0);
        assert_int_equal(info.width, W);
        assert_int_equal(
            wr_picture_decode_only(b, m.bytes, m.len, &info, &to, NULL), 0);
        assert_int_equal(info.width, o >= 5 ? H : W);
        assert_int_equal(info.orientation, o);
        for (uint32_t y = 0; y < info.height; y++)
            for (uint32_t x = 0; x < info.width; x++) {
                uint32_t sx, sy;

                stored_at(o, x, y, &sx, &sy);
                assert_memory_equal(to + (y * info.width + x) * 3,
                                    from + (sy * W + sx) * 3, 3);
            }
        wr_picture_free(a);
        wr_picture_free(b);
        free(m.bytes);
    }
}

/* A region at its own size has the pixels of the whole upright picture; in
 * each layout and type. */
static void check_region(unsigned o, const struct wr_picture_crop *crop,
                         enum weir_layout layout)
{
    weir_picture_config spec = plain, whole = plain;
    struct made m = make_oriented(W, H, o);
    struct wr_picture_decoder *a, *b;
    struct wr_picture_info info;
    const uint8_t *want;
    uint8_t slot[W * W * 3];

    spec.orient = whole.orient = WEIR_ORIENT_EXIF;
    spec.width = crop->width;
    spec.height = crop->height;
    spec.layout = layout;
    a = new_decoder(&spec);
    b = new_decoder(&whole);
    assert_int_equal(
        wr_picture_decode_only(b, m.bytes, m.len, &info, &want, NULL), 0);
    assert_int_equal(
        wr_picture_decode(a, m.bytes, m.len, crop, slot, NULL, NULL), 0);
    assert_int_equal(wr_picture_decode_drop(a, m.bytes, m.len, crop, NULL), 0);
    for (uint32_t y = 0; y < crop->height; y++)
        for (uint32_t x = 0; x < crop->width; x++)
            for (uint32_t c = 0; c < 3; c++) {
                uint32_t u = crop->flip ? crop->width - 1 - x : x;
                size_t k = layout == WEIR_NHWC
                               ? (y * crop->width + x) * 3 + c
                               : (c * crop->height + y) * crop->width + x;

                assert_int_equal(
                    slot[k],
                    want[((crop->y + y) * info.width + crop->x + u) * 3 + c]);
            }
    wr_picture_free(a);
    wr_picture_free(b);
    free(m.bytes);
}

static void test_regions(void **state)
{
    for (unsigned o = 1; o <= 8; o++)
        for (unsigned k = 0; k < 4; k++) {
            struct wr_picture_crop crop = {3, 5, 17, 11, k & 1};

            check_region(o, &crop, k & 2 ? WEIR_NCHW : WEIR_NHWC);
            crop = (struct wr_picture_crop){0, 0, o >= 5 ? H : W,
                                            o >= 5 ? W : H, k & 1};
            check_region(o, &crop, k & 2 ? WEIR_NCHW : WEIR_NHWC);
        }
}

/* A region that only fits the picture as it is stored is refused. */
static void test_bounds(void **state)
{
    weir_picture_config spec = {.width = 8,
                                .height = 8,
                                .channels = 3,
                                .dtype = WEIR_U8,
                                .orient = WEIR_ORIENT_EXIF};
    const struct wr_picture_crop wide = {0, 0, W, H, false};
    struct made m = make_oriented(W, H, 6);
    struct wr_picture_decoder *d = new_decoder(&spec);
    uint8_t slot[8 * 8 * 3];

    assert_int_equal(
        wr_picture_decode(d, m.bytes, m.len, &wide, slot, NULL, NULL),
        WEIR_EINVAL);
    assert_int_equal(wr_picture_decode_drop(d, m.bytes, m.len, &wide, NULL),
                     WEIR_EINVAL);
    wr_picture_free(d);
    free(m.bytes);
}

/* Floats move as bytes do. */
static void test_types(void **state)
{
    weir_picture_config spec = {.width = 6,
                                .height = 9,
                                .channels = 3,
                                .dtype = WEIR_F32,
                                .std = {1, 1, 1},
                                .orient = WEIR_ORIENT_EXIF};
    weir_picture_config swapped = spec;
    struct made m = make_oriented(W, H, 5);
    struct wr_picture_decoder *a, *b;
    float up[9 * 6 * 3], stored[9 * 6 * 3];

    swapped.width = 9;
    swapped.height = 6;
    swapped.orient = WEIR_ORIENT_IGNORE;
    a = new_decoder(&spec);
    b = new_decoder(&swapped);
    assert_int_equal(wr_picture_decode(a, m.bytes, m.len, NULL, up, NULL, NULL),
                     0);
    assert_int_equal(
        wr_picture_decode(b, m.bytes, m.len, NULL, stored, NULL, NULL), 0);
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 6; x++)
            assert_memory_equal(up + (y * 6 + x) * 3, stored + (x * 9 + y) * 3,
                                3 * sizeof(float));
    wr_picture_free(a);
    wr_picture_free(b);
    free(m.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
