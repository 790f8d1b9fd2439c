/* test_delivery.c - every sample once per epoch, to the right rank.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "fixture.h"

static struct fx fx; /* 53 tensors in files of 5 */
static weir_dataset *ds;

static int setup(void **state)
{
    (void)state;
    fx_make(&fx, FX_TENSORS, 53, 5);
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

static void keep_gives_each_sample_once(void **state)
{
    weir_pipeline_config cfg;

    (void)state;
    for (uint32_t batch = 1; batch <= 60; batch += batch < 9 ? 1 : 17) {
        struct fx_log log = {0};

        fx_config(&fx, &cfg);
        cfg.batch = batch;
        assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
        fx_assert_once(log.ids, log.id_count, NULL, fx.n);
        assert_int_equal(log.batch_count, (fx.n + batch - 1) / batch);
        for (size_t i = 0; i < log.batch_count; i++) {
            assert_int_equal(log.batches[i].index, i);
            assert_int_equal(log.batches[i].epoch, 0);
            if (i + 1 < log.batch_count)
                assert_int_equal(log.batches[i].count, batch);
        }
        fx_log_done(&log);
    }
}

static void drop_gives_full_batches_only(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};

    (void)state;
    fx_config(&fx, &cfg);
    cfg.batch = 8;
    cfg.remainder = WEIR_REMAINDER_DROP;
    assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
    assert_int_equal(log.batch_count, 6);
    assert_int_equal(log.id_count, 48);
    fx_log_done(&log);
    cfg.batch = 54; /* not one batch, ever: an end, not an error */
    cfg.epochs = 0;
    assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
    assert_int_equal(log.batch_count, 0);
}

static void pad_gives_equal_full_batches_to_all(void **state)
{
    (void)state;
    for (uint32_t world = 1; world <= 5; world++) {
        uint64_t ids[64];
        size_t n = 0, batches = 0;

        for (uint32_t rank = 0; rank < world; rank++) {
            weir_pipeline_config cfg;
            struct fx_log log = {0};

            fx_config(&fx, &cfg);
            cfg.batch = 3;
            cfg.rank = rank;
            cfg.world = world;
            cfg.remainder = WEIR_REMAINDER_PAD;
            assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
            batches = rank ? batches : log.batch_count;
            assert_int_equal(log.batch_count, batches);
            for (size_t i = 0; i < log.batch_count; i++) {
                const struct fx_batch *b = &log.batches[i];

                assert_int_equal(b->count, 3);
                memcpy(ids + n, log.ids + b->first, b->unique * sizeof(*ids));
                n += b->unique;
            }
            fx_log_done(&log);
        }
        fx_assert_once(ids, n, NULL, fx.n);
    }
}

static void ranks_share_without_overlap(void **state)
{
    static const enum weir_order orders[] = {
        WEIR_ORDER_SHUFFLE, WEIR_ORDER_SEQUENTIAL, WEIR_ORDER_BLOCK};

    (void)state;
    for (unsigned o = 0; o < 3; o++)
        for (uint32_t world = 1; world <= 5; world++) {
            struct fx_log log = {0};

            for (uint32_t rank = 0; rank < world; rank++) {
                weir_pipeline_config cfg;

                fx_config(&fx, &cfg);
                cfg.order = orders[o];
                cfg.block_samples = 6;
                cfg.block_window = 2;
                cfg.rank = rank;
                cfg.world = world;
                assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
            }
            fx_assert_once(log.ids, log.id_count, NULL, fx.n);
            fx_log_done(&log);
        }
}

static void more_ranks_than_samples(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};

    (void)state;
    fx_config(&fx, &cfg);
    cfg.rank = 53;
    cfg.world = 60;
    cfg.epochs = 0;
    assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
    assert_int_equal(log.batch_count, 0);
    fx_log_done(&log);
}

static void epochs_follow_each_other_in_another_order(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};

    (void)state;
    fx_config(&fx, &cfg);
    cfg.batch = 8; /* 7 batches, the last of 5 */
    cfg.epochs = 3;
    assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
    assert_int_equal(log.batch_count, 21);
    for (size_t e = 0; e < 3; e++) {
        assert_int_equal(log.batches[7 * e].epoch, e);
        assert_int_equal(log.batches[7 * e].index, 0);
        fx_assert_once(log.ids + e * fx.n, fx.n, NULL, fx.n);
        if (e)
            assert_memory_not_equal(log.ids, log.ids + e * fx.n,
                                    fx.n * sizeof(*log.ids));
    }
    fx_log_done(&log);
}

static void seeds_differ_and_repeat(void **state)
{
    weir_pipeline_config cfg;
    uint64_t hash[3];

    (void)state;
    fx_config(&fx, &cfg);
    for (unsigned i = 0; i < 3; i++) {
        struct fx_log log = {0};

        cfg.seed = i == 2 ? 0 : i;
        assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
        hash[i] = log.hash;
        fx_log_done(&log);
    }
    assert_int_not_equal(hash[0], hash[1]);
    assert_int_equal(hash[0], hash[2]);
}

static void max_batches_stops(void **state)
{
    (void)state;
    for (uint32_t prefetch = 0; prefetch < 4; prefetch++)
        for (uint64_t max = 1; max < 40; max += 7) {
            weir_pipeline_config cfg;
            struct fx_log log = {0};

            fx_config(&fx, &cfg);
            cfg.epochs = 0;
            cfg.prefetch = prefetch;
            cfg.max_batches = max;
            assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
            assert_int_equal(log.batch_count, max);
            fx_log_done(&log);
        }
}

static void the_end_stays_the_end(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    weir_pipeline *p;
    weir_err err = {.code = 7};

    (void)state;
    fx_config(&fx, &cfg);
    p = fx_start(ds, &cfg);
    assert_int_equal(weir_pipeline_batches_per_epoch(p), 14);
    assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
    assert_int_equal(fx_take(&fx, p, 1, &log, &err), 0);
    assert_int_equal(fx_take(&fx, p, 1, &log, &err), 0);
    assert_int_equal(err.code, 7); /* untouched on success */
    assert_int_equal(log.batch_count, 14);
    weir_pipeline_close(&p);
    fx_log_done(&log);
}

static void wrong_configurations_are_named(void **state)
{
    weir_pipeline_config good, cfg;
    weir_pipeline *p = NULL;
    weir_err err;

    (void)state;
    fx_config(&fx, &good);
#define REFUSED(field, value, word)                                            \
    cfg = good;                                                                \
    cfg.field = (value);                                                       \
    assert_int_equal(weir_pipeline_open(&p, ds, &cfg, &err), WEIR_EINVAL);     \
    assert_non_null(strstr(err.msg, word));                                    \
    assert_null(p);
    REFUSED(size, 0, "weir_pipeline_defaults")
    REFUSED(size, SIZE_MAX, "weir_pipeline_defaults") /* never filled */
    REFUSED(batch, 0, "batch")
    REFUSED(depth, 0, "depth")
    REFUSED(depth, 100000, "depth")
    REFUSED(rank, 1, "rank")
    REFUSED(world, 0, "world")
    REFUSED(picture.channels, 2, "channels")
    REFUSED(picture.std[1], 0.0f, "std")
    REFUSED(io, (enum weir_io)9, "io")
    REFUSED(order, (enum weir_order)9, "order")
    REFUSED(free, (void (*)(void *, void *, size_t))1, "alloc")
#undef REFUSED
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keep_gives_each_sample_once),
        cmocka_unit_test(drop_gives_full_batches_only),
        cmocka_unit_test(pad_gives_equal_full_batches_to_all),
        cmocka_unit_test(ranks_share_without_overlap),
        cmocka_unit_test(more_ranks_than_samples),
        cmocka_unit_test(epochs_follow_each_other_in_another_order),
        cmocka_unit_test(seeds_differ_and_repeat),
        cmocka_unit_test(max_batches_stops),
        cmocka_unit_test(the_end_stays_the_end),
        cmocka_unit_test(wrong_configurations_are_named),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
