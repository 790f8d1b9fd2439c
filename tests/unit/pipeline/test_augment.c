/* test_augment.c - random crops and flips: the same pixels for any threads,
 * depth and prefetch, and after a resume; others in each epoch.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fixture.h"

#define N      41
#define EPOCHS 3

static struct fx fx;
static weir_dataset *ds;

static int setup(void **state)
{
    (void)state;
    fx_make(&fx, FX_JPEGS, N, 1);
    ds = fx_open(&fx, "");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    weir_dataset_close(&ds);
    fx_done(&fx);
    return 0;
}

static void config(weir_pipeline_config *cfg)
{
    fx_config(&fx, cfg);
    cfg->batch = 5;
    cfg->picture.crop = WEIR_CROP_RANDOM;
    cfg->picture.flip = 1;
    cfg->seed = 21;
    cfg->epochs = EPOCHS;
}

/* A digest of the pixels of each sample in each epoch. */
struct pixels {
    uint64_t of[EPOCHS][N];
    unsigned count; /* samples seen */
};

static void take(weir_pipeline *p, size_t max, struct pixels *ret)
{
    const weir_batch *b;
    weir_err err;
    int r = 0;

    while (max-- && (r = weir_pipeline_next(p, &b, &err)) > 0) {
        size_t size = b->bytes / b->count;

        for (uint32_t i = 0; i < b->count; i++)
            ret->of[b->epoch][b->ids[i]] = XXH64(
                (const uint8_t *)b->data + i * size, size, 1);
        ret->count += b->count;
        weir_batch_release(b);
    }
    if (r < 0)
        fail_msg("%s", err.msg);
}

static void run(const weir_pipeline_config *cfg, struct pixels *ret)
{
    weir_pipeline *p = fx_start(ds, cfg);

    memset(ret, 0, sizeof(*ret));
    take(p, SIZE_MAX, ret);
    weir_pipeline_close(&p);
}

static void same_for_any_threads(void **state)
{
    weir_pipeline_config cfg;
    struct pixels first, now;

    (void)state;
    config(&cfg);
    cfg.threads = 1;
    run(&cfg, &first);
    assert_int_equal(first.count, EPOCHS * N);
    for (uint32_t k = 2; k <= 8; k++) {
        cfg.threads = k;
        cfg.depth = k * k % 11 + 1;
        cfg.prefetch = k % 4;
        cfg.batch = k + 1; /* nor on the batches */
        cfg.order = (enum weir_order)(k % 3);
        run(&cfg, &now);
        assert_memory_equal(&first, &now, sizeof(first));
    }
}

/* Ranks get the pixels that one process would get. */
static void same_for_any_world(void **state)
{
    weir_pipeline_config cfg;
    struct pixels first, now = {0};

    (void)state;
    config(&cfg);
    run(&cfg, &first);
    for (cfg.world = 3; cfg.rank < cfg.world; cfg.rank++) {
        weir_pipeline *p = fx_start(ds, &cfg);

        take(p, SIZE_MAX, &now);
        weir_pipeline_close(&p);
    }
    assert_memory_equal(&first, &now, sizeof(first));
}

static void same_after_resume(void **state)
{
    weir_pipeline_config cfg;
    struct pixels first;

    (void)state;
    config(&cfg);
    run(&cfg, &first);
    for (size_t at = 1; at < 2 * N / 5; at += 3) {
        weir_pipeline *p = fx_start(ds, &cfg);
        struct pixels now = {0};
        uint8_t saved[512];
        const void *bufs[1] = {saved};
        size_t len;

        take(p, at, &now);
        len = weir_pipeline_state(p, saved, sizeof(saved));
        assert_true(len <= sizeof(saved));
        weir_pipeline_close(&p);
        cfg.resume = bufs;
        cfg.resume_len = &len;
        cfg.resume_count = 1;
        cfg.threads = 1 + (uint32_t)at % 4;
        p = fx_start(ds, &cfg);
        take(p, SIZE_MAX, &now);
        weir_pipeline_close(&p);
        cfg.resume_count = 0;
        assert_memory_equal(&first, &now, sizeof(first));
    }
}

static unsigned count_same(const uint64_t *a, const uint64_t *b)
{
    unsigned same = 0;

    for (int i = 0; i < N; i++)
        same += a[i] == b[i];
    return same;
}

/* Rectangles of 8x8 pixels coincide now and then, by chance. */
static void others_in_each_epoch(void **state)
{
    weir_pipeline_config cfg;
    struct pixels a, b;

    (void)state;
    config(&cfg);
    run(&cfg, &a);
    assert_true(count_same(a.of[0], a.of[1]) < N / 4);
    assert_true(count_same(a.of[1], a.of[2]) < N / 4);
    cfg.seed++;
    run(&cfg, &b);
    assert_true(count_same(a.of[0], b.of[0]) < N / 4);
}

/* With a flip alone a sample has two faces, each about half of the time; a
 * center crop has one. */
static void flips_and_centers(void **state)
{
    weir_pipeline_config cfg;
    struct pixels plain, flip;
    unsigned same = 0;

    (void)state;
    config(&cfg);
    cfg.picture.crop = WEIR_CROP_NONE;
    cfg.picture.flip = 0;
    run(&cfg, &plain);
    cfg.picture.flip = 1;
    run(&cfg, &flip);
    for (int e = 0; e < EPOCHS; e++)
        same += count_same(plain.of[e], flip.of[e]);
    assert_in_range(same, EPOCHS * N / 4, EPOCHS * N * 3 / 4);
    cfg.picture.crop = WEIR_CROP_CENTER;
    cfg.picture.flip = 0;
    run(&cfg, &flip);
    assert_int_equal(count_same(flip.of[0], flip.of[1]), N);
    assert_true(count_same(flip.of[0], plain.of[0]) < N / 4);
}

static void refuse(const weir_dataset *set, const weir_pipeline_config *cfg,
                   const char *text)
{
    weir_pipeline *p = NULL;
    weir_err err;

    assert_int_equal(weir_pipeline_open(&p, set, cfg, &err), WEIR_EINVAL);
    assert_null(p);
    if (!strstr(err.msg, text))
        fail_msg("'%s' does not say '%s'", err.msg, text);
}

static void refused(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *set;
    struct fx tensors;

    (void)state;
    config(&cfg);
    cfg.picture.crop_area[0] = 0;
    refuse(ds, &cfg, "crop_area");
    config(&cfg);
    cfg.picture.crop_ratio[1] = 0.5f;
    refuse(ds, &cfg, "crop_ratio");
    config(&cfg);
    cfg.picture.crop = WEIR_CROP_CENTER;
    cfg.picture.crop_center = 1.5f;
    refuse(ds, &cfg, "crop_center");
    fx_make(&tensors, FX_TENSORS, 4, 2);
    set = fx_open(&tensors, "");
    config(&cfg);
    cfg.picture.flip = 0;
    refuse(set, &cfg, "crop: pictures only");
    cfg.picture.crop = WEIR_CROP_NONE;
    cfg.picture.flip = 1;
    refuse(set, &cfg, "flip: pictures only");
    weir_dataset_close(&set);
    fx_done(&tensors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(same_for_any_world),
        cmocka_unit_test(same_after_resume),
        cmocka_unit_test(others_in_each_epoch),
        cmocka_unit_test(flips_and_centers),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
