/* test_run.c - runs of a small workload: what is read, counted and saved.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "format/format.h"
#include "run/figures.h"
#include "run/setup.h"
#include "runkit.h"

static struct wr_run_figures figures; /* too large for a stack */

static void run(const struct wr_run_plan *plan, struct wr_run_result *ret)
{
    weir_err err = {0};
    int r = wr_run(plan, ret, &err);

    if (r < 0)
        fail_msg("%s", err.msg);
    wr_run_figures(ret, &figures);
}

/* What a workload calls a format is read by one that there is. */
static void formats_are_there(void **state)
{
    unsigned read = 0;

    (void)state;
    for (int f = 0; f < WR_WL_FORMATS; f++) {
        const char *name = wr_run_format(f);

        if (name && !wr_format_find(name))
            fail_msg("there is no format '%s'", name);
        read += name != NULL;
    }
    assert_int_equal(read, WR_WL_FORMATS - 3); /* not synthetic, hdf5_opt,
                                                  parquet */
}

static void every_sample_is_read(void **state)
{
    struct wr_run_plan plan;
    struct wr_run_result res;

    runkit_plan(*state, &plan);
    run(&plan, &res);
    assert_int_equal(res.world, 1);
    assert_int_equal(res.steps, KIT_SAMPLES / 4);
    assert_int_equal(res.epoch_count, 2);
    assert_int_equal(figures.samples, 2 * KIT_SAMPLES);
    /* measured, with what was read ahead of a third epoch */
    assert_true(figures.bytes >= 2 * KIT_SAMPLES * 300);
    assert_true(isnan(figures.au)); /* nothing is computed */
    wr_run_done(&res);
}

static uint64_t digest_of(struct runkit *k, unsigned accelerators,
                          uint64_t batch, enum weir_order order)
{
    struct wr_run_plan plan;
    struct wr_run_result res;
    uint64_t digest;

    k->w->reader.batch = batch;
    runkit_plan(k, &plan);
    plan.accelerators = accelerators;
    plan.consume = WR_WL_READ;
    plan.digest = true;
    plan.has_order = true;
    plan.feed.order = order;
    run(&plan, &res);
    digest = res.ranks[0].digest;
    assert_int_equal(figures.samples, 2 * KIT_SAMPLES);
    wr_run_done(&res);
    return digest;
}

/* The same samples at the same positions, whoever gets them. */
static void accelerators_share_an_epoch(void **state)
{
    struct runkit *k = *state;
    uint64_t alone = digest_of(k, 1, 12, WEIR_ORDER_SHUFFLE);

    assert_true(alone == digest_of(k, 2, 6, WEIR_ORDER_SHUFFLE));
    assert_true(alone == digest_of(k, 3, 4, WEIR_ORDER_SHUFFLE));
    assert_true(alone == digest_of(k, 12, 1, WEIR_ORDER_SHUFFLE));
    assert_false(alone == digest_of(k, 1, 12, WEIR_ORDER_SEQUENTIAL));
    assert_true(digest_of(k, 1, 12, WEIR_ORDER_SEQUENTIAL) ==
                digest_of(k, 4, 3, WEIR_ORDER_SEQUENTIAL));
}

static void access_decides_what_is_read(void **state)
{
    static const struct {
        enum wr_wl_access access;
        uint64_t steps, samples; /* of two epochs, all accelerators */
    } cases[] = {
        {WR_WL_ACCESS_POSIX, 8, 2 * KIT_SAMPLES},
        {WR_WL_ACCESS_SHARED, 8, 2 * KIT_SAMPLES},
        {WR_WL_ACCESS_MULTI, 8, 2 * KIT_SAMPLES},
        {WR_WL_ACCESS_SAME, 24, 6 * KIT_SAMPLES},
        {WR_WL_ACCESS_COLLECTIVE, 8, 2 * KIT_SAMPLES},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_run_plan plan;
        struct wr_run_result res;

        runkit_plan(*state, &plan);
        plan.accelerators = 3;
        plan.access = cases[i].access;
        run(&plan, &res);
        assert_int_equal(res.steps, cases[i].steps);
        assert_int_equal(figures.samples, cases[i].samples);
        wr_run_done(&res);
    }
}

/* Data that is read once comes from memory from then on. */
static void memory_is_read_once(void **state)
{
    struct runkit *k = *state;
    struct wr_run_plan plan;
    struct wr_run_result res;

    k->w->reader.read_type = WR_WL_MEMORY;
    k->w->train.epochs = 5;
    runkit_plan(k, &plan);
    run(&plan, &res);
    assert_int_equal(figures.samples, 5 * KIT_SAMPLES);
    assert_true(figures.load_s > 0);
    /* once, and what two pipelines read at the same moment */
    assert_true(figures.reads.bytes < 3 * KIT_SAMPLES * 300);
    wr_run_done(&res);
}

static void times_add_up(void **state)
{
    struct runkit *k = *state;
    struct wr_run_plan plan;
    struct wr_run_result res;
    const struct wr_run_loss_values *l = &figures.loss;
    double sum;

    k->w->train.computation = (struct wr_wl_time){.law = WR_WL_FIXED,
                                                  .a = 0.002};
    runkit_plan(k, &plan);
    plan.accelerators = 2;
    run(&plan, &res);
    sum = l->compute + l->read + l->barrier + l->save + l->eval + l->emulator;
    assert_true(fabs(sum - 1) < 1e-9);
    assert_int_equal(res.ranks[0].t.compute, 2 * 24 * 2000000);
    assert_true(figures.au > 0 && figures.au <= 1);
    assert_true(figures.seconds >= 24 * 0.002);
    wr_run_done(&res);
}

static void no_io_reads_nothing(void **state)
{
    struct wr_run_plan plan;
    struct wr_run_result res;

    runkit_plan(*state, &plan);
    plan.train = NULL;
    plan.no_io = true;
    run(&plan, &res);
    assert_int_equal(figures.reads.reads, 0);
    assert_int_equal(figures.samples, 2 * KIT_SAMPLES);
    wr_run_done(&res);
}

static void checkpoints_are_saved(void **state)
{
    struct runkit *k = *state;
    struct wr_run_plan plan;
    struct wr_run_result res;
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s", scratch_at(k->scratch, "ckpt"));
    k->w->workflow.checkpoint = true;
    k->w->checkpoint.steps_between = 10;
    k->w->model.size_bytes = 5000;
    k->w->weir.checkpoint_files = (struct wr_wl_list){.count = 2,
                                                      .item = {1000, 2000}};
    runkit_plan(k, &plan);
    plan.ckpt.fast = folder;
    run(&plan, &res);
    assert_int_equal(res.save_count, 4); /* two in each epoch of 24 steps */
    assert_int_equal(res.saves[3].step, 4);
    assert_true(res.state_bytes == 5000);
    wr_run_done(&res);
    run(&plan, &res); /* goes on counting */
    assert_int_equal(res.saves[0].step, 5);
    /* the mark of benchmarks is in one of them */
    assert_int_equal(scratch_entries(k->scratch, "ckpt-files"), 4 + 1);
    wr_run_done(&res);
}

static void some_only_save(void **state)
{
    struct runkit *k = *state;
    struct wr_run_plan plan;
    struct wr_run_result res;
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s", scratch_at(k->scratch, "ckpt"));
    k->w->workflow.train = false;
    k->w->workflow.checkpoint = true;
    k->w->checkpoint.writes = 3;
    k->w->checkpoint.reads = 2;
    k->w->checkpoint.time_between = 0;
    runkit_plan(k, &plan);
    plan.train = NULL;
    plan.ckpt.fast = folder;
    run(&plan, &res);
    assert_int_equal(res.save_count, 3);
    assert_int_equal(res.restore_count, 2);
    assert_int_equal(res.restores[1].step, 3);
    wr_run_done(&res);
}

static void fails(struct runkit *k, const struct wr_run_plan *plan, int code,
                  const char *part)
{
    struct wr_run_result res;
    weir_err err;

    (void)k;
    assert_int_equal(wr_run(plan, &res, &err), code);
    if (!strstr(err.msg, part))
        fail_msg("'%s' has no '%s'", err.msg, part);
    wr_run_done(&res);
}

static void what_does_not_fit_is_said(void **state)
{
    struct runkit *k = *state;
    struct wr_run_plan plan;

    runkit_plan(k, &plan);
    k->w->dataset.files_train = 13;
    fails(k, &plan, WEIR_EINVAL,
          "has 96 samples, and the description wants "
          "104");
    k->w->dataset.files_train = 12;
    k->w->reader.batch = 200;
    fails(k, &plan, WEIR_EINVAL, "96 samples are too few for a batch of 200");
    k->w->reader.batch = 4;
    plan.accelerators = 25;
    fails(k, &plan, WEIR_EINVAL, "on each of 25 accelerators");
    k->w->workflow.train = false;
    fails(k, &plan, WEIR_EINVAL, "neither trains nor saves");
}

static bool always(void)
{
    return true;
}

static void a_run_can_be_stopped(void **state)
{
    struct runkit *k = *state;
    struct wr_run_plan plan;

    k->w->train.computation = (struct wr_wl_time){.law = WR_WL_FIXED, .a = 100};
    runkit_plan(k, &plan);
    plan.accelerators = 3;
    plan.stopped = always;
    fails(k, &plan, WEIR_ECANCELED, "");
}

int main(void)
{
#define CASE(f)                                                                \
    cmocka_unit_test_setup_teardown(f, runkit_setup, runkit_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_there),
        CASE(every_sample_is_read),
        CASE(accelerators_share_an_epoch),
        CASE(access_decides_what_is_read),
        CASE(memory_is_read_once),
        CASE(times_add_up),
        CASE(no_io_reads_nothing),
        CASE(checkpoints_are_saved),
        CASE(some_only_save),
        CASE(what_does_not_fit_is_said),
        CASE(a_run_can_be_stopped),
    };
#undef CASE

    return cmocka_run_group_tests(tests, NULL, NULL);
}
