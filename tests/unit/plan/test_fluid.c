/* test_fluid.c - flows that share a device: fairness, and processor sharing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/share.h"
#include "plan/plan.h"

#define SEEDS 12
#define T99   3.106 /* of Student's distribution with 11 degrees of freedom */
#define LOAD  0.7
#define JOBS  40000

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b) + 1e-12;
}

/* Two reads and a write, of which one kind asks for less than its part. */
static void test_fair(void **state)
{
    struct wr_plan_fluid f;
    struct wr_plan_flows *r = &f.kinds[WR_PLAN_FLUID_READS];
    struct wr_plan_flows *w = &f.kinds[WR_PLAN_FLUID_WRITES];
    enum wr_plan_fluid_kind kind;

    (void)state;
    wr_plan_fluid_init(&f);
    r->full = 100;
    w->full = 50;
    assert_true(wr_plan_fluid_add(&f, WR_PLAN_FLUID_READS, 0, 100, 1));
    assert_true(near(r->rate, 100));
    assert_true(wr_plan_fluid_add(&f, WR_PLAN_FLUID_READS, 0, 200, 2));
    assert_true(wr_plan_fluid_add(&f, WR_PLAN_FLUID_WRITES, 0, 100, 3));
    assert_true(near(r->rate, 100.0 / 3) && near(w->rate, 50.0 / 3));
    r->alone = 10; /* a tenth each: the write has the rest */
    assert_true(wr_plan_fluid_add(&f, WR_PLAN_FLUID_WRITES, 0, 100, 4));
    assert_true(near(r->rate, 10) && near(w->rate, 20));
    r->alone = INFINITY;
    w->most = 10; /* a fifth, of both */
    assert_true(wr_plan_fluid_add(&f, WR_PLAN_FLUID_READS, 0, 1000, 5));
    assert_true(near(w->rate, 5) && near(r->rate, 80.0 / 3));
    assert_true(near(wr_plan_fluid_next(&f, &kind), 3.75));
    assert_int_equal(kind, WR_PLAN_FLUID_READS);
    assert_int_equal(wr_plan_fluid_pop(&f), 1);
    assert_true(near(r->rate, 40));
    assert_true(near(f.busy_s, 3.75));
    assert_true(near(w->done, 37.5));
    wr_plan_fluid_stop(&f, WR_PLAN_FLUID_READS);
    assert_true(near(wr_plan_fluid_next(&f, &kind), 20));
    assert_int_equal(wr_plan_fluid_pop(&f), 3); /* both end, as they came */
    assert_true(near(wr_plan_fluid_next(&f, &kind), 20));
    assert_int_equal(wr_plan_fluid_pop(&f), 4);
    assert_true(isinf(wr_plan_fluid_next(&f, &kind)));
    wr_plan_fluid_done(&f);
}

/* One flow that stands for a hundred. */
static void test_weight(void **state)
{
    struct wr_plan_fluid f;
    enum wr_plan_fluid_kind kind;

    (void)state;
    wr_plan_fluid_init(&f);
    f.kinds[WR_PLAN_FLUID_READS].full = 100;
    f.kinds[WR_PLAN_FLUID_READS].weight = 100;
    assert_true(wr_plan_fluid_add(&f, WR_PLAN_FLUID_READS, 1, 5, 0));
    assert_true(near(wr_plan_fluid_next(&f, &kind), 6));
    wr_plan_fluid_pop(&f);
    assert_true(near(f.kinds[WR_PLAN_FLUID_READS].done, 500));
    /* Without any limit nothing takes time. */
    f.kinds[WR_PLAN_FLUID_READS].full = INFINITY;
    assert_true(wr_plan_fluid_add(&f, WR_PLAN_FLUID_READS, 7, 5, 0));
    assert_true(near(wr_plan_fluid_next(&f, &kind), 7));
    wr_plan_fluid_pop(&f);
    wr_plan_fluid_done(&f);
}

/* --- M/G/1 with processor sharing: only the mean of the work counts --- */

static double drawn(enum wr_plan_law law, double mean, uint64_t seed,
                    uint64_t stream, uint64_t k)
{
    return wr_plan_drawn(&(struct wr_plan_draw){law, mean, 1}, seed, stream, k);
}

/* Mean time that a job of a second stays. */
static double response(enum wr_plan_law law, uint64_t seed)
{
    static double came[JOBS];
    struct wr_plan_fluid f;
    enum wr_plan_fluid_kind kind;
    double now = 0, sum = 0;

    wr_plan_fluid_init(&f);
    f.kinds[WR_PLAN_FLUID_READS].full = 1;
    for (uint32_t k = 0; k < JOBS; k++) {
        now += drawn(WR_PLAN_EXPONENTIAL, 1 / LOAD, seed, 1, k);
        for (double t; (t = wr_plan_fluid_next(&f, &kind)) <= now;)
            sum += t - came[wr_plan_fluid_pop(&f)];
        came[k] = now;
        assert_true(wr_plan_fluid_add(&f, WR_PLAN_FLUID_READS, now,
                                      drawn(law, 1, seed, 2, k), k));
    }
    for (double t; !isinf(t = wr_plan_fluid_next(&f, &kind));)
        sum += t - came[wr_plan_fluid_pop(&f)];
    wr_plan_fluid_done(&f);
    return sum / JOBS;
}

static void expect_theory(enum wr_plan_law law)
{
    double sum = 0, squares = 0, mean, half, theory = 1 / (1 - LOAD);

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double x = response(law, seed);

        sum += x;
        squares += x * x;
    }
    mean = sum / SEEDS;
    half = T99 * sqrt(fmax(squares / SEEDS - mean * mean, 0) / (SEEDS - 1));
    if (fabs(mean - theory) > half)
        fail_msg("%g +- %g, by theory %g", mean, half, theory);
    assert_true(half < 0.05 * theory);
}

static void test_theory(void **state)
{
    (void)state;
    expect_theory(WR_PLAN_FIXED);
    expect_theory(WR_PLAN_EXPONENTIAL);
    expect_theory(WR_PLAN_LOGNORMAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fair),
        cmocka_unit_test(test_weight),
        cmocka_unit_test(test_theory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
