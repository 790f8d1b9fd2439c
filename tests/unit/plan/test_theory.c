/* test_theory.c - the simulation against queues whose answers are known.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each is run with several seeds; the formula must lie within the 99 % confidence
 * interval of their mean. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/node.h"
#include "plan/share.h"

#define SEEDS 12
#define T99   3.106 /* of Student's distribution with 11 degrees of freedom */

static double exponential(double mean, uint64_t seed, uint64_t stream,
                          uint64_t k)
{
    return wr_plan_drawn(&(struct wr_plan_draw){WR_PLAN_EXPONENTIAL, mean, 1},
                         seed, stream, k);
}

static void expect_within(double (*run)(uint64_t seed), double theory)
{
    double sum = 0, squares = 0, mean, half;

    for (uint64_t k = 1; k <= SEEDS; k++) {
        double x = run(k);

        sum += x;
        squares += x * x;
    }
    mean = sum / SEEDS;
    half = T99 * sqrt(fmax(squares / SEEDS - mean * mean, 0) / (SEEDS - 1));
    if (fabs(mean - theory) > half)
        fail_msg("%g +- %g, by theory %g", mean, half, theory);
    /* A wide interval would prove nothing. */
    assert_true(half < 0.05 * theory);
}

/* --- M/D/1: requests that come at random, one channel, a fixed time --- */

#define MD1_SERVICE_US 100.0
#define MD1_LOAD       0.8
#define MD1_COUNT      200000

/* Mean time from request to answer, in services. */
static double md1(uint64_t seed)
{
    struct wr_device_profile p = {
        .name = "md1", .read_latency_us = MD1_SERVICE_US, .channels = 1};
    struct wr_device_request rq = {.op = WR_DEVICE_READ, .len = 1};
    struct wr_device *d;
    double now = 0, sum = 0;

    assert_int_equal(wr_device_new(&p, &d, NULL), 0);
    for (uint64_t k = 0; k < MD1_COUNT; k++) {
        now += exponential(MD1_SERVICE_US * 1e3 / MD1_LOAD, seed, 1, k);
        sum += (double)wr_device_submit(d, &rq, (uint64_t)now) - now;
    }
    wr_device_free(d);
    return sum / MD1_COUNT / (MD1_SERVICE_US * 1e3);
}

static void test_md1(void **state)
{
    /* Pollaczek and Khinchine: the wait is rho / (2 (1 - rho)) services. */
    (void)state;
    expect_within(md1, 1 + MD1_LOAD / (2 * (1 - MD1_LOAD)));
}

/* --- M/M/c: jobs that come at random and divide c cores --- */

#define MMC_CORES 4
#define MMC_LOAD  0.85
#define MMC_COUNT 300000

/* Mean number of jobs, by Little: sum of the times over all time. With times
 * that have no memory it does not matter that jobs divide the cores rather than
 * wait for one. */
static double mmc(uint64_t seed)
{
    struct wr_plan_share s;
    double now = 0, last = 0, area = 0, next;

    wr_plan_share_init(&s, MMC_CORES, 1);
    for (uint64_t k = 0; k < MMC_COUNT; k++) {
        now += exponential(1e6 / (MMC_LOAD * MMC_CORES), seed, 2, k);
        while ((next = wr_plan_share_next(&s)) <= now) {
            area += (double)s.jobs.count * (next - last);
            last = next;
            wr_plan_share_pop(&s);
        }
        area += (double)s.jobs.count * (now - last);
        last = now;
        assert_true(
            wr_plan_share_add(&s, now, exponential(1e6, seed, 3, k), 0));
    }
    wr_plan_share_done(&s);
    return area / now;
}

/* Erlang's C: the mean number in an M/M/c queue. */
static double erlang(unsigned c, double load)
{
    double a = load * c, term = 1, sum = 0, last;

    for (unsigned k = 0; k < c; k++) {
        sum += term;
        term *= a / (k + 1);
    }
    last = term / (1 - load); /* term = a^c / c! */
    return a + last / (sum + last) * load / (1 - load);
}

static void test_mmc(void **state)
{
    (void)state;
    expect_within(mmc, erlang(MMC_CORES, MMC_LOAD));
}

/* --- two stations with a finite buffer between them --- */

static double tandem_rate(uint64_t seed, uint32_t prefetch, double made_s,
                          double used_s)
{
    struct wr_plan_how how = {.steps = 0};
    struct wr_plan_result r;
    struct wr_plan p;

    wr_plan_defaults(&p);
    strcpy(p.storage.profile.name, "none");
    p.data.bytes.mean = 1;
    p.data.samples = 40000;
    p.compute.batch = 1;
    p.compute.step_s = (struct wr_plan_draw){WR_PLAN_EXPONENTIAL, used_s, 1};
    p.loader.cpu_s = (struct wr_plan_draw){WR_PLAN_EXPONENTIAL, made_s, 1};
    p.loader.depth = 1;
    p.loader.prefetch = prefetch;
    p.seed = seed;
    assert_int_equal(wr_plan_check(&p, NULL), 0);
    assert_int_equal(wr_plan_node(&p, &how, &r, NULL), 0);
    made_s = r.samples_per_s;
    wr_plan_result_done(&r);
    return made_s;
}

/* A worker makes batches while fewer than K = prefetch + 2 are made or held: the
 * queue M/M/1/K, whose arrivals are the worker's. */
static double tandem_theory(unsigned k, double made_s, double used_s)
{
    double rho = used_s / made_s, full;

    full = fabs(rho - 1) < 1e-9
               ? 1.0 / (k + 1)
               : (1 - rho) * pow(rho, k) / (1 - pow(rho, k + 1));
    return (1 - full) / made_s;
}

static double tandem_even(uint64_t seed)
{
    return tandem_rate(seed, 1, 1e-3, 1e-3);
}

static double tandem_deep(uint64_t seed)
{
    return tandem_rate(seed, 6, 1e-3, 1.1e-3);
}

static double tandem_starved(uint64_t seed)
{
    return tandem_rate(seed, 2, 2e-3, 1e-3);
}

/* Without prefetch they take turns. */
static double no_buffer(uint64_t seed)
{
    return tandem_rate(seed, 0, 1e-3, 2e-3);
}

static void test_tandem(void **state)
{
    (void)state;
    expect_within(tandem_even, tandem_theory(3, 1e-3, 1e-3));
    expect_within(tandem_deep, tandem_theory(8, 1e-3, 1.1e-3));
    expect_within(tandem_starved, tandem_theory(4, 2e-3, 1e-3));
    expect_within(no_buffer, 1 / 3e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_md1),
        cmocka_unit_test(test_mmc),
        cmocka_unit_test(test_tandem),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
