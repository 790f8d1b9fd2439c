/* test_failure.c - intervals between saves, and what failures cost.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "plan/failure.h"

#define MOST_FAILURES 10000000

static bool within(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b);
}

/* --- failures that are drawn --- */

/* Failures, each so long after the one before. */
struct fates {
    double mtbf_s;
    uint64_t seed, count;
};

static double next_failure(struct fates *f)
{
    const struct wr_plan_draw d = {WR_PLAN_EXPONENTIAL, f->mtbf_s, 1};

    return isinf(f->mtbf_s) ? INFINITY
                            : wr_plan_drawn(&d, f->seed, 201, f->count++);
}

/* Work that a failure leaves, so long after the job was restored. */
static double kept(const struct wr_plan_saving *s, double interval,
                   double after_s)
{
    double saves = floor((after_s - s->drain_s) / (interval + s->stall_s));

    return WR_MAX(saves, 0) * interval;
}

/* Seconds until `work_s` of training are done, with saves and failures drawn from
 * the seed. INFINITY: it never ends, because hardly an interval passes without a
 * failure. NaN: no such interval. */
static double draw_failures(const struct wr_plan_saving *s, double interval_s,
                            double work_s, uint64_t seed)
{
    struct fates f = {.mtbf_s = s->mtbf_s, .seed = seed};
    double now = 0, failure = next_failure(&f), left = work_s;

    if (!(interval_s > 0) || !(s->stall_s >= 0) || !(work_s >= 0))
        return NAN;
    while (f.count < MOST_FAILURES) {
        double saves = WR_MAX(ceil(left / interval_s) - 1, 0);
        double needs = left + saves * s->stall_s;

        if (needs <= failure)
            return now + needs;
        left -= kept(s, interval_s, failure);
        now += failure;
        for (failure = next_failure(&f);
             failure < s->restore_s && f.count < MOST_FAILURES;
             failure = next_failure(&f))
            now += failure;
        now += s->restore_s;
        failure -= s->restore_s;
    }
    return INFINITY; /* nothing is ever done */
}

/* --- the formulas --- */

/* 10 nodes that fail every 10,000 s, a GB saved at 100 MB/s. */
static struct wr_plan base(enum wr_plan_way way)
{
    struct wr_plan p;

    wr_plan_defaults(&p);
    p.nodes = 10;
    p.failure.node_mtbf_s = 100000;
    p.failure.restart_s = 60;
    p.save.way = way;
    p.save.every = 100;
    p.save.bytes = 1e9;
    p.save.slow.read_bytes_per_s = 200e6;
    p.save.slow.write_bytes_per_s = 100e6;
    p.save.fast.read_bytes_per_s = 1e9;
    p.save.fast.write_bytes_per_s = 50e6;
    return p;
}

static void test_intervals(void **state)
{
    struct wr_plan p = base(WR_PLAN_DIRECT);
    struct wr_plan_saving s;

    (void)state;
    wr_plan_saving(&p, 10, 1, &s);
    assert_true(within(s.mtbf_s, 10000, 1e-12));
    assert_true(within(s.young_s, sqrt(2 * 10 * 10000), 1e-12));
    /* 447.21 (1 + 0.0223607 / 3 + 0.0005 / 9) - 10 */
    assert_true(within(s.daly_s, 440.5717, 1e-6));
    assert_true(within(s.restore_s, 60 + 5, 1e-12));
    assert_true(s.drain_s == 0);
    assert_true(within(s.chosen_s, 100, 1e-12));
    assert_true(within(s.lost_s, 110 / 2.0 + 65, 0.01));
    assert_true(s.waste > s.waste_best);
    /* 10 of 110 s for saves; 120 of 10,000 s for failures */
    assert_true(within(1 - s.waste, (100 / 110.0) * (1 - 0.012), 0.001));
    wr_plan_saving(&p, 30000, 1, &s); /* saves take longer than it runs */
    assert_true(within(s.daly_s, 10000, 1e-12));
}

/* What is not drained is lost, and the next one waits for it. */
static void test_tiers(void **state)
{
    struct wr_plan p = base(WR_PLAN_BURST);
    struct wr_plan_saving s, direct;

    (void)state;
    wr_plan_saving(&p, 2, 1, &s);
    assert_true(within(s.drain_s, 10, 1e-12));
    assert_true(within(s.lost_s, 102 / 2.0 + 10 + 65, 0.01));
    p.save.way = WR_PLAN_DIRECT;
    wr_plan_saving(&p, 2, 1, &direct);
    assert_true(s.waste > direct.waste);
    p.save.way = WR_PLAN_ASYNC;
    wr_plan_saving(&p, 0, 1, &s);
    assert_true(within(s.drain_s, 12, 1e-12));
    assert_true(within(s.daly_s, 12, 1e-12));
    assert_true(s.waste_best > 0 && s.waste_best < s.waste);
    p.save.on_input = true; /* of each node, behind its link */
    p.storage.profile.write_bytes_per_s = 50e6;
    p.storage.profile.read_bytes_per_s = 50e6;
    p.storage.client_bytes_per_s = 10e6;
    wr_plan_saving(&p, 0, 1, &s);
    assert_true(within(s.drain_s, 10 + 2, 1e-12));
    assert_true(within(s.restore_s, 60 + 10, 1e-12));
}

static void test_nothing(void **state)
{
    struct wr_plan p = base(WR_PLAN_DIRECT);
    struct wr_plan_saving s;

    (void)state;
    p.failure.node_mtbf_s = 0;
    wr_plan_saving(&p, 10, 1, &s);
    assert_true(isinf(s.mtbf_s) && isinf(s.young_s) && isinf(s.daly_s));
    assert_true(within(s.waste, 10 / 110.0, 1e-12));
    assert_true(s.waste_best == 0 && isnan(s.lost_s));
    assert_true(within(draw_failures(&s, 100, 1000, 1), 1090, 1e-12));
    p = base(WR_PLAN_NO_SAVES);
    wr_plan_saving(&p, NAN, 1, &s);
    assert_true(isnan(s.young_s) && isnan(s.waste) && isnan(s.chosen_s));
}

/* --- both --- */

static double mean_time(const struct wr_plan_saving *s, double interval,
                        double work)
{
    double sum = 0;

    for (uint64_t seed = 1; seed <= 10; seed++)
        sum += draw_failures(s, interval, work, seed);
    return sum / 10;
}

static void expect_daly(struct wr_plan *p, double stall, double step_s)
{
    double work = 1000 * p->failure.node_mtbf_s / p->nodes, took;
    struct wr_plan_saving s;

    wr_plan_saving(p, stall, step_s, &s);
    took = mean_time(&s, s.chosen_s, work);
    if (!within(took, work / (1 - s.waste), 0.03))
        fail_msg("%g s, by the formula %g", took, work / (1 - s.waste));
    took = mean_time(&s, s.daly_s, work);
    assert_true(within(took, work / (1 - s.waste_best), 0.03));
    assert_true(took < mean_time(&s, s.daly_s / 3, work));
    assert_true(took < mean_time(&s, s.daly_s * 3, work));
}

static void test_daly(void **state)
{
    struct wr_plan p = base(WR_PLAN_DIRECT);

    (void)state;
    expect_daly(&p, 10, 1);
    expect_daly(&p, 200, 50); /* an interval of half the time to a failure */
    p.failure.node_mtbf_s = 5000; /* a restart fails, too, now and then */
    expect_daly(&p, 10, 1);
    p = base(WR_PLAN_BURST);
    expect_daly(&p, 10, 1);
}

static void test_failures(void **state)
{
    struct wr_plan p = base(WR_PLAN_DIRECT);
    struct wr_plan_saving s;
    double a, b;

    (void)state;
    wr_plan_saving(&p, 10, 1, &s);
    a = draw_failures(&s, 100, 1e6, 7);
    b = draw_failures(&s, 100, 1e6, 7);
    assert_memory_equal(&a, &b, sizeof(a));
    assert_true(a < draw_failures(&s, 100, 1e6, 8) ||
                a > draw_failures(&s, 100, 1e6, 8));
    assert_true(a > 1e6 * 1.1);
    assert_true(isinf(draw_failures(&s, 1e6, 1e7, 1)));
    assert_true(isnan(draw_failures(&s, 0, 1e6, 1)));
    assert_true(isnan(draw_failures(&s, NAN, 1e6, 1)));
    s.stall_s = NAN;
    assert_true(isnan(draw_failures(&s, 100, 1e6, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals), cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_nothing),   cmocka_unit_test(test_daly),
        cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
