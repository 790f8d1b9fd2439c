/* test_ckpt_bench.c - the ways of saving: all run, nothing is left behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/saves.h"
#include "measure/ckpt_bench.h"

struct fixture {
    char dir[40], url[64], fast[96];
    struct wr_ckpt_load load;
    struct wr_ckpt_bench_plan plan;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    strcpy(f->dir, "/tmp/weir-ckpt-bench-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->url, sizeof(f->url), "emu:null:%s", f->dir);
    snprintf(f->fast, sizeof(f->fast), "%s/weir-ckpt-bench-fast", f->dir);
    assert_int_equal(wr_ckpt_load_shapes("small", 0, &f->load, NULL), 0);
    assert_int_equal(wr_ckpt_load_fill(&f->load, NULL), 0);
    f->plan = (struct wr_ckpt_bench_plan){.fast = f->url,
                                          .slow = f->url,
                                          .load = &f->load,
                                          .ways = {true, true, true, true},
                                          .warmups = 1,
                                          .saves = 2,
                                          .restore = true};
    *state = f;
    return 0;
}

/* rmdir fails when a bench left something. */
static int teardown(void **state)
{
    struct fixture *f = *state;
    int r = rmdir(f->dir);

    wr_ckpt_load_done(&f->load);
    free(f);
    return r;
}

static void test_all_ways(void **state)
{
    struct fixture *f = *state;
    struct wr_ckpt_bench_report r;
    weir_err err;

    f->plan.verify = true;
    if (wr_ckpt_bench(&f->plan, &r, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(r.count, WR_CKPT_WAYS);
    assert_true(r.memcpy_s > 0);
    for (size_t i = 0; i < r.count; i++) {
        const struct wr_ckpt_bench_case *k = &r.cases[i];
        const struct wr_ckpt_result_values *m = &k->v.result;
        const struct wr_ckpt_save_values *saves = k->v.runs.v;
        bool two = k->way == WR_CKPT_BURST || k->way == WR_CKPT_ASYNC;

        assert_int_equal(k->way, i);
        assert_int_equal(k->v.runs.count, 2);
        assert_true(m->stall_s > 0 && m->restore_s > 0);
        assert_true(isnan(m->fast_s) == (k->way == WR_CKPT_SLOW));
        assert_true(isnan(m->slow_s) == (k->way == WR_CKPT_FAST));
        assert_true(isnan(m->drain_s) == !two);
        assert_true(m->verified_s > 0);
        assert_true(!two || m->slow_s >= m->fast_s);
        assert_true(saves[1].at_s > saves[0].at_s);
        assert_true(k->v.skipped == 0);
    }
    assert_string_equal(r.cases[3].v.way, "async");
    wr_ckpt_bench_done(&r);
}

/* Seconds are known of emulated devices alone. */
static void test_expect(void **state)
{
    struct fixture *f = *state;
    double fast, all;

    f->plan.fast = "emu:optane:/x";
    f->plan.slow = "emu:hdd:/x";
    all = wr_ckpt_bench_expect(&f->plan);
    memset(f->plan.ways, 0, sizeof(f->plan.ways));
    f->plan.ways[WR_CKPT_FAST] = true;
    fast = wr_ckpt_bench_expect(&f->plan);
    assert_true(fast > 0 && all > 3 * fast);
    f->plan.interval_s = 10;
    assert_true(wr_ckpt_bench_expect(&f->plan) > 3 * 10);
    f->plan.slow = "/x";
    assert_true(isnan(wr_ckpt_bench_expect(&f->plan)));
}

/* Steps follow each other from 0 to 1. */
static void on_step(void *arg, const struct wr_ckpt_bench_step *s)
{
    double *last = arg;

    assert_true(fabs(s->part - *last) < 1e-9 && s->next > s->part);
    *last = s->next;
}

static void test_progress(void **state)
{
    struct fixture *f = *state;
    struct wr_ckpt_bench_report r;
    double last = 0;

    f->plan.progress = on_step;
    f->plan.progress_arg = &last;
    assert_int_equal(wr_ckpt_bench(&f->plan, &r, NULL), 0);
    assert_true(fabs(last - 1) < 1e-9);
    wr_ckpt_bench_done(&r);
}

static void test_some_ways(void **state)
{
    struct fixture *f = *state;
    struct wr_ckpt_bench_report r;

    memset(f->plan.ways, 0, sizeof(f->plan.ways));
    f->plan.ways[WR_CKPT_FAST] = true;
    f->plan.slow = NULL;
    f->plan.restore = false;
    assert_int_equal(wr_ckpt_bench(&f->plan, &r, NULL), 0);
    assert_int_equal(r.count, 1);
    assert_true(isnan(r.cases[0].v.result.restore_s));
    assert_string_equal(r.cases[0].v.way, "fast");
    wr_ckpt_bench_done(&r);
}

static void open_store(const struct fixture *f, uint64_t step, weir_ckpt **ret)
{
    weir_ckpt_state s = {
        .step = step, .tensors = f->load.tensors, .count = f->load.count};
    weir_ckpt_config cfg;

    weir_ckpt_defaults(&cfg);
    cfg.fast = f->fast;
    assert_int_equal(weir_ckpt_open(ret, &cfg, NULL), 0);
    assert_int_equal(weir_ckpt_save(*ret, &s, WEIR_LEVEL_FAST, NULL), 0);
}

/* A store of steps that somebody wants to keep. */
static void test_unmarked(void **state)
{
    struct fixture *f = *state;
    struct wr_ckpt_bench_report r;
    struct stat sb;
    char step[200];
    weir_ckpt *c;
    weir_err err;

    snprintf(step, sizeof(step), "%s/step-000000000003", f->fast);
    for (int marked = 0; marked < 2; marked++) {
        open_store(f, 3, &c);
        if (marked)
            assert_int_equal(wr_bench_store_mark(f->fast, NULL), 0);
        assert_int_equal(weir_ckpt_close(&c, NULL), 0);
        assert_int_equal(wr_bench_store_check(f->fast, &err),
                         marked ? 0 : WEIR_ESTATE);
        if (!marked) {
            assert_non_null(strstr(err.msg, "holds checkpoints"));
            assert_int_equal(wr_ckpt_bench(&f->plan, &r, &err), WEIR_ESTATE);
            assert_int_equal(wr_ckpt_bench_clean(f->url, f->url, NULL),
                             WEIR_ESTATE);
        }
        assert_int_equal(stat(step, &sb), 0);
        assert_int_equal(wr_bench_store_mark(f->fast, NULL), 0);
        assert_int_equal(wr_ckpt_bench_clean(f->url, f->url, NULL), 0);
        assert_int_not_equal(stat(f->fast, &sb), 0);
    }
}

/* Whoever opens it to save takes the mark away; without steps it is not needed.
 */
static void test_mark_goes(void **state)
{
    struct fixture *f = *state;
    weir_ckpt *c;

    assert_int_equal(wr_bench_store_check(f->fast, NULL), 0); /* missing */
    open_store(f, 3, &c);
    assert_int_equal(wr_bench_store_mark(f->fast, NULL), 0);
    assert_int_equal(wr_bench_store_mark(f->fast, NULL), 0);
    assert_int_equal(weir_ckpt_close(&c, NULL), 0);
    assert_int_equal(wr_bench_store_check(f->fast, NULL), 0);
    open_store(f, 4, &c);
    assert_int_equal(weir_ckpt_close(&c, NULL), 0);
    assert_int_equal(wr_bench_store_check(f->fast, NULL), WEIR_ESTATE);
    assert_int_equal(wr_bench_store_mark(f->fast, NULL), 0);
    assert_int_equal(wr_ckpt_bench_clean(f->url, f->url, NULL), 0);
}

/* What a bench that was killed left is taken away; one that is alive is not. */
static void test_leftovers(void **state)
{
    struct fixture *f = *state;
    struct wr_ckpt_bench_report r;
    struct stat sb;
    weir_ckpt *c;
    weir_err err;

    open_store(f, 3, &c);
    assert_int_equal(wr_bench_store_mark(f->fast, NULL), 0);
    assert_int_equal(wr_ckpt_bench(&f->plan, &r, &err), WEIR_EBUSY);
    assert_non_null(strstr(err.msg, "weir-ckpt-bench-fast"));
    assert_int_equal(stat(f->fast, &sb), 0);
    assert_int_equal(weir_ckpt_close(&c, NULL), 0);
    assert_int_equal(wr_ckpt_bench(&f->plan, &r, NULL), 0);
    assert_int_not_equal(stat(f->fast, &sb), 0);
    wr_ckpt_bench_done(&r);

    open_store(f, 3, &c);
    assert_int_equal(wr_bench_store_mark(f->fast, NULL), 0);
    assert_int_equal(wr_ckpt_bench_clean(f->url, f->url, NULL), WEIR_EBUSY);
    assert_int_equal(weir_ckpt_close(&c, NULL), 0);
    assert_int_equal(wr_ckpt_bench_clean(f->url, f->url, NULL), 0);
    assert_int_not_equal(stat(f->fast, &sb), 0);
}

static bool at_once(void)
{
    return true;
}

static void test_stopped(void **state)
{
    struct fixture *f = *state;
    struct wr_ckpt_bench_report r;

    f->plan.stopped = at_once;
    assert_int_equal(wr_ckpt_bench(&f->plan, &r, NULL), WEIR_ECANCELED);
    f->plan.interval_s = 60;
    assert_int_equal(wr_ckpt_bench(&f->plan, &r, NULL), WEIR_ECANCELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(test_expect, setup, teardown),
        cmocka_unit_test_setup_teardown(test_progress, setup, teardown),
        cmocka_unit_test_setup_teardown(test_some_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unmarked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mark_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leftovers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stopped, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
