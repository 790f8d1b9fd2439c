/* test_bad.c - bad samples: holes are filled as the model says, and named.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "fixture.h"
#include "model.h"
#include "pipeline/order.h"

#define N 41

static struct wr_rng rng = {.seed = 4};

static uint32_t below(uint32_t n)
{
    return (uint32_t)wr_rng_below(&rng, n);
}

/* --- sets of bad samples --- */

static void choose_bad(unsigned kind, const weir_pipeline_config *cfg,
                       bool *bad)
{
    struct wr_order order;

    memset(bad, 0, N * sizeof(*bad));
    wr_order_init(&order, cfg, N, 0);
    switch (kind) {
    case 0: /* none */
        break;
    case 1: /* few */
        for (unsigned i = 0; i < 3; i++)
            bad[below(N)] = true;
        break;
    case 2: /* many */
        for (unsigned i = 0; i < N; i++)
            bad[i] = below(2);
        break;
    case 3: /* the tail */
        for (unsigned i = N - 12; i < N; i++)
            bad[wr_order_at(&order, i)] = true;
        bad[wr_order_at(&order, 1)] = true;
        break;
    case 4: /* the head */
        for (unsigned i = 0; i < 15; i++)
            bad[wr_order_at(&order, i)] = true;
        break;
    case 5: /* all but one */
        memset(bad, 1, N * sizeof(*bad));
        bad[below(N)] = false;
        break;
    default: /* all */
        memset(bad, 1, N * sizeof(*bad));
    }
}

/* Opened while all of them are good: what was mended is another file. */
static weir_dataset *set_bad(const struct fx *fx, const bool *bad,
                             const bool *was)
{
    weir_dataset *ds;

    for (uint32_t i = 0; i < N; i++)
        if (was[i])
            fx_mend(fx, i);
    ds = fx_open(fx, "");
    for (uint32_t i = 0; i < N; i++) {
        enum fx_harm how = below(FX_HARMS);

        if (fx->kind == FX_TENSORS)
            how = i % 2 ? FX_REMOVE : FX_CUT;
        if (fx->kind == FX_BLOBS && how == FX_GARBAGE)
            how = FX_GROW;
        if (bad[i])
            fx_spoil(fx, i, how);
    }
    return ds;
}

/* --- comparing --- */

static void compare_batches(const struct fx_log *got, const struct model *m)
{
    assert_int_equal(got->batch_count, m->out.batch_count);
    for (size_t b = 0; b < got->batch_count; b++) {
        const struct fx_batch *x = &got->batches[b];
        const struct fx_batch *y = &m->out.batches[b];

        assert_int_equal(x->index, y->index);
        assert_int_equal(x->count, y->count);
        assert_int_equal(x->unique, y->unique);
        for (uint32_t i = 0; i < x->count; i++)
            if (got->ids[x->first + i] != m->out.ids[y->first + i])
                fail_msg("batch %zu slot %u: sample %lu, not %lu", b, i,
                         (unsigned long)got->ids[x->first + i],
                         (unsigned long)m->out.ids[y->first + i]);
    }
}

static void compare_named(const weir_pipeline *p, const struct model *m)
{
    assert_int_equal(weir_pipeline_bad_count(p), m->named_count);
    for (size_t k = 0; k < m->named_count; k++) {
        const weir_bad_sample *s = weir_pipeline_bad(p, k);
        char name[32];

        assert_non_null(s);
        assert_int_equal(s->id, m->named[k]);
        assert_int_equal(s->epoch, 0);
        assert_true(s->code < 0);
        snprintf(name, sizeof(name), "%05u.", (unsigned)s->id);
        assert_non_null(strstr(s->text, name));
        assert_true(strlen(s->text) > 16); /* a reason follows */
    }
    assert_null(weir_pipeline_bad(p, m->named_count));
}

static void compare_rank(const struct fx *fx, const weir_dataset *ds,
                         const weir_pipeline_config *cfg, const bool *bad)
{
    struct model m = {.cfg = cfg, .n = N, .bad = bad};
    struct fx_log log = {0};
    weir_pipeline *p = fx_start(ds, cfg);
    weir_err err;
    int r = fx_take(fx, p, SIZE_MAX, &log, &err);

    model_play(&m);
    if ((r < 0) != m.fails)
        fail_msg("returned %d, %s", r, r < 0 ? err.msg : "should fail");
    if (r < 0) { /* and so again */
        assert_int_equal(r, WEIR_EFORMAT);
        assert_int_equal(fx_take(fx, p, 1, &log, &err), r);
    }
    compare_batches(&log, &m);
    if (!m.fails || cfg->remainder != WEIR_REMAINDER_PAD)
        compare_named(p, &m);
    weir_pipeline_close(&p);
    fx_log_done(&log);
    model_done(&m);
}

static void random_config(const struct fx *fx, weir_pipeline_config *cfg)
{
    static const uint32_t batches[] = {1, 2, 3, 5, 8, 20, 64};
    static const uint32_t prefetches[] = {0, 1, 3};

    fx_config(fx, cfg);
    cfg->batch = batches[below(7)];
    cfg->threads = 1 + below(4);
    cfg->depth = 1 + below(12);
    cfg->prefetch = prefetches[below(3)];
    cfg->order = below(3);
    cfg->block_samples = 5;
    cfg->block_window = 3;
    cfg->seed = below(1000);
    cfg->remainder = below(3);
    cfg->io = below(2) ? WEIR_IO_AUTO : WEIR_IO_BLOCKING;
    cfg->world = 1 + below(3);
    if (fx->kind == FX_TENSORS && below(2))
        cfg->picture.layout = WEIR_NCHW;
}

static void follow_the_model(enum fx_kind kind, unsigned rounds)
{
    bool bad[N] = {0}, was[N];
    struct fx fx;

    fx_make(&fx, kind, N, 1);
    for (unsigned i = 0; i < rounds; i++) {
        weir_pipeline_config cfg;
        weir_dataset *ds;

        random_config(&fx, &cfg);
        memcpy(was, bad, sizeof(was));
        choose_bad(i % 7, &cfg, bad);
        ds = set_bad(&fx, bad, was);
        for (cfg.rank = 0; cfg.rank < cfg.world; cfg.rank++)
            compare_rank(&fx, ds, &cfg, bad);
        weir_dataset_close(&ds);
    }
    fx_done(&fx);
}

static void reading_follows_the_model(void **state)
{
    (void)state;
    follow_the_model(FX_BLOBS, 140);
}

static void pictures_follow_the_model(void **state)
{
    (void)state;
    follow_the_model(FX_JPEGS, 105);
}

static void tensors_follow_the_model(void **state)
{
    (void)state;
    follow_the_model(FX_TENSORS, 105);
}

/* --- policies --- */

static void fail_stops_at_the_first(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    weir_dataset *ds;
    weir_pipeline *p;
    weir_err err;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_BLOBS, N, 1);
    ds = fx_open(&fx, "");
    fx_spoil(&fx, 9, FX_REMOVE);
    fx_spoil(&fx, 30, FX_CUT);
    fx_config(&fx, &cfg);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    cfg.on_error = WEIR_ON_ERROR_FAIL;
    p = fx_start(ds, &cfg);
    assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "00009.jpg"));
    assert_int_equal(log.batch_count, 2); /* those before it are good */
    assert_int_equal(fx_take(&fx, p, 1, &log, &err), WEIR_ENOENT);
    assert_int_equal(weir_pipeline_bad_count(p), 1);
    weir_pipeline_close(&p);
    fx_log_done(&log);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

static void max_bad_is_per_epoch(void **state)
{
    (void)state;
    for (uint64_t max = 2; max < 5; max++) {
        weir_pipeline_config cfg;
        struct fx_log log = {0};
        weir_dataset *ds;
        struct fx fx;

        fx_make(&fx, FX_BLOBS, N, 1);
        ds = fx_open(&fx, "");
        for (uint32_t i = 0; i < 3; i++)
            fx_spoil(&fx, 7 * i, FX_REMOVE);
        fx_config(&fx, &cfg);
        cfg.max_bad = max;
        cfg.epochs = 3;
        assert_int_equal(fx_run(&fx, ds, &cfg, &log),
                         max < 3 ? WEIR_ENOENT : 0);
        if (max >= 3)
            assert_int_equal(log.id_count, 3 * (N - 3));
        fx_log_done(&log);
        weir_dataset_close(&ds);
        fx_done(&fx);
    }
}

static void the_list_is_bounded_and_the_count_is_not(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    weir_dataset *ds;
    weir_pipeline *p;
    weir_err err;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_BLOBS, N, 1);
    ds = fx_open(&fx, "fault:eio@~b/:");
    fx_config(&fx, &cfg);
    cfg.epochs = 60;
    p = fx_start(ds, &cfg);
    assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
    assert_int_equal(weir_pipeline_bad_count(p), 60 * (N - N / 2));
    assert_non_null(weir_pipeline_bad(p, 999));
    assert_int_equal(weir_pipeline_bad(p, 999)->code, WEIR_EIO);
    assert_null(weir_pipeline_bad(p, 1000));
    weir_pipeline_close(&p);
    fx_log_done(&log);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_follows_the_model),
        cmocka_unit_test(pictures_follow_the_model),
        cmocka_unit_test(tensors_follow_the_model),
        cmocka_unit_test(fail_stops_at_the_first),
        cmocka_unit_test(max_bad_is_per_epoch),
        cmocka_unit_test(the_list_is_bounded_and_the_count_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
