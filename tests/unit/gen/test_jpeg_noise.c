/* test_jpeg_noise.c - gray pictures of exactly the size asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "decode.h"
#include "gen/jpeg_noise.h"
#include "grown.h"

static uint8_t buf[WR_PEN_BYTES];

static int put(const struct wr_jpeg_noise *j,
               const struct wr_jpeg_noise_picture *pic, struct grown *g)
{
    struct wr_pen p;
    int r;

    grown_init(g);
    wr_pen_init(&p, &g->base, buf);
    r = wr_jpeg_noise_put(j, pic, &p, NULL);
    return r < 0 ? r : wr_pen_flush(&p, NULL);
}

static double deviation(const struct decoded *d)
{
    size_t n = (size_t)d->width * d->height;
    double sum = 0, squares = 0;

    for (size_t k = 0; k < n; k++) {
        sum += d->pixels[k];
        squares += (double)d->pixels[k] * d->pixels[k];
    }
    sum /= (double)n;
    return sqrt(squares / (double)n - sum * sum);
}

/* Sizes from hardly any to much more than the pixels need. */
static void test_sizes(void **state)
{
    static const struct {
        uint32_t width, height;
        uint64_t bytes;
    } of[] = {{338, 338, 114244}, {8, 8, 1000},       {1, 1, 500},
              {128, 8, 1024},     {256, 64, 16384},   {200, 200, 400000},
              {333, 77, 25641},   {200, 200, 200000}, {16, 2000, 32000}};
    struct wr_jpeg_noise *j;

    (void)state;
    assert_int_equal(wr_jpeg_noise_new(&j, 7, NULL), 0);
    for (size_t k = 0; k < WR_ARRAY_LEN(of); k++) {
        struct wr_jpeg_noise_picture pic = {7, k, of[k].width, of[k].height,
                                            of[k].bytes};
        struct decoded d;
        struct grown g;

        assert_int_equal(put(j, &pic, &g), 0);
        assert_int_equal(g.len, of[k].bytes);
        assert_int_equal(decode(g.bytes, g.len, &d), 0);
        assert_int_equal(d.warnings, 0);
        assert_int_equal(d.width, of[k].width);
        assert_int_equal(d.height, of[k].height);
        assert_int_equal(d.channels, 1);
        if (k == 0)
            assert_true(deviation(&d) > 65); /* uniform noise has 74 */
        free(d.pixels);
        grown_done(&g);
    }
    wr_jpeg_noise_free(j);
}

/* A picture that cannot be so small is as small as it can be. */
static void test_too_small(void **state)
{
    const struct wr_jpeg_noise_picture pic = {1, 1, 64, 64, 10};
    struct wr_jpeg_noise *j;
    struct decoded d;
    struct grown g;

    (void)state;
    assert_int_equal(wr_jpeg_noise_new(&j, 1, NULL), 0);
    assert_int_equal(put(j, &pic, &g), 0);
    assert_in_range(g.len, 100, 1000);
    assert_int_equal(decode(g.bytes, g.len, &d), 0);
    assert_int_equal(d.warnings, 0);
    free(d.pixels);
    grown_done(&g);
    wr_jpeg_noise_free(j);
}

/* Every padding from 0 bytes on: a comment has 4 of its own, and an end. */
static void test_every_padding(void **state)
{
    struct wr_jpeg_noise_picture pic = {3, 1, 24, 24, 0};
    struct wr_jpeg_noise *j;
    struct decoded d;
    struct grown g;
    uint64_t least;

    (void)state;
    assert_int_equal(wr_jpeg_noise_new(&j, 3, NULL), 0);
    assert_int_equal(put(j, &pic, &g), 0);
    least = g.len;
    grown_done(&g);
    for (uint64_t more = 0; more < 70000; more += more < 12 ? 1 : 65533 - 17) {
        for (uint64_t by = 0; by < 24; by++) {
            pic.bytes = least + more + by;
            assert_int_equal(put(j, &pic, &g), 0);
            assert_int_equal(g.len, pic.bytes);
            assert_int_equal(decode(g.bytes, g.len, &d), 0);
            assert_int_equal(d.warnings, 0);
            free(d.pixels);
            grown_done(&g);
        }
    }
    wr_jpeg_noise_free(j);
}

static void test_limits(void **state)
{
    const struct wr_jpeg_noise_picture wide = {1, 1, WR_JPEG_SIDE_MAX + 1, 1,
                                               1000};
    const struct wr_jpeg_noise_picture none = {1, 1, 0, 1, 1000};
    struct wr_jpeg_noise *j;
    struct grown g;

    (void)state;
    assert_int_equal(wr_jpeg_noise_new(&j, 1, NULL), 0);
    assert_int_equal(put(j, &wide, &g), WEIR_ELIMIT);
    assert_int_equal(put(j, &none, &g), WEIR_ELIMIT);
    wr_jpeg_noise_free(j);
    wr_jpeg_noise_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_too_small),
        cmocka_unit_test(test_every_padding),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests_name("jpeg_noise", tests, NULL, NULL);
}
