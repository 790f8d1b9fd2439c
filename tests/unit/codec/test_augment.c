/* test_augment.c - plans of crops and flips: ranges, chances, sameness.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "../base/chi.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/augment.h"

#define DRAWS 20000

static weir_picture_config config(enum weir_crop crop)
{
    return (weir_picture_config){
        .width = 224,
        .height = 224,
        .crop = crop,
        .crop_center = 0.875f,
        .crop_area = {0.08f, 1},
        .crop_ratio = {3.0f / 4, 4.0f / 3},
    };
}

static struct wr_augment augment_seed(const weir_picture_config *cfg,
                                      uint64_t seed)
{
    weir_err err;

    if (wr_augment_check(cfg, &err) < 0)
        fail_msg("%s", err.msg);
    return (struct wr_augment){*cfg, seed};
}

static struct wr_augment augment(const weir_picture_config *cfg)
{
    return augment_seed(cfg, 0);
}

static void assert_rectangle(struct wr_picture_crop c, uint32_t x, uint32_t y,
                             uint32_t w, uint32_t h)
{
    if (c.x != x || c.y != y || c.width != w || c.height != h)
        fail_msg("%ux%u+%u+%u is not %ux%u+%u+%u", c.width, c.height, c.x, c.y,
                 w, h, x, y);
}

static void test_none(void **state)
{
    weir_picture_config cfg = config(WEIR_CROP_NONE);
    struct wr_augment a = augment(&cfg);
    struct wr_picture_crop c = wr_augment_plan(&a, 500, 375, 1, 2);

    assert_rectangle(c, 0, 0, 500, 375);
    assert_false(c.flip);
}

/* Resize(256) and CenterCrop(224), seen from the source. */
static void test_center(void **state)
{
    weir_picture_config cfg = config(WEIR_CROP_CENTER);
    struct wr_augment a = augment(&cfg);

    assert_rectangle(wr_augment_plan(&a, 512, 256, 0, 0), 144, 16, 224, 224);
    assert_rectangle(wr_augment_plan(&a, 256, 512, 9, 9), 16, 144, 224, 224);
    assert_rectangle(wr_augment_plan(&a, 500, 375, 0, 0), 86, 23, 328, 328);
    assert_rectangle(wr_augment_plan(&a, 1, 1, 0, 0), 0, 0, 1, 1);
    assert_rectangle(wr_augment_plan(&a, 1, 900, 0, 0), 0, 449, 1, 1);
    cfg.width = 320; /* wider than high */
    cfg.height = 240;
    cfg.crop_center = 1;
    a = augment(&cfg);
    assert_rectangle(wr_augment_plan(&a, 640, 480, 0, 0), 0, 0, 640, 480);
    assert_rectangle(wr_augment_plan(&a, 480, 480, 0, 0), 0, 60, 480, 360);
    assert_rectangle(wr_augment_plan(&a, 700, 480, 0, 0), 30, 0, 640, 480);
}

/* These rectangles are part of what a seed promises: a change here changes
 * the pixels of everybody's training runs. */
static void test_same_everywhere(void **state)
{
    static const struct {
        uint64_t seed, epoch, id;
        uint32_t want[4];
        bool flip;
    } known[] = {
        {0, 0, 0, {140, 147, 184, 200}, false},
        {0, 0, 1, {104, 131, 231, 234}, true},
        {7, 3, 123456789, {83, 77, 296, 296}, false},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {9, 1, 371, 373}, false},
    };

    for (size_t i = 0; i < WR_ARRAY_LEN(known); i++) {
        weir_picture_config cfg = config(WEIR_CROP_RANDOM);
        struct wr_augment a;
        struct wr_picture_crop c;

        cfg.flip = 1;
        a = augment_seed(&cfg, known[i].seed);
        c = wr_augment_plan(&a, 500, 375, known[i].epoch, known[i].id);
        assert_rectangle(c, known[i].want[0], known[i].want[1],
                         known[i].want[2], known[i].want[3]);
        assert_int_equal(c.flip, known[i].flip);
    }
}

/* Every key gives another plan; the flip does not depend on the crop. */
static void test_keys(void **state)
{
    weir_picture_config cfg = config(WEIR_CROP_RANDOM);
    unsigned same[3] = {0};

    for (uint64_t i = 0; i < 500; i++) {
        struct wr_augment a, other, flip_only;
        struct wr_picture_crop c, d[3];

        cfg.flip = 1;
        a = other = flip_only = augment_seed(&cfg, i);
        other.seed ^= 1;
        flip_only.picture.crop = WEIR_CROP_NONE;
        c = wr_augment_plan(&a, 640, 480, i / 7, i);
        d[0] = wr_augment_plan(&a, 640, 480, i / 7 + 1, i);
        d[1] = wr_augment_plan(&a, 640, 480, i / 7, i + 1);
        d[2] = wr_augment_plan(&other, 640, 480, i / 7, i);
        for (int k = 0; k < 3; k++)
            same[k] += c.width == d[k].width && c.height == d[k].height &&
                       c.x == d[k].x && c.y == d[k].y;
        assert_int_equal(c.flip,
                         wr_augment_plan(&flip_only, 640, 480, i / 7, i).flip);
        d[0] = wr_augment_plan(&a, 640, 480, i / 7, i);
        assert_rectangle(d[0], c.x, c.y, c.width, c.height);
    }
    for (int k = 0; k < 3; k++)
        assert_true(same[k] <= 1);
}

/* A value of [lo, hi) into one of n cells. */
static void tally(uint64_t *cells, unsigned n, double v, double lo, double hi)
{
    int at = (int)((v - lo) / (hi - lo) * n);

    assert_true(at >= -1 && at <= (int)n); /* rounded sides */
    cells[WR_MIN(WR_MAX(at, 0), (int)n - 1)]++;
}

/* In a big picture every draw fits, when the area leaves room for all shapes:
 * areas, logarithms of shapes, places and coins must all be uniform. */
static void test_chances(void **state)
{
    weir_picture_config cfg = config(WEIR_CROP_RANDOM);
    uint64_t area[10] = {0}, ratio[10] = {0}, x[10] = {0}, y[10] = {0};
    uint64_t coin[2] = {0};
    struct wr_augment a;

    cfg.crop_area[1] = 0.7f;
    cfg.flip = 1;
    a = augment(&cfg);
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct wr_picture_crop c = wr_augment_plan(&a, 8000, 8000, i % 3, i);

        tally(area, 10, (double)c.width * c.height / 64e6, 0.08, 0.7);
        tally(ratio, 10, log((double)c.width / c.height), -log(4.0 / 3),
              log(4.0 / 3));
        tally(x, 10, c.x, 0, 8000.0 - c.width + 1);
        tally(y, 10, c.y, 0, 8000.0 - c.height + 1);
        coin[c.flip]++;
    }
    assert_uniform(area, 10, DRAWS / 10.0);
    assert_uniform(ratio, 10, DRAWS / 10.0);
    assert_uniform(x, 10, DRAWS / 10.0);
    assert_uniform(y, 10, DRAWS / 10.0);
    assert_uniform(coin, 2, DRAWS / 2.0);
}

/* Whatever the picture's size and the numbers: inside, and in their ranges
 * but for the rounding of sides. */
static void test_inside(void **state)
{
    struct wr_rng rng = {.seed = 2};

    for (uint64_t i = 0; i < DRAWS; i++) {
        weir_picture_config cfg = config(WEIR_CROP_RANDOM);
        uint32_t w = 1 + (uint32_t)wr_rng_below(&rng, i % 4 ? 700 : 20);
        uint32_t h = 1 + (uint32_t)wr_rng_below(&rng, i % 4 ? 700 : 20);
        struct wr_augment a;
        struct wr_picture_crop c;

        if (i % 2) {
            cfg.crop_area[0] = 0.001f + 0.9f * (float)wr_rng_unit(&rng);
            cfg.crop_ratio[0] = 0.01f + (float)wr_rng_unit(&rng);
            cfg.crop_ratio[1] = cfg.crop_ratio[0] * 5;
        }
        a = augment(&cfg);
        c = wr_augment_plan(&a, w, h, 0, i);
        assert_true(c.width >= 1 && c.x + c.width <= w);
        assert_true(c.height >= 1 && c.y + c.height <= h);
        if (c.width > 1 && c.height > 1 && c.width < w && c.height < h) {
            assert_true((c.width + 0.5) / (c.height - 0.5) >=
                        cfg.crop_ratio[0]);
            assert_true((c.width - 0.5) / (c.height + 0.5) <=
                        cfg.crop_ratio[1]);
            assert_true((c.width + 0.5) * (c.height + 0.5) >=
                        (double)cfg.crop_area[0] * w * h);
        }
    }
}

/* A strip in which no draw fits: the middle, as far as shapes are allowed. */
static void test_fallback(void **state)
{
    weir_picture_config cfg = config(WEIR_CROP_RANDOM);
    struct wr_augment a;

    cfg.crop_area[0] = 0.9f;
    a = augment(&cfg);
    for (uint64_t i = 0; i < 50; i++) {
        assert_rectangle(wr_augment_plan(&a, 900, 90, 0, i), 390, 0, 120, 90);
        assert_rectangle(wr_augment_plan(&a, 90, 900, 0, i), 0, 390, 90, 120);
        assert_rectangle(wr_augment_plan(&a, 1, 5, 0, i), 0, 2, 1, 1);
    }
    cfg.crop_area[0] = cfg.crop_area[1] = 1;
    cfg.crop_ratio[0] = cfg.crop_ratio[1] = 1;
    a = augment(&cfg);
    assert_rectangle(wr_augment_plan(&a, 77, 77, 0, 0), 0, 0, 77, 77);
    cfg.crop_ratio[0] = 0.5f;
    cfg.crop_ratio[1] = 0.5f;
    a = augment(&cfg);
    assert_rectangle(wr_augment_plan(&a, 60, 60, 0, 0), 15, 0, 30, 60);
}

static void refuse(const weir_picture_config *cfg, const char *field)
{
    weir_err err = {0};

    assert_int_equal(wr_augment_check(cfg, &err), WEIR_EINVAL);
    if (strncmp(err.msg, field, strlen(field)) || err.msg[strlen(field)] != ':')
        fail_msg("'%s' does not name %s", err.msg, field);
}

static void test_refused(void **state)
{
    static const float bad_area[][2] = {{0, 1},        {-1, 1},  {0.5f, 0.4f},
                                        {0.5f, 1.01f}, {NAN, 1}, {0.1f, NAN}};
    static const float bad_ratio[][2] = {{0, 1},        {-1, 1},  {2, 1},
                                         {1, INFINITY}, {NAN, 1}, {1, NAN}};
    static const float bad_center[] = {0, -1, 1.01f, NAN};
    weir_picture_config cfg;

    for (size_t i = 0; i < WR_ARRAY_LEN(bad_area); i++) {
        cfg = config(WEIR_CROP_RANDOM);
        memcpy(cfg.crop_area, bad_area[i], sizeof(cfg.crop_area));
        refuse(&cfg, "crop_area");
        cfg.crop = WEIR_CROP_CENTER; /* does not matter there */
        augment(&cfg);
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(bad_ratio); i++) {
        cfg = config(WEIR_CROP_RANDOM);
        memcpy(cfg.crop_ratio, bad_ratio[i], sizeof(cfg.crop_ratio));
        refuse(&cfg, "crop_ratio");
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(bad_center); i++) {
        cfg = config(WEIR_CROP_CENTER);
        cfg.crop_center = bad_center[i];
        refuse(&cfg, "crop_center");
    }
    cfg = config((enum weir_crop)3);
    refuse(&cfg, "crop");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_center),
        cmocka_unit_test(test_same_everywhere),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_chances),
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
