/* test_parts.c - a pipeline that feeds one part of a data set.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#define N    500
#define HELD 0.13f

static struct fx fx;
static weir_dataset *ds;

/* Samples that the part does not have. */
static size_t leave_out(enum weir_part part, uint64_t seed, bool *ret)
{
    size_t in = 0;

    for (uint32_t i = 0; i < N; i++) {
        ret[i] = weir_split_part(HELD, seed, i) != part;
        in += !ret[i];
    }
    return in;
}

static void part_config(weir_pipeline_config *cfg, enum weir_part part)
{
    fx_config(&fx, cfg);
    cfg->holdout = HELD;
    cfg->split_seed = 4;
    cfg->part = part;
    cfg->batch = 7;
    cfg->seed = 3;
}

static int setup(void **state)
{
    (void)state;
    fx_make(&fx, FX_TENSORS, N, 60);
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

static void run_ranks(weir_pipeline_config *cfg, uint32_t world,
                      struct fx_log *log)
{
    for (uint32_t rank = 0; rank < world; rank++) {
        uint64_t planned;
        weir_pipeline *p;
        weir_err err;
        size_t before = log->batch_count;

        cfg->rank = rank;
        cfg->world = world;
        p = fx_start(ds, cfg);
        planned = weir_pipeline_batches_per_epoch(p);
        assert_int_equal(fx_take(&fx, p, SIZE_MAX, log, &err), 0);
        assert_int_equal(log->batch_count - before, planned);
        weir_pipeline_close(&p);
    }
}

/* Every order, several ranks and ways of reading: the part, each sample once,
 * with its own bytes and label (fx_take looks). */
static void each_part_comes_once(void **state)
{
    static const struct {
        enum weir_order order;
        uint32_t block, world, threads;
        int direct;
    } cases[] = {
        {WEIR_ORDER_SHUFFLE, 0, 1, 2, 0},
        {WEIR_ORDER_SHUFFLE, 0, 3, 1, 0},
        {WEIR_ORDER_SEQUENTIAL, 0, 1, 2, 0},
        {WEIR_ORDER_SEQUENTIAL, 5, 2, 2, 1},
        {WEIR_ORDER_BLOCK, 16, 1, 4, 0},
        {WEIR_ORDER_BLOCK, 7, 1, 1, 1},
        {WEIR_ORDER_BLOCK, 7, 4, 2, 0},
        {WEIR_ORDER_BLOCK, 1000, 1, 2, 0},
    };
    bool out[N];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int part = WEIR_PART_TRAIN; part <= WEIR_PART_HELD_OUT; part++) {
            weir_pipeline_config cfg;
            struct fx_log log = {0};

            leave_out((enum weir_part)part, 4, out);
            part_config(&cfg, (enum weir_part)part);
            cfg.order = cases[i].order;
            cfg.block_samples = cases[i].block;
            cfg.block_window = 3;
            cfg.threads = cases[i].threads;
            cfg.direct = cases[i].direct;
            run_ranks(&cfg, cases[i].world, &log);
            fx_assert_once(log.ids, log.id_count, out, N);
            fx_log_done(&log);
        }
}

/* The same bytes for any number of threads, in both parts. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    for (int part = WEIR_PART_TRAIN; part <= WEIR_PART_HELD_OUT; part++) {
        uint64_t hash = 0;

        for (uint32_t threads = 1; threads <= 4; threads++) {
            weir_pipeline_config cfg;
            struct fx_log log = {0};

            part_config(&cfg, (enum weir_part)part);
            cfg.order = WEIR_ORDER_BLOCK;
            cfg.threads = threads;
            cfg.epochs = 2;
            assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
            assert_true(threads == 1 || log.hash == hash);
            hash = log.hash;
            fx_log_done(&log);
        }
    }
}

/* Where a part is sequential, it is in the order of the data set. */
static void the_order_is_kept(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};

    (void)state;
    part_config(&cfg, WEIR_PART_TRAIN);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
    for (size_t i = 1; i < log.id_count; i++)
        assert_true(log.ids[i] > log.ids[i - 1]);
    fx_log_done(&log);
}

/* Reading the training part in blocks takes few requests: a sample that is left
 * out does not tear its block apart. */
static void blocks_stay_whole(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    weir_stats stats;
    weir_pipeline *p;
    weir_err err;

    (void)state;
    part_config(&cfg, WEIR_PART_TRAIN);
    cfg.order = WEIR_ORDER_BLOCK;
    cfg.block_samples = 20;
    p = fx_start(ds, &cfg);
    assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
    weir_pipeline_stats(p, &stats);
    assert_true(stats.requests * 4 < log.id_count);
    weir_pipeline_close(&p);
    fx_log_done(&log);
}

/* A tier that one part has filled serves the other nothing wrong. */
static void tiers_are_shared_by_the_parts(void **state)
{
    char dir[] = "/tmp/weir-tier-XXXXXX", spec[64], rm[64];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(spec, sizeof(spec), "ram:1MiB,%s:10MiB", dir);
    for (int turn = 0; turn < 4; turn++) {
        enum weir_part part = turn % 2 ? WEIR_PART_HELD_OUT : WEIR_PART_TRAIN;
        weir_pipeline_config cfg;
        struct fx_log log = {0};
        bool out[N];

        leave_out(part, 4, out);
        part_config(&cfg, part);
        cfg.cache = spec;
        assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
        fx_assert_once(log.ids, log.id_count, out, N);
        fx_log_done(&log);
    }
    snprintf(rm, sizeof(rm), "rm -rf %s", dir);
    assert_int_equal(system(rm), 0);
}

/* Stops after k batches, goes on with other ranks: nothing lost, nothing
 * twice. */
static void resumes_in_mid_epoch(void **state)
{
    bool out[N];

    (void)state;
    leave_out(WEIR_PART_TRAIN, 4, out);
    for (size_t k = 0; k < 60; k += 11) {
        weir_pipeline_config cfg;
        struct fx_log log = {0};
        uint8_t buf[80];
        const void *bufs[] = {buf};
        const size_t lens[] = {sizeof(buf)};
        weir_pipeline *p;
        weir_err err;

        part_config(&cfg, WEIR_PART_TRAIN);
        p = fx_start(ds, &cfg);
        assert_true(fx_take(&fx, p, k, &log, &err) >= 0);
        assert_int_equal(weir_pipeline_state(p, buf, sizeof(buf)), 80);
        weir_pipeline_close(&p);
        cfg.resume = bufs;
        cfg.resume_len = lens;
        cfg.resume_count = 1;
        for (uint32_t rank = 0; rank < 2; rank++) {
            cfg.rank = rank;
            cfg.world = 2;
            assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
        }
        fx_assert_once(log.ids, log.id_count, out, N);
        fx_log_done(&log);
    }
}

static void refuse(const weir_pipeline_config *cfg, int code, const char *word)
{
    weir_pipeline *p = NULL;
    weir_err err;

    assert_int_equal(weir_pipeline_open(&p, ds, cfg, &err), code);
    if (!strstr(err.msg, word))
        fail_msg("'%s' does not say '%s'", err.msg, word);
}

static void states_of_other_parts_are_refused(void **state)
{
    weir_pipeline_config cfg;
    uint8_t buf[80];
    const void *bufs[] = {buf};
    const size_t lens[] = {sizeof(buf)};
    weir_pipeline *p;

    (void)state;
    part_config(&cfg, WEIR_PART_TRAIN);
    p = fx_start(ds, &cfg);
    assert_int_equal(weir_pipeline_state(p, buf, sizeof(buf)), 80);
    weir_pipeline_close(&p);
    cfg.resume = bufs;
    cfg.resume_len = lens;
    cfg.resume_count = 1;
    cfg.part = WEIR_PART_HELD_OUT;
    refuse(&cfg, WEIR_EINVAL, "another part");
    cfg.part = WEIR_PART_ALL;
    refuse(&cfg, WEIR_EINVAL, "another part");
    cfg.part = WEIR_PART_TRAIN;
    cfg.split_seed++;
    refuse(&cfg, WEIR_EINVAL, "another part");
    cfg.split_seed--;
    cfg.holdout = 0.2f;
    refuse(&cfg, WEIR_EINVAL, "another part");
    cfg.holdout = HELD;
    p = fx_start(ds, &cfg);
    weir_pipeline_close(&p);
}

/* Part ALL is what it was before there were parts: bytes and states. */
static void all_is_as_before(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log[2] = {{0}, {0}};
    uint8_t buf[2][80];
    weir_err err;

    (void)state;
    for (int i = 0; i < 2; i++) {
        weir_pipeline *p;

        fx_config(&fx, &cfg);
        cfg.holdout = i ? HELD : 0;
        cfg.split_seed = i ? 4 : 0;
        p = fx_start(ds, &cfg);
        assert_true(fx_take(&fx, p, 9, &log[i], &err) >= 0);
        assert_int_equal(weir_pipeline_state(p, buf[i], 80), 80);
        weir_pipeline_close(&p);
    }
    assert_int_equal(log[0].hash, log[1].hash);
    assert_memory_equal(buf[0], buf[1], 80);
    for (int i = 56; i < 64; i++) /* the word that was reserved */
        assert_int_equal(buf[0][i], 0);
    fx_log_done(&log[0]);
    fx_log_done(&log[1]);
}

static void wrong_parts_are_named(void **state)
{
    weir_pipeline_config cfg;

    (void)state;
    part_config(&cfg, WEIR_PART_HELD_OUT);
    cfg.holdout = 0;
    refuse(&cfg, WEIR_EINVAL, "part: ");
    cfg.holdout = 0.7f;
    refuse(&cfg, WEIR_EINVAL, "holdout: 0.7");
    cfg.holdout = 0.00001f; /* one of 100,000: it is not among these */
    cfg.split_seed = 1;
    refuse(&cfg, WEIR_ENOENT, "none of its 500 samples");
    cfg.part = WEIR_PART_TRAIN;
    assert_int_equal(weir_split_part(cfg.holdout, 1, 499), WEIR_PART_TRAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_comes_once),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(the_order_is_kept),
        cmocka_unit_test(blocks_stay_whole),
        cmocka_unit_test(tiers_are_shared_by_the_parts),
        cmocka_unit_test(resumes_in_mid_epoch),
        cmocka_unit_test(states_of_other_parts_are_refused),
        cmocka_unit_test(all_is_as_before),
        cmocka_unit_test(wrong_parts_are_named),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
