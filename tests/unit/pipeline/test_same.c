/* test_same.c - the same bytes for any threads, depth, engine and prefetch.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

static const struct {
    enum weir_io io;
    int direct;
} engines[] = {
    {WEIR_IO_AUTO, 0},
    {WEIR_IO_BLOCKING, 0},
    {WEIR_IO_AUTO, 1},
    {WEIR_IO_BLOCKING, 1},
};

static const uint32_t threads[] = {1, 2, 4, 8};
static const uint32_t depths[] = {1, 2, 7, 32};
static const uint32_t prefetches[] = {0, 1, 3};

/* Case `k` of all combinations. */
static void choose(unsigned k, weir_pipeline_config *cfg)
{
    cfg->threads = threads[k % 4];
    cfg->depth = depths[k / 4 % 4];
    cfg->io = engines[k / 16 % 4].io;
    cfg->direct = engines[k / 16 % 4].direct;
    cfg->prefetch = prefetches[k / 64 % 3];
}

/* Every `step`-th combination delivers what the first one does. */
static void compare_all(const struct fx *fx, const weir_dataset *ds,
                        weir_pipeline_config *cfg, unsigned step)
{
    uint64_t hash = 0;
    size_t ids = 0;

    for (unsigned k = 0; k < 4 * 4 * 4 * 3; k += step) {
        struct fx_log log = {0};

        choose(k, cfg);
        assert_int_equal(fx_run(fx, ds, cfg, &log), 0);
        if (k == 0) {
            hash = log.hash;
            ids = log.id_count;
        }
        if (log.hash != hash)
            fail_msg("combination %u delivers something else", k);
        assert_int_equal(log.id_count, ids);
        fx_log_done(&log);
    }
    assert_true(ids >= fx->n / 2);
}

/* Reads that go straight into the batch. */
static void tensors_into_the_slot(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_TENSORS, 67, 9);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.batch = 6;
    cfg.epochs = 2;
    compare_all(&fx, ds, &cfg, 1);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

/* Tensors that are turned around on the way. */
static void tensors_into_planes(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_TENSORS, 67, 1);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.picture.layout = WEIR_NCHW;
    cfg.remainder = WEIR_REMAINDER_PAD;
    cfg.order = WEIR_ORDER_BLOCK;
    cfg.block_samples = 8;
    cfg.block_window = 3;
    compare_all(&fx, ds, &cfg, 5);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

/* Pictures, some of them bad in each of the ways there are. */
static void pictures_with_holes(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_JPEGS, 60, 1);
    ds = fx_open(&fx, "");
    for (uint32_t i = 0; i < 12; i++)
        fx_spoil(&fx, i * 5, i % FX_HARMS);
    fx_config(&fx, &cfg);
    cfg.batch = 7;
    cfg.picture.dtype = WEIR_F32;
    compare_all(&fx, ds, &cfg, 5);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_into_the_slot),
        cmocka_unit_test(tensors_into_planes),
        cmocka_unit_test(pictures_with_holes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
