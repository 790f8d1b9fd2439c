/* test_orient.c - pictures that are not stored upright, through the pipeline.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "../codec/oriented.h"
#include "../format/tmpdir.h"
#include "codec/picture.h"
#include "weir/weir.h"

enum { N = 8, W = 12, H = 20, BYTES = W * H * 3 };

static struct tmpdir tmp;
static struct made pictures[N]; /* the k-th has orientation k + 1 */
static weir_dataset *ds;

static int setup(void **state)
{
    (void)state;
    tmpdir_init(&tmp);
    tmpdir_mkdir(&tmp, "set");
    for (unsigned k = 0; k < N; k++) {
        char name[32];

        snprintf(name, sizeof(name), "set/%u.jpg", k);
        pictures[k] = make_oriented(61, 33, k + 1);
        tmpdir_put(&tmp, name, pictures[k].bytes, pictures[k].len);
    }
    return weir_dataset_open(&ds, tmpdir_at(&tmp, "set"), NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    weir_dataset_close(&ds);
    for (unsigned k = 0; k < N; k++)
        free(pictures[k].bytes);
    tmpdir_done(&tmp);
    return 0;
}

static weir_pipeline_config config(enum weir_orient orient)
{
    weir_pipeline_config cfg;

    weir_pipeline_defaults(&cfg);
    cfg.batch = N;
    cfg.picture.width = W;
    cfg.picture.height = H;
    cfg.picture.dtype = WEIR_U8;
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    cfg.picture.orient = orient;
    return cfg;
}

/* One epoch of N pixels; returns how many came from a cache. */
static uint64_t run(const weir_pipeline_config *cfg, uint8_t *ret)
{
    weir_pipeline *p = NULL;
    const weir_batch *b = NULL;
    weir_stats stats;
    weir_err err;

    if (weir_pipeline_open(&p, ds, cfg, &err) < 0 ||
        weir_pipeline_next(p, &b, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(b->count, N);
    memcpy(ret, b->data, (size_t)N * BYTES);
    weir_batch_release(b);
    weir_pipeline_stats(p, &stats);
    weir_pipeline_close(&p);
    return stats.cache_dir_hits;
}

static void check(const uint8_t *got, enum weir_orient orient)
{
    const weir_picture_config spec = {.width = W,
                                      .height = H,
                                      .channels = 3,
                                      .dtype = WEIR_U8,
                                      .orient = orient};
    struct wr_picture_decoder *d = NULL;
    uint8_t want[BYTES];

    assert_int_equal(wr_picture_new(&d, &spec, NULL), 0);
    for (unsigned k = 0; k < N; k++) {
        assert_int_equal(wr_picture_decode(d, pictures[k].bytes,
                                           pictures[k].len, NULL, want, NULL,
                                           NULL),
                         0);
        assert_memory_equal(got + k * BYTES, want, BYTES);
    }
    wr_picture_free(d);
}

static void upright_if_asked_for(void **state)
{
    weir_pipeline_config cfg = config(WEIR_ORIENT_IGNORE);
    uint8_t a[N * BYTES], b[N * BYTES];

    (void)state;
    run(&cfg, a);
    check(a, WEIR_ORIENT_IGNORE);
    cfg.picture.orient = WEIR_ORIENT_EXIF;
    run(&cfg, b);
    check(b, WEIR_ORIENT_EXIF);
    assert_memory_equal(a, b, BYTES); /* the first one is upright */
    for (unsigned k = 1; k < N; k++)
        assert_memory_not_equal(a + k * BYTES, b + k * BYTES, BYTES);
}

/* What was cached one way up is not delivered for the other. */
static void caches_keep_them_apart(void **state)
{
    weir_pipeline_config cfg = config(WEIR_ORIENT_IGNORE);
    uint8_t pixels[N * BYTES];
    char tier[300];

    (void)state;
    tmpdir_mkdir(&tmp, "tier");
    snprintf(tier, sizeof(tier), "%s:64MiB", tmpdir_at(&tmp, "tier"));
    cfg.cache = tier;
    cfg.cache_what = WEIR_CACHE_DECODED;
    for (int k = 0; k < 4; k++) {
        cfg.picture.orient = k % 2 ? WEIR_ORIENT_EXIF : WEIR_ORIENT_IGNORE;
        assert_int_equal(run(&cfg, pixels), k < 2 ? 0 : N);
        check(pixels, cfg.picture.orient);
    }
}

static void random_crops_are_of_the_upright(void **state)
{
    weir_pipeline_config cfg = config(WEIR_ORIENT_EXIF);
    uint8_t a[N * BYTES], b[N * BYTES];

    (void)state;
    cfg.picture.crop = WEIR_CROP_RANDOM;
    cfg.picture.crop_ratio[0] = cfg.picture.crop_ratio[1] =
        0.5f; /* fits when upright */
    cfg.picture.crop_area[0] = 0.9f;
    cfg.picture.flip = 1;
    cfg.threads = 1;
    run(&cfg, a);
    cfg.threads = 4;
    run(&cfg, b);
    assert_memory_equal(a, b, sizeof(a));
}

static void wrong_values(void **state)
{
    weir_pipeline_config cfg = config((enum weir_orient)7);
    weir_pipeline *p = NULL;
    weir_err err;

    (void)state;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "orient"));
    cfg = config(WEIR_ORIENT_EXIF);
    cfg.picture.reserved[0] = 1;
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_EINVAL);
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upright_if_asked_for),
        cmocka_unit_test(caches_keep_them_apart),
        cmocka_unit_test(random_crops_are_of_the_upright),
        cmocka_unit_test(wrong_values),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
