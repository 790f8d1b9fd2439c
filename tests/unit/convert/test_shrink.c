/* test_shrink.c - an encoded picture as a smaller JPEG.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "../codec/make_picture.h"
#include "../codec/oriented.h"
#include "convert/shrink.h"
#include "format/format.h"

static weir_dataset pictures; /* whose index is empty */

static void pictures_config(struct wr_convert_config *ret)
{
    wr_convert_defaults(ret);
    ret->ds = &pictures;
    ret->to = "tfrecord";
}

static void sizes(void **state)
{
    static const uint32_t table[][5] = {
        {100, 200, 100, 50, 100}, {100, 200, 400, 100, 200},
        {200, 100, 100, 100, 50}, {1000, 1, 10, 10, 1},
        {300, 200, 0, 300, 200},  {375, 500, 256, 192, 256},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        uint32_t w = table[k][0], h = table[k][1];

        wr_shrink_size(table[k][2], &w, &h);
        assert_int_equal(w, table[k][3]);
        assert_int_equal(h, table[k][4]);
    }
}

/* Shrinks `in` and gives the result; the shrinker is *ret's until freed. */
static struct wr_shrink_picture shrink(const struct made *in, uint32_t max_side,
                                       unsigned quality,
                                       struct wr_convert_saving *saving,
                                       struct wr_shrink **ret)
{
    struct wr_convert_config cfg;
    struct wr_shrink_picture p = {.bytes = in->bytes, .len = in->len};

    pictures_config(&cfg);
    cfg.max_side = max_side;
    cfg.quality = quality;
    assert_int_equal(wr_shrink_new(ret, &cfg, NULL), 0);
    assert_int_equal(wr_shrink_apply(*ret, &p, saving, NULL), 0);
    return p;
}

static void what_fits_keeps_its_bytes(void **state)
{
    struct made in = make_jpeg(
        &(struct make_jpeg){.width = 64, .height = 48, .color = MAKE_RGB});
    struct wr_shrink *s;
    struct wr_shrink_picture p = shrink(&in, 64, 0, NULL, &s);

    (void)state;
    assert_ptr_equal(p.bytes, in.bytes);
    assert_int_equal(p.info.width, 64);
    wr_shrink_free(s);
    p = shrink(&in, 0, 0, NULL, &s);
    assert_ptr_equal(p.bytes, in.bytes);
    wr_shrink_free(s);
    p = shrink(&in, 0, 50, NULL, &s); /* a quality is asked for */
    assert_ptr_not_equal(p.bytes, in.bytes);
    assert_int_equal(p.info.width, 64);
    wr_shrink_free(s);
    free(in.bytes);
}

static void larger_ones_shrink(void **state)
{
    struct wr_convert_saving saving = {0};
    enum make_color colors[] = {MAKE_GRAY, MAKE_RGB, MAKE_CMYK};

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct made in = make_jpeg(&(struct make_jpeg){
            .width = 640, .height = 480, .color = colors[k]});
        struct wr_picture_info info;
        struct wr_shrink *s;
        struct wr_shrink_picture p = shrink(&in, 100, 0, &saving, &s);

        assert_int_equal(wr_picture_info(p.bytes, p.len, &info, NULL), 0);
        assert_int_equal(info.kind, WR_PICTURE_JPEG);
        assert_int_equal(info.width, 100);
        assert_int_equal(info.height, 75);
        assert_int_equal(info.components, k ? 3 : 1);
        assert_int_equal(p.info.components, info.components);
        wr_shrink_free(s);
        free(in.bytes);
    }
    assert_int_equal(saving.samples, 3);
    assert_true(saving.before_ns > saving.after_ns);
}

/* What is encoded anew has lost its EXIF: it is turned, if asked for. */
static void turned_ones_are_upright(void **state)
{
    for (unsigned o = 1; o <= 8; o++) {
        struct made in = make_oriented(64, 48, o);
        struct wr_shrink_picture p = {.bytes = in.bytes, .len = in.len};
        struct wr_convert_config cfg;
        struct wr_picture_info info;
        struct wr_shrink *s;

        (void)state;
        pictures_config(&cfg);
        cfg.max_side = o % 2 ? 64 : 32; /* fits already, or not */
        cfg.tensor.picture.orient = WEIR_ORIENT_EXIF;
        assert_int_equal(wr_shrink_new(&s, &cfg, NULL), 0);
        assert_int_equal(wr_shrink_apply(s, &p, NULL, NULL), 0);
        assert_int_equal(wr_picture_info(p.bytes, p.len, &info, NULL), 0);
        assert_int_equal(info.orientation, WR_PICTURE_UPRIGHT);
        assert_int_equal(info.width < info.height, o >= 5);
        assert_int_equal(p.info.width, info.width);
        assert_int_equal(p.bytes == in.bytes, o == 1);
        wr_shrink_free(s);
        free(in.bytes);
    }
}

static void png_becomes_jpeg(void **state)
{
    struct made in = make_png(&(struct make_png){
        .width = 30, .height = 20, .color_type = 2, .bit_depth = 8});
    struct wr_shrink *s;
    struct wr_shrink_picture p;

    (void)state;
    if (!in.len)
        skip();
    p = shrink(&in, 100, 0, NULL, &s);
    assert_int_equal(p.info.kind, WR_PICTURE_JPEG);
    assert_int_equal(p.info.width, 30);
    assert_int_equal(wr_picture_probe(p.bytes, p.len), WR_PICTURE_JPEG);
    wr_shrink_free(s);
    free(in.bytes);
}

/* More sizes than there are decoders. */
static void many_sizes(void **state)
{
    struct wr_convert_config cfg;
    struct wr_shrink *s;

    (void)state;
    pictures_config(&cfg);
    cfg.max_side = 16;
    assert_int_equal(wr_shrink_new(&s, &cfg, NULL), 0);
    for (uint32_t k = 0; k < 40; k++) {
        struct made in = make_jpeg(&(struct make_jpeg){
            .width = 20 + k % 20, .height = 40, .color = MAKE_RGB});
        struct wr_shrink_picture p = {.bytes = in.bytes, .len = in.len};

        assert_int_equal(wr_shrink_apply(s, &p, NULL, NULL), 0);
        assert_int_equal(p.info.height, 16);
        free(in.bytes);
    }
    wr_shrink_free(s);
}

static int make_pictures(void **state)
{
    (void)state;
    pictures.index = wr_index_new();
    return pictures.index ? 0 : -1;
}

static int free_pictures(void **state)
{
    (void)state;
    wr_index_free(pictures.index);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(what_fits_keeps_its_bytes),
        cmocka_unit_test(larger_ones_shrink),
        cmocka_unit_test(turned_ones_are_upright),
        cmocka_unit_test(png_becomes_jpeg),
        cmocka_unit_test(many_sizes),
    };

    return cmocka_run_group_tests(tests, make_pictures, free_pictures);
}
