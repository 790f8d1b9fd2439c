/* test_photo.c - every picture decodes, and sizes follow the data set.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "decode.h"
#include "gen/photo.h"
#include "gen/texture.h"

#define COUNT 250

/* What a run over many samples found. */
struct census {
    struct wr_hist sizes;
    unsigned most_common, gray, full_chroma;
};

static struct wr_textures *textures(void)
{
    struct wr_textures *t = NULL;

    assert_int_equal(wr_textures_new(&t, 1, NULL), 0);
    return t;
}

static void take_census(const struct wr_photo_profile *pf, struct census *c)
{
    struct wr_textures *t = textures();
    struct wr_photo *ph = NULL;

    assert_int_equal(wr_photo_new(&ph, pf, t, NULL), 0);
    memset(c, 0, sizeof(*c));
    for (uint64_t i = 0; i < COUNT; i++) {
        struct wr_photo_sample s = {.seed = 1, .index = i, .label = i % 50};
        const uint8_t *bytes;
        struct decoded d;
        size_t len;

        assert_int_equal(wr_photo_make(ph, &s, &bytes, &len, NULL), 0);
        assert_int_equal(decode(bytes, len, &d), 0);
        assert_int_equal(d.warnings, 0);
        assert_in_range(d.width, pf->side_min, pf->side_max);
        assert_in_range(d.height, pf->side_min, pf->side_max);
        wr_hist_add(&c->sizes, len);
        c->most_common += d.width == pf->dims[0].width &&
                          d.height == pf->dims[0].height;
        c->gray += d.channels == 1;
        c->full_chroma += d.channels == 3 && d.sampling == 1;
        free(d.pixels);
    }
    wr_photo_free(ph);
    wr_textures_free(t);
}

static void test_imagenet(void **state)
{
    static struct census c;

    (void)state;
    take_census(&wr_photo_imagenet, &c);
    assert_in_range(c.sizes.sum / COUNT, 100000, 126000);
    assert_in_range(wr_hist_quantile(&c.sizes, 0.1), 57000, 76000);
    assert_in_range(wr_hist_quantile(&c.sizes, 0.5), 96000, 114000);
    assert_in_range(wr_hist_quantile(&c.sizes, 0.9), 134000, 170000);
    assert_in_range(c.sizes.max, 250000, 1000000);
    assert_in_range(c.most_common, COUNT * 50 / 100, COUNT * 66 / 100);
    assert_in_range(c.full_chroma, COUNT * 12 / 100, COUNT * 27 / 100);
    assert_in_range(c.gray, 1, COUNT * 4 / 100);
}

static void test_caltech(void **state)
{
    static struct census c;

    (void)state;
    take_census(&wr_photo_caltech, &c);
    assert_in_range(c.sizes.sum / COUNT, 12000, 16000);
    assert_in_range(wr_hist_quantile(&c.sizes, 0.5), 11000, 14000);
    assert_in_range(c.sizes.max, 25000, 90000);
}

/* The order of making them changes nothing. */
static void test_repeatable(void **state)
{
    struct wr_textures *t = textures();
    struct wr_photo *a = NULL, *b = NULL;
    struct wr_photo_sample s0 = {.seed = 9, .index = 0, .label = 3};
    struct wr_photo_sample s1 = {.seed = 9, .index = 1, .label = 4};
    const uint8_t *x, *y;
    size_t nx, ny;

    (void)state;
    assert_int_equal(wr_photo_new(&a, &wr_photo_caltech, t, NULL), 0);
    assert_int_equal(wr_photo_new(&b, &wr_photo_caltech, t, NULL), 0);
    assert_int_equal(wr_photo_make(a, &s0, &x, &nx, NULL), 0);
    assert_int_equal(wr_photo_make(a, &s1, &x, &nx, NULL), 0);
    assert_int_equal(wr_photo_make(b, &s1, &y, &ny, NULL), 0);
    assert_int_equal(nx, ny);
    assert_memory_equal(x, y, nx);
    s1.seed = 10;
    assert_int_equal(wr_photo_make(b, &s1, &y, &ny, NULL), 0);
    assert_true(nx != ny || memcmp(x, y, nx));
    wr_photo_free(a);
    wr_photo_free(b);
    wr_textures_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_imagenet),
        cmocka_unit_test(test_caltech),
        cmocka_unit_test(test_repeatable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
