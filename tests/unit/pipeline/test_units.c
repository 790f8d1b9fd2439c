/* test_units.c - samples that lie together are read together.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture.h"

#define N 500

static const struct {
    enum weir_order order;
    uint32_t block, window;
} orders[] = {
    {WEIR_ORDER_SEQUENTIAL, 16, 1}, {WEIR_ORDER_BLOCK, 16, 4},
    {WEIR_ORDER_BLOCK, 0, 16},      {WEIR_ORDER_BLOCK, 7, 3},
    {WEIR_ORDER_SEQUENTIAL, 0, 1},
};

static const struct {
    uint32_t threads, depth, prefetch;
    enum weir_io io;
    int direct;
} ways[] = {
    {1, 1, 0, WEIR_IO_AUTO, 0},     {1, 32, 1, WEIR_IO_BLOCKING, 0},
    {2, 7, 2, WEIR_IO_AUTO, 1},     {4, 32, 1, WEIR_IO_AUTO, 0},
    {8, 2, 1, WEIR_IO_BLOCKING, 1},
};

static void set_way(weir_pipeline_config *cfg, size_t k)
{
    cfg->threads = ways[k].threads;
    cfg->depth = ways[k].depth;
    cfg->prefetch = ways[k].prefetch;
    cfg->io = ways[k].io;
    cfg->direct = ways[k].direct;
}

/* Two epochs in every order, in every way: the same bytes, each sample once
 * an epoch, and far fewer requests than samples. */
static void same_bytes_in_few_requests(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_TENSORS, N, 60);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.epochs = 2;
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
        uint64_t hash = 0;

        cfg.order = orders[o].order;
        cfg.block_samples = orders[o].block;
        cfg.block_window = orders[o].window;
        for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
            struct fx_log log = {0};
            weir_pipeline *p;
            weir_stats st;
            weir_err err;

            set_way(&cfg, k);
            p = fx_start(ds, &cfg);
            assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
            weir_pipeline_stats(p, &st);
            weir_pipeline_close(&p);
            assert_int_equal(log.id_count, 2 * N);
            fx_assert_once(log.ids, N, NULL, N);
            fx_assert_once(log.ids + N, N, NULL, N);
            if (k == 0)
                hash = log.hash;
            assert_int_equal(log.hash, hash);
            /* Blocks of 7 cross file ends; none is read twice. */
            if (st.requests > 2 * N / 4)
                fail_msg("order %zu, way %zu: %d requests", o, k,
                         (int)st.requests);
            fx_log_done(&log);
        }
    }
    weir_dataset_close(&ds);
    fx_done(&fx);
}

/* All samples through `world` ranks, from their states if there are some. */
static uint64_t run_ranks(const struct fx *fx, weir_dataset *ds,
                          weir_pipeline_config *cfg, size_t batches,
                          struct fx_log *log)
{
    uint64_t requests = 0;

    for (cfg->rank = 0; cfg->rank < cfg->world; cfg->rank++) {
        weir_pipeline *p = fx_start(ds, cfg);
        weir_stats st;
        weir_err err;

        assert_true(fx_take(fx, p, batches, log, &err) >= 0);
        weir_pipeline_stats(p, &st);
        requests += st.requests;
        weir_pipeline_close(&p);
    }
    return requests;
}

/* Ranks read their own blocks, each by one request; in another order than
 * blocks each sample alone. */
static void ranks_read_their_blocks(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_TENSORS, N, 60);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.block_samples = 10;
    cfg.block_window = 3;
    for (cfg.world = 2; cfg.world < 5; cfg.world++)
        for (int sequential = 0; sequential < 2; sequential++) {
            struct fx_log log = {0};
            uint64_t requests;

            cfg.order = sequential ? WEIR_ORDER_SEQUENTIAL : WEIR_ORDER_BLOCK;
            requests = run_ranks(&fx, ds, &cfg, SIZE_MAX, &log);
            fx_assert_once(log.ids, log.id_count, NULL, N);
            if (sequential)
                assert_int_equal(requests, N);
            else /* some are shared, and some hold a file's end */
                assert_in_range(requests, N / 10, N / 10 + 4 * cfg.world);
            fx_log_done(&log);
        }
    weir_dataset_close(&ds);
    fx_done(&fx);
}

/* One rank of `world` goes on where it was: it gets what it would have got. */
static void a_rank_is_resumed(const struct fx *fx, weir_dataset *ds,
                              weir_pipeline_config *cfg, size_t stop)
{
    struct fx_log whole = {0}, log = {0};
    uint8_t blob[256];
    const void *blobs[] = {blob};
    weir_pipeline *p;
    weir_err err;
    size_t len;

    assert_int_equal(fx_run(fx, ds, cfg, &whole), 0);
    p = fx_start(ds, cfg);
    fx_take(fx, p, stop, &log, &err);
    len = weir_pipeline_state(p, blob, sizeof(blob));
    weir_pipeline_close(&p);
    cfg->resume = blobs;
    cfg->resume_len = &len;
    cfg->resume_count = 1;
    assert_int_equal(fx_run(fx, ds, cfg, &log), 0);
    cfg->resume_count = 0;
    assert_int_equal(log.id_count, whole.id_count);
    assert_memory_equal(log.ids, whole.ids, log.id_count * sizeof(*log.ids));
    fx_log_done(&whole);
    fx_log_done(&log);
}

static void ranks_of_blocks_are_resumed(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_TENSORS, N, 60);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.order = WEIR_ORDER_BLOCK;
    cfg.block_samples = 7;
    cfg.block_window = 4;
    cfg.epochs = 2;
    cfg.world = 3;
    for (cfg.rank = 0; cfg.rank < cfg.world; cfg.rank++)
        for (size_t stop = 0; stop < 2 * N / 3 / cfg.batch; stop += 5)
            a_rank_is_resumed(&fx, ds, &cfg, stop);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

/* A read that serves many fails: each of them is read alone, so that only
 * those that are really bad are left out. */
static void a_bad_request_costs_only_the_bad(void **state)
{
    static const char *const rules[] = {"fault:eio@%29:", "fault:short=40@%31:",
                                        "fault:eio@33:", "fault:eio@40+:"};
    weir_pipeline_config cfg;
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_TENSORS, N, 250); /* few reads for the index */
    for (size_t k = 0; k < 4 * sizeof(ways) / sizeof(ways[0]); k++) {
        struct fx_log log = {0};
        bool bad[N] = {false};
        weir_pipeline *p;
        weir_err err;

        ds = fx_open(&fx, rules[k % 4]);
        fx_config(&fx, &cfg);
        cfg.order = k % 2 ? WEIR_ORDER_BLOCK : WEIR_ORDER_SEQUENTIAL;
        cfg.block_samples = 20;
        set_way(&cfg, k / 4);
        p = fx_start(ds, &cfg);
        assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
        for (uint64_t b = 0; b < weir_pipeline_bad_count(p); b++)
            bad[weir_pipeline_bad(p, b)->id] = true;
        fx_assert_once(log.ids, log.id_count, bad, N);
        if (k % 4 == 2) /* one failed request, and all is well again */
            assert_true(weir_pipeline_bad_count(p) <= 1);
        weir_pipeline_close(&p);
        fx_log_done(&log);
        weir_dataset_close(&ds);
    }
    fx_done(&fx);
}

/* Stopped anywhere and resumed: the rest comes, in the same order. */
static void resumed_in_the_middle(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log whole = {0};
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_TENSORS, N, 60);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.order = WEIR_ORDER_BLOCK;
    cfg.block_samples = 16;
    cfg.block_window = 4;
    assert_int_equal(fx_run(&fx, ds, &cfg, &whole), 0);
    for (size_t stop = 1; stop < whole.batch_count; stop += 13) {
        struct fx_log log = {0};
        uint8_t blob[256];
        const void *blobs[] = {blob};
        weir_pipeline *p = fx_start(ds, &cfg);
        weir_err err;
        size_t len;

        fx_take(&fx, p, stop, &log, &err);
        len = weir_pipeline_state(p, blob, sizeof(blob));
        weir_pipeline_close(&p);
        cfg.resume = blobs;
        cfg.resume_len = &len;
        cfg.resume_count = 1;
        assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
        cfg.resume_count = 0;
        assert_int_equal(log.id_count, N);
        assert_memory_equal(log.ids, whole.ids, N * sizeof(*log.ids));
        fx_log_done(&log);
    }
    fx_log_done(&whole);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_in_few_requests),
        cmocka_unit_test(ranks_read_their_blocks),
        cmocka_unit_test(ranks_of_blocks_are_resumed),
        cmocka_unit_test(a_bad_request_costs_only_the_bad),
        cmocka_unit_test(resumed_in_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
