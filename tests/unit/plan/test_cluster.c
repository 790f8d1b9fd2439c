/* test_cluster.c - many nodes in virtual time: limits in closed form, lumping.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/cluster.h"

static bool within(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b) + 1e-9;
}

static bool near(double a, double b)
{
    return within(a, b, 1e-6);
}

/* 4 nodes of 2 accelerators, 80 samples of 1 kB a step, 1 MB/s, 10 ms. */
static struct wr_plan base(void)
{
    struct wr_plan p;

    wr_plan_defaults(&p);
    strcpy(p.storage.profile.name, "x");
    p.storage.profile.read_bytes_per_s = 1e6;
    p.storage.shared = true;
    p.data.bytes.mean = 1000;
    p.data.samples = 8000;
    p.nodes = 4;
    p.compute.accelerators = 2;
    p.compute.batch = 10;
    p.compute.step_s.mean = 0.010;
    return p;
}

static struct wr_plan_result simulate(const struct wr_plan *p, bool lump)
{
    struct wr_plan_how how = {0};
    struct wr_plan_result r;
    double sum = 0, steps = 0;

    assert_int_equal(wr_plan_check(p, NULL), 0);
    assert_int_equal(wr_plan_cluster(p, &how, lump, &r, NULL), 0);
    for (unsigned k = 0; k < WR_PLAN_PARTS; k++)
        sum += r.part_s[k];
    assert_true(near(sum, r.seconds));
    for (size_t k = 0; k < r.step_count; k++)
        steps += r.step_s[k];
    assert_true(near(steps, r.seconds));
    assert_int_equal(r.epoch_count, p->epochs);
    assert_true(r.storage_busy >= 0 && r.storage_busy <= 1);
    assert_true(r.cores_busy >= 0 && r.cores_busy <= 1);
    return r;
}

/* Samples per second, lumped and not. */
static void expect_steady(const struct wr_plan *p, double per_s,
                          enum wr_plan_part waits_for)
{
    for (unsigned lump = 0; lump < 2; lump++) {
        struct wr_plan_result r = simulate(p, lump);

        if (!near(r.steady_per_s, per_s))
            fail_msg("%g samples/s, not %g", r.steady_per_s, per_s);
        for (unsigned k = 0; k < WR_PLAN_PARTS; k++)
            assert_true(r.part_s[k] <= r.part_s[waits_for]);
        wr_plan_result_done(&r);
    }
}

/* --- limits --- */

static void test_bandwidth(void **state)
{
    struct wr_plan p = base();

    (void)state;
    expect_steady(&p, 1000, WR_PLAN_FOR_STORAGE);
    p.storage.shared = false; /* 1 MB/s for each */
    expect_steady(&p, 4000, WR_PLAN_FOR_STORAGE);
}

static void test_client(void **state)
{
    struct wr_plan p = base();

    (void)state;
    p.storage.profile.read_bytes_per_s = 1e9;
    p.storage.client_bytes_per_s = 50e3;
    expect_steady(&p, 200, WR_PLAN_FOR_STORAGE);
}

static void test_metadata(void **state)
{
    struct wr_plan p = base();

    (void)state;
    p.storage.opens_per_s = 400;
    expect_steady(&p, 400, WR_PLAN_FOR_STORAGE);
    p.data.samples_per_object = 100; /* nothing is opened */
    expect_steady(&p, 1000, WR_PLAN_FOR_STORAGE);
    p.data.samples_per_object = 1;
    p.storage.shared = false; /* of all nodes together all the same */
    expect_steady(&p, 400, WR_PLAN_FOR_STORAGE);
}

static void test_in_flight(void **state)
{
    struct wr_plan p = base();

    (void)state;
    p.storage.profile.read_bytes_per_s = 0;
    p.storage.profile.read_latency_us = 1000;
    p.loader.depth = 1;
    expect_steady(&p, 4000, WR_PLAN_FOR_STORAGE);
    p.storage.profile.channels = 2; /* of all nodes */
    expect_steady(&p, 2000, WR_PLAN_FOR_STORAGE);
}

static void test_cores(void **state)
{
    struct wr_plan p = base();

    (void)state;
    p.storage.profile.read_bytes_per_s = 1e9;
    p.loader.workers = 3;
    p.loader.cores = 2;
    p.loader.cpu_s.mean = 0.002;
    expect_steady(&p, 4000, WR_PLAN_FOR_CORES);
}

/* A worker that has one record reads and decodes in turn. */
static void test_one_record(void **state)
{
    struct wr_plan p = base();

    (void)state;
    p.storage.profile.read_bytes_per_s = 0;
    p.storage.profile.read_latency_us = 3000;
    p.loader.cpu_s.mean = 0.001;
    p.loader.depth = 1;
    expect_steady(&p, 1000, WR_PLAN_FOR_STORAGE);
}

/* Nobody waits but for the first batch. */
static void test_compute(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.compute.step_s.mean = 0.1;
    for (unsigned lump = 0; lump < 2; lump++) {
        r = simulate(&p, lump);
        assert_true(near(r.first_batch_s, 0.080));
        assert_true(near(r.seconds, 0.080 + 100 * 0.1));
        assert_true(near(r.part_s[WR_PLAN_COMPUTES], 10));
        assert_true(near(r.part_s[WR_PLAN_FOR_STORAGE], 0.080));
        assert_true(r.lumped == lump);
        assert_true(!*r.lumped_why == !lump);
        wr_plan_result_done(&r);
    }
    p.compute.reduce_s = 0.020;
    r = simulate(&p, true);
    assert_true(near(r.part_s[WR_PLAN_FOR_OTHERS], 2));
    wr_plan_result_done(&r);
}

static void test_no_prefetch(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.loader.prefetch = 0;
    r = simulate(&p, false);
    assert_true(near(r.seconds, 100 * 0.090));
    assert_true(near(r.utilization, 1.0 / 9));
    wr_plan_result_done(&r);
}

static void test_one_node(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.nodes = p.compute.accelerators = p.compute.batch = 1;
    p.data.samples = 1;
    r = simulate(&p, true);
    assert_true(near(r.seconds, 0.001 + 0.010));
    assert_false(r.lumped);
    wr_plan_result_done(&r);
}

/* --- the slowest --- */

/* The slowest of 8 takes H_8 times the mean. */
static void test_exponential(void **state)
{
    struct wr_plan p = base();
    double h = 0;

    (void)state;
    for (unsigned k = 1; k <= 8; k++)
        h += 1.0 / k;
    p.storage.profile.read_bytes_per_s = 0;
    p.data.samples = 80 * 5000;
    p.compute.step_s.law = WR_PLAN_EXPONENTIAL;
    for (unsigned lump = 0; lump < 2; lump++) {
        struct wr_plan_result r = simulate(&p, lump);

        assert_true(within(r.seconds / 5000, h * 0.010, 0.02));
        assert_true(within(r.part_s[WR_PLAN_COMPUTES] / 5000, 0.010, 0.02));
        wr_plan_result_done(&r);
    }
}

/* What lumping says against every accelerator of 100 nodes. */
static void expect_alike(struct wr_plan *p)
{
    struct wr_plan_result a, b;

    p->nodes = 100;
    p->compute.accelerators = 8;
    p->data.samples = UINT64_C(8000) * 3000;
    a = simulate(p, true);
    b = simulate(p, false);
    assert_true(a.lumped && !b.lumped);
    if (!within(a.seconds, b.seconds, 0.01) ||
        !within(a.utilization, b.utilization, 0.01))
        fail_msg("%g s, %g; not lumped %g s, %g", a.seconds, a.utilization,
                 b.seconds, b.utilization);
    wr_plan_result_done(&a);
    wr_plan_result_done(&b);
}

static void test_lumped(void **state)
{
    struct wr_plan p = base();

    (void)state;
    p.storage.profile.read_bytes_per_s = 200e6; /* 40 ms a step */
    p.compute.step_s = (struct wr_plan_draw){WR_PLAN_LOGNORMAL, 0.05, 0.1};
    expect_alike(&p); /* computing */
    p.compute.step_s = (struct wr_plan_draw){WR_PLAN_LOGNORMAL, 0.01, 0.3};
    expect_alike(&p); /* reading */
    p.compute.step_s = (struct wr_plan_draw){WR_PLAN_LOGNORMAL, 0.02, 0.3};
    expect_alike(&p); /* now one, now the other */
    p.compute.step_s = (struct wr_plan_draw){WR_PLAN_EXPONENTIAL, 0.01, 1};
    expect_alike(&p);
    p.storage.vary = 0.3; /* only the accelerators of a node */
    expect_alike(&p);
    p.storage.shared = false;
    p.storage.profile.read_bytes_per_s = 2e6;
    expect_alike(&p);
}

/* Variation of single nodes makes all wait. */
static void test_vary(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.storage.profile.read_bytes_per_s = 1e9;
    p.storage.client_bytes_per_s = 1e6; /* 20 ms each */
    p.storage.vary = 0.5;
    p.loader.prefetch = 0;
    r = simulate(&p, true);
    assert_true(r.seconds > 100 * (0.030 + 0.005));
    assert_true(r.part_s[WR_PLAN_FOR_OTHERS] > 0.5);
    assert_true(within(r.part_s[WR_PLAN_FOR_STORAGE], 2, 0.1));
    wr_plan_result_done(&r);
}

static void test_seed(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result a, b, c;

    (void)state;
    p.storage.vary = 0.2;
    p.data.bytes = (struct wr_plan_draw){WR_PLAN_LOGNORMAL, 1000, 0.5};
    p.loader.cpu_s = (struct wr_plan_draw){WR_PLAN_EXPONENTIAL, 1e-4, 1};
    p.compute.step_s = (struct wr_plan_draw){WR_PLAN_EXPONENTIAL, 0.01, 1};
    a = simulate(&p, true);
    b = simulate(&p, true);
    p.seed++;
    c = simulate(&p, true);
    assert_memory_equal(a.step_s, b.step_s, a.step_count * sizeof(*a.step_s));
    assert_memory_equal(a.part_s, b.part_s, sizeof(a.part_s));
    assert_memory_not_equal(a.step_s, c.step_s,
                            a.step_count * sizeof(*a.step_s));
    wr_plan_result_done(&a);
    wr_plan_result_done(&b);
    wr_plan_result_done(&c);
}

/* --- epochs --- */

static void test_eval(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.storage.profile.read_bytes_per_s = 0;
    p.data.samples = 320;
    p.compute.step_s.mean = 1;
    p.compute.reduce_s = 0.25;
    p.eval_steps = 2;
    p.eval_s = 0.5;
    p.epochs = 2;
    r = simulate(&p, true);
    assert_true(near(r.seconds, 2 * (4 * 1.25 + 2 * 0.5)));
    assert_int_equal(r.step_count, 12);
    assert_int_equal(r.epochs[1].steps, 6);
    assert_true(near(r.epochs[1].seconds, 6));
    wr_plan_result_done(&r);
}

static void test_cache(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.epochs = 2;
    p.cache.share = 0.75;
    p.loader.apart = true;
    p.loader.start_s = 0.5;
    r = simulate(&p, false); /* the last batch of an epoch is computed alone */
    assert_true(near(r.epochs[0].seconds, 0.5 + 100 * 0.080 + 0.010));
    assert_true(near(r.epochs[1].seconds, 0.5 + 100 * 0.020 + 0.010));
    wr_plan_result_done(&r);
    strcpy(p.cache.profile.name, "disk"); /* 15 samples of a node in 30 ms */
    p.cache.profile.read_bytes_per_s = 500e3;
    r = simulate(&p, false);
    assert_true(near(r.epochs[1].seconds, 0.5 + 100 * 0.030 + 0.010));
    wr_plan_result_done(&r);
    p.cache.share = 1;
    p.cache.profile.name[0] = 0;
    r = simulate(&p, true);
    assert_true(near(r.epochs[1].seconds, 0.5 + 100 * 0.010));
    wr_plan_result_done(&r);
}

/* --- what cannot be --- */

static unsigned asked;

static bool stop_now(void)
{
    return ++asked == 2;
}

static void test_canceled(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_how how = {.stopped = stop_now};
    struct wr_plan_result r;
    weir_err err;

    (void)state;
    p.storage.vary = 0.1;
    p.nodes = 100000; /* within a step, too */
    p.data.samples = UINT64_C(2000000) * 2;
    asked = 0;
    assert_int_equal(wr_plan_cluster(&p, &how, true, &r, &err), WEIR_ECANCELED);
    assert_int_equal(asked, 2);
    assert_int_equal(wr_plan_cluster(&p, &how, false, &r, NULL), 0);
    wr_plan_result_done(&r);
}

static void test_refused(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_how how = {0};
    struct wr_plan_result r;
    weir_err err;

    (void)state;
    p.data.samples = UINT64_C(1) << 50;
    assert_int_equal(wr_plan_check(&p, &err), 0);
    assert_int_equal(wr_plan_cluster(&p, &how, true, &r, &err), WEIR_EINVAL);
    assert_string_equal(err.msg, "14073748835532 steps: no more than 100000000 "
                                 "can be simulated");
    how.steps = 10;
    p.epochs = 1 << 20;
    p.loader.workers = p.loader.depth = 4096;
    p.loader.prefetch = 1 << 16;
    p.compute.batch = 1;
    assert_int_equal(wr_plan_cluster(&p, &how, true, &r, &err), 0);
    assert_int_equal(r.step_count, 10);
    wr_plan_result_done(&r);
    p.eval_steps = UINT64_MAX;
    assert_int_equal(wr_plan_cluster(&p, &how, true, &r, &err), WEIR_EINVAL);
    p = base();
    p.storage.client_bytes_per_s = 1e-307;
    p.data.bytes.mean = 1e15;
    assert_int_equal(wr_plan_check(&p, &err), 0);
    assert_int_equal(wr_plan_cluster(&p, &how, true, &r, &err), WEIR_EINVAL);
    assert_string_equal(err.msg, "step 0 would never end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bandwidth), cmocka_unit_test(test_client),
        cmocka_unit_test(test_metadata),  cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_cores),     cmocka_unit_test(test_one_record),
        cmocka_unit_test(test_compute),   cmocka_unit_test(test_no_prefetch),
        cmocka_unit_test(test_one_node),  cmocka_unit_test(test_exponential),
        cmocka_unit_test(test_lumped),    cmocka_unit_test(test_vary),
        cmocka_unit_test(test_seed),      cmocka_unit_test(test_eval),
        cmocka_unit_test(test_cache),     cmocka_unit_test(test_canceled),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
