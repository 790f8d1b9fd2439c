/* test_synth.c - pictures: repeatable, different, and learnable.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "gen/synth.h"
#include "gen/texture.h"

#define WIDTH    96
#define HEIGHT   72
#define CLASSES  10
#define TRAIN    24
#define TEST     12
#define FEATURES (8 * 8 * 8) /* a histogram of colours */

struct pictures {
    struct wr_textures *textures[2]; /* of two seeds */
    uint8_t a[WIDTH * HEIGHT * 3], b[WIDTH * HEIGHT * 3];
};

static int setup(void **state)
{
    struct pictures *p = calloc(1, sizeof(*p));

    *state = p;
    return !p || wr_textures_new(&p->textures[0], 1, NULL) ||
           wr_textures_new(&p->textures[1], 2, NULL);
}

static int teardown(void **state)
{
    struct pictures *p = *state;

    wr_textures_free(p->textures[0]);
    wr_textures_free(p->textures[1]);
    free(p);
    return 0;
}

static struct wr_synth_picture picture(uint32_t label, uint64_t key)
{
    return (struct wr_synth_picture){.label = label,
                                     .key = key,
                                     .width = WIDTH,
                                     .height = HEIGHT,
                                     .channels = 3,
                                     .grain = 60,
                                     .detail = 220};
}

static void test_repeatable(void **state)
{
    struct pictures *p = *state;
    struct wr_synth_picture a = picture(3, 77), b = picture(3, 78);

    wr_synth_draw(p->textures[0], &a, p->a);
    wr_synth_draw(p->textures[0], &a, p->b);
    assert_memory_equal(p->a, p->b, sizeof(p->a));
    wr_synth_draw(p->textures[0], &b, p->b);
    assert_memory_not_equal(p->a, p->b, sizeof(p->a));
    b = picture(4, 77);
    wr_synth_draw(p->textures[0], &b, p->b);
    assert_memory_not_equal(p->a, p->b, sizeof(p->a));
}

static uint64_t fnv1a(uint64_t h, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* The same pixels on every machine and under every compiler. A change here is
 * a change of every generated data set: say so in the change log. */
static void test_golden(void **state)
{
    struct pictures *p = *state;
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (uint32_t label = 0; label < 24; label++) {
        struct wr_synth_picture a = picture(label, label * 1000);

        wr_synth_draw(p->textures[0], &a, p->a);
        h = fnv1a(h, p->a, sizeof(p->a));
    }
    assert_int_equal(h, UINT64_C(0x39f343099076ebd6));
}

static void test_gray(void **state)
{
    struct pictures *p = *state;
    struct wr_synth_picture a = picture(3, 77);

    wr_synth_draw(p->textures[0], &a, p->a);
    a.channels = 1;
    wr_synth_draw(p->textures[0], &a, p->b);
    for (size_t i = 0; i < WIDTH * HEIGHT; i += 7) {
        const uint8_t *c = p->a + 3 * i;

        assert_int_equal(p->b[i], (c[0] * 77 + c[1] * 150 + c[2] * 29) >> 8);
    }
}

/* Sides of one pixel and more, every class: nothing outside is touched. */
static void test_any_size(void **state)
{
    static const uint32_t sides[] = {1, 2, 3, 7, 17, 40};
    struct pictures *p = *state;

    for (uint32_t k = 0; k < 6 * 6 * 16; k++) {
        struct wr_synth_picture a = picture(k, k);
        size_t len;

        a.width = sides[k % 6];
        a.height = sides[k / 6 % 6];
        len = (size_t)a.width * a.height * 3;
        memset(p->a, 0xa5, sizeof(p->a));
        wr_synth_draw(p->textures[0], &a, p->a);
        assert_int_equal(p->a[len], 0xa5);
    }
}

static void histogram(const uint8_t *pixels, double *to)
{
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
        const uint8_t *c = pixels + 3 * i;

        to[(c[0] >> 5) * 64 + (c[1] >> 5) * 8 + (c[2] >> 5)] += 1;
    }
}

static unsigned nearest(double means[CLASSES][FEATURES], const double *of)
{
    double best = -1;
    unsigned at = 0;

    for (unsigned c = 0; c < CLASSES; c++) {
        double common = 0;

        for (unsigned k = 0; k < FEATURES; k++) {
            double mean = means[c][k] / TRAIN;

            common += mean < of[k] ? mean : of[k];
        }
        if (common > best) {
            best = common;
            at = c;
        }
    }
    return at;
}

/* The plainest classifier there is, trained under one seed and tested under
 * another, is right far more often than chance (10 %), and not always. */
static void test_learnable(void **state)
{
    static double means[CLASSES][FEATURES];
    struct pictures *p = *state;
    unsigned right = 0;

    for (uint32_t i = 0; i < CLASSES * TRAIN; i++) {
        struct wr_synth_picture a = picture(i % CLASSES, wr_rng_at(1, 9, i));

        wr_synth_draw(p->textures[0], &a, p->a);
        histogram(p->a, means[a.label]);
    }
    for (uint32_t i = 0; i < CLASSES * TEST; i++) {
        struct wr_synth_picture a = picture(i % CLASSES, wr_rng_at(2, 9, i));
        double h[FEATURES] = {0};

        wr_synth_draw(p->textures[1], &a, p->a);
        histogram(p->a, h);
        right += nearest(means, h) == a.label;
    }
    assert_in_range(right, CLASSES * TEST * 6 / 10, CLASSES * TEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeatable), cmocka_unit_test(test_golden),
        cmocka_unit_test(test_gray),       cmocka_unit_test(test_any_size),
        cmocka_unit_test(test_learnable),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
