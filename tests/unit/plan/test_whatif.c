/* test_whatif.c - changes, and how many accelerators are fed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/bounds.h"
#include "plan/simulate.h"
#include "plan/whatif.h"

/* Files of 100 KB on a slow disk, 2 ms of decoding by two cores. */
static struct wr_plan base(void)
{
    struct wr_plan p;

    wr_plan_defaults(&p);
    assert_int_equal(wr_device_profile_find("hdd", &p.storage.profile, NULL),
                     0);
    p.data.bytes.mean = 100e3;
    p.data.samples = 6400;
    p.data.tensor_bytes = 150528;
    p.compute.step_s.mean = 0.1;
    p.loader.cpu_s.mean = 2e-3;
    p.loader.fast_cpu_s = 1e-3;
    p.loader.cores = p.loader.workers = 2;
    return p;
}

static const struct wr_plan_outcome *find(const struct wr_plan_outcome *rows,
                                          size_t n, const char *name)
{
    for (size_t k = 1; k < n; k++)
        if (!strcmp(rows[k].change->name, name))
            return &rows[k];
    return NULL;
}

static void test_slow_disk(void **state)
{
    const struct wr_plan_how how = {.steps = 50};
    struct wr_plan p = base();
    struct wr_plan_outcome *rows;
    size_t n;

    (void)state;
    assert_int_equal(wr_plan_what_if(&p, &how, &rows, &n, NULL), 0);
    assert_null(rows[0].change);
    assert_true(rows[0].gain == 1);
    for (size_t k = 2; k < n; k++)
        assert_true(rows[k].gain <= rows[k - 1].gain);
    /* The disk is in the way: a faster one helps, decoding faster does not. */
    assert_true(find(rows, n, "nvme")->gain > 1.5);
    assert_true(fabs(find(rows, n, "decode")->gain - 1) < 0.02);
    assert_null(find(rows, n, "burst")); /* nothing is saved */
    assert_null(find(rows, n, "loader"));
    free(rows);
}

static void test_decoding(void **state)
{
    const struct wr_plan_how how = {.steps = 50};
    struct wr_plan p = base();
    struct wr_plan_outcome *rows;
    size_t n;

    (void)state;
    wr_device_profile_find("nvme", &p.storage.profile, NULL);
    p.compute.step_s.mean = 0.01;
    assert_int_equal(wr_plan_what_if(&p, &how, &rows, &n, NULL), 0);
    assert_true(fabs(rows[0].samples_per_s - 1000) < 30);
    assert_true(fabs(find(rows, n, "decode")->gain - 2) < 0.06);
    assert_true(fabs(find(rows, n, "cores")->gain - 2) < 0.06);
    assert_true(find(rows, n, "tensors")->gain > 3);
    assert_null(find(rows, n, "nvme")); /* it is one */
    assert_null(find(rows, n, "ssd"));  /* slower */
    free(rows);
}

static void test_saves(void **state)
{
    const struct wr_plan_how how = {0};
    struct wr_plan p = base();
    struct wr_plan_outcome *rows;
    size_t n;

    (void)state;
    wr_device_profile_find("nvme", &p.storage.profile, NULL);
    p.loader.cpu_s.mean = 0.1e-3;
    p.save.way = WR_PLAN_DIRECT;
    p.save.every = 20;
    p.save.bytes = 200e6;
    wr_device_profile_find("hdd", &p.save.slow, NULL);
    assert_int_equal(wr_plan_what_if(&p, &how, &rows, &n, NULL), 0);
    assert_true(find(rows, n, "burst")->gain > 1.2);
    assert_true(find(rows, n, "async")->gain >= find(rows, n, "burst")->gain);
    free(rows);
}

/* Each change that applies leaves a plan that can be; twice the same changes
 * nothing. */
static void test_all_can_be(void **state)
{
    (void)state;
    for (size_t k = 0; wr_plan_change_at(k); k++) {
        const struct wr_plan_change *c = wr_plan_change_at(k);
        struct wr_plan p = base();

        assert_true(*c->name && *c->what);
        if (c->apply(&p))
            assert_int_equal(wr_plan_check(&p, NULL), 0);
    }
}

static void test_capacity(void **state)
{
    const struct wr_plan_how how = {0};
    struct wr_plan p = base();
    struct wr_plan_capacity c;

    (void)state;
    /* Cores decode 2,000/s; an accelerator takes 640/s: three are fed. */
    wr_device_profile_find("nvme", &p.storage.profile, NULL);
    p.loader.cpu_s.mean = 1e-3;
    p.loader.prefetch = 2;
    assert_int_equal(wr_plan_capacity(&p, 0.9, 64, &how, &c, NULL), 0);
    assert_int_equal(c.accelerators, 3);
    assert_false(c.unlimited);
    for (size_t k = 1; k < c.count; k++)
        assert_true(c.points[k].accelerators > c.points[k - 1].accelerators);
    wr_plan_capacity_done(&c);
    assert_int_equal(wr_plan_capacity(&p, 0.9, 2, &how, &c, NULL), 0);
    assert_int_equal(c.accelerators, 2);
    assert_true(c.unlimited);
    wr_plan_capacity_done(&c);
    p.loader.cpu_s.mean = 1;
    assert_int_equal(wr_plan_capacity(&p, 0.9, 64, &how, &c, NULL), 0);
    assert_int_equal(c.accelerators, 0);
    wr_plan_capacity_done(&c);
}

/* An epoch that is loaded ahead as a whole has no steady part; no rate is above
 * what the storage delivers. */
static void test_short_epoch(void **state)
{
    const struct wr_plan_how how = {0};
    struct wr_plan p = base();
    struct wr_plan_result r;
    struct wr_plan_bounds b;
    double rate;

    (void)state;
    p.data.samples = 16 * 8;
    p.compute.batch = 8;
    p.loader.style = WR_PLAN_IN_TURNS;
    p.loader.workers = p.loader.cores = 16;
    p.loader.prefetch = 2;
    p.loader.apart = true;
    p.epochs = 3;
    p.compute.step_s.mean = 0.001;
    wr_plan_bounds(&p, false, &b);
    assert_int_equal(wr_plan_simulate(&p, &how, &r, NULL), 0);
    rate = wr_plan_rate(&p, &r);
    assert_true(rate <= b.samples_per_s && rate > 0.3 * b.samples_per_s);
    assert_true(fabs(rate - r.samples_per_s) <= 1e-9 * rate);
    assert_true(wr_plan_steady_use(&p, &r) < 1);
    wr_plan_result_done(&r);
}

static bool at_once(void)
{
    return true;
}

static void test_stopped(void **state)
{
    const struct wr_plan_how how = {.stopped = at_once};
    struct wr_plan p = base();
    struct wr_plan_outcome *rows = NULL;
    struct wr_plan_capacity c;
    size_t n;

    (void)state;
    p.data.samples = 6400000;
    assert_int_equal(wr_plan_what_if(&p, &how, &rows, &n, NULL),
                     WEIR_ECANCELED);
    assert_null(rows);
    assert_int_equal(wr_plan_capacity(&p, 0.9, 64, &how, &c, NULL),
                     WEIR_ECANCELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_disk),   cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_saves),       cmocka_unit_test(test_all_can_be),
        cmocka_unit_test(test_capacity),    cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_short_epoch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
