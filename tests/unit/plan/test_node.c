/* test_node.c - one node in virtual time: cases that are computed by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/node.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b) + 1e-9;
}

/* Batches of 10 samples, 1 ms each to read, any number at once. */
static struct wr_plan base(void)
{
    struct wr_plan p;

    wr_plan_defaults(&p);
    strcpy(p.storage.profile.name, "x");
    p.storage.profile.read_latency_us = 1000;
    p.data.bytes.mean = 1;
    p.data.samples = 1000;
    p.compute.batch = 10;
    p.compute.step_s.mean = 0.020;
    return p;
}

static struct wr_plan_result simulate(const struct wr_plan *p, uint32_t life)
{
    struct wr_plan_how how = {.life = life};
    struct wr_plan_result r;
    double sum = 0;

    assert_int_equal(wr_plan_check(p, NULL), 0);
    assert_int_equal(wr_plan_node(p, &how, &r, NULL), 0);
    for (unsigned k = 0; k < WR_PLAN_PARTS; k++)
        sum += r.part_s[k];
    assert_true(near(sum, r.seconds));
    assert_int_equal(r.epoch_count, p->epochs);
    return r;
}

/* Reading is hidden but for the first batch. */
static void test_prefetch(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r = simulate(&p, 0);

    (void)state;
    assert_true(near(r.seconds, 0.001 + 100 * 0.020));
    assert_true(near(r.first_batch_s, 0.001));
    assert_true(near(r.part_s[WR_PLAN_FOR_STORAGE], 0.001));
    assert_true(near(r.utilization, 2.0 / 2.001));
    assert_int_equal(r.step_count, 100);
    wr_plan_result_done(&r);
}

/* One sample at a time, and nothing ahead: 10 ms of reading, 20 of computing. */
static void test_no_prefetch(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.loader.prefetch = 0;
    p.loader.depth = 1;
    r = simulate(&p, 0);
    assert_true(near(r.seconds, 100 * 0.030));
    assert_true(near(r.part_s[WR_PLAN_FOR_STORAGE], 1.0));
    wr_plan_result_done(&r);
    p.loader.workers = p.loader.cores = 5; /* two rounds of 1 ms */
    r = simulate(&p, 0);
    assert_true(near(r.seconds, 100 * 0.022));
    wr_plan_result_done(&r);
}

/* 4 ms of decoding per sample, 10 samples, 2 cores: 20 ms; the accelerator needs
 * 5. Four workers do not change that, and one halves it. */
static void test_cores(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.loader.cpu_s.mean = 0.004;
    p.loader.cores = 2;
    p.compute.step_s.mean = 0.005;
    p.loader.workers = 2;
    r = simulate(&p, 0);
    assert_true(fabs(r.steady_per_s - 500) < 5);
    assert_true(r.part_s[WR_PLAN_FOR_CORES] >
                10 * r.part_s[WR_PLAN_FOR_STORAGE]);
    assert_true(r.cores_busy > 0.98);
    wr_plan_result_done(&r);
    p.loader.workers = 4;
    r = simulate(&p, 0);
    assert_true(fabs(r.steady_per_s - 500) < 5);
    wr_plan_result_done(&r);
    p.loader.workers = 1;
    r = simulate(&p, 0);
    assert_true(fabs(r.steady_per_s - 250) < 3);
    wr_plan_result_done(&r);
}

/* Four workers load whole batches in turns, each 100 ms; the accelerator takes 5:
 * every fourth batch waits, the others are there. */
static void test_turns(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.storage.profile.read_latency_us = 10000;
    p.loader.style = WR_PLAN_IN_TURNS;
    p.loader.workers = p.loader.cores = 4;
    p.loader.depth = 1;
    p.loader.prefetch = 1;
    p.compute.step_s.mean = 0.005;
    r = simulate(&p, 0);
    for (size_t k = 40; k < 80; k += 4) {
        assert_true(near(r.step_s[k], 0.085));
        assert_true(near(r.step_s[k + 1], 0.005));
        assert_true(near(r.step_s[k + 2], 0.005));
        assert_true(near(r.step_s[k + 3], 0.005));
    }
    assert_true(near(r.part_s[WR_PLAN_FOR_CORES], 0));
    wr_plan_result_done(&r);
}

/* Workers that end with an epoch: the queue is empty at the next. */
static void test_apart(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.epochs = 3;
    p.loader.apart = true;
    p.loader.start_s = 0.5;
    r = simulate(&p, 0);
    assert_true(near(r.seconds, 3 * (0.5 + 0.001 + 2.0)));
    assert_true(near(r.epochs[1].seconds, 2.501));
    wr_plan_result_done(&r);
}

/* The all-reduce and the slowest of several are waited for by all. */
static void test_several(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.compute.accelerators = 4;
    p.compute.reduce_s = 0.002;
    p.loader.depth = 64;
    p.data.samples = 4000;
    r = simulate(&p, 0);
    assert_int_equal(r.step_count, 100);
    assert_true(near(r.seconds, 0.001 + 100 * 0.022));
    assert_true(near(r.part_s[WR_PLAN_FOR_OTHERS], 0.2));
    wr_plan_result_done(&r);
    p.compute.step_s = (struct wr_plan_draw){WR_PLAN_EXPONENTIAL, 0.020, 1};
    p.compute.reduce_s = 0;
    p.data.samples = 400000;
    r = simulate(&p, 0); /* 1 + 1/2 + 1/3 + 1/4 */
    assert_true(fabs(r.seconds / 10000 - 0.020 * 25 / 12) < 0.0005);
    wr_plan_result_done(&r);
}

static void test_cache(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.epochs = 2;
    p.loader.prefetch = 0;
    p.loader.depth = 1;
    p.loader.cpu_s.mean = 0.001;
    p.cache.share = 1;
    r = simulate(&p, 0);
    assert_true(near(r.epochs[0].seconds, 100 * 0.040));
    assert_true(near(r.epochs[1].seconds, 100 * 0.030)); /* still decoded */
    wr_plan_result_done(&r);
    p.cache.decoded = true;
    r = simulate(&p, 0);
    assert_true(near(r.epochs[1].seconds, 100 * 0.020));
    wr_plan_result_done(&r);
    p.cache.share = 0.5;
    r = simulate(&p, 0);
    assert_true(fabs(r.epochs[1].seconds - 3.0) < 0.15);
    wr_plan_result_done(&r);
}

static void test_evaluation(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.eval_steps = 10;
    p.eval_s = 0.005;
    p.epochs = 2;
    r = simulate(&p, 0);
    assert_true(near(r.seconds, 0.001 + 2 * (2.0 + 0.05)));
    assert_int_equal(r.step_count, 220);
    wr_plan_result_done(&r);
}

/* Neighbours that come with one request, and opens that are counted. */
static void test_requests(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;

    (void)state;
    p.loader.prefetch = 0;
    p.loader.depth = 10;
    p.storage.profile.channels = 1;
    r = simulate(&p, 0);
    assert_true(near(r.seconds, 100 * 0.030));
    wr_plan_result_done(&r);
    p.data.samples_per_object = 1000;
    p.data.sequential = true;
    p.data.unit_bytes = 10;
    r = simulate(&p, 0);
    assert_true(near(r.seconds, 100 * 0.021));
    wr_plan_result_done(&r);
    p.loader.style = WR_PLAN_IN_TURNS; /* each worker has a unit of its own */
    p.loader.workers = p.loader.cores = 2;
    p.loader.prefetch = 4;
    p.compute.step_s.mean = 0.0001;
    r = simulate(&p, 0);
    assert_true(fabs(r.seconds - 0.1) < 0.02);
    wr_plan_result_done(&r);
    p = base();
    p.loader.prefetch = 0;
    p.storage.opens_per_s = 500; /* 20 ms for 10, the last is read then */
    r = simulate(&p, 0);
    assert_true(near(r.seconds, 100 * 0.041));
    wr_plan_result_done(&r);
    p = base();
    p.loader.prefetch = 0;
    p.storage.client_bytes_per_s = 1000; /* 10 ms for 10 bytes */
    r = simulate(&p, 0);
    assert_true(fabs(r.seconds - 100 * 0.030) < 0.11);
    wr_plan_result_done(&r);
}

/* --- saves --- */

/* Small files go with them. */
static bool about(double a, double b)
{
    return fabs(a - b) <= 2e-3 * fabs(b);
}

static struct wr_plan saving(enum wr_plan_way way)
{
    struct wr_plan p = base();

    p.save = (struct wr_plan_save){.way = way, .every = 20, .bytes = 100e6};
    strcpy(p.save.slow.name, "slow");
    p.save.slow.write_bytes_per_s = 100e6;
    strcpy(p.save.fast.name, "fast");
    p.save.fast.write_bytes_per_s = 1000e6;
    p.save.copy_bytes_per_s = 10e9;
    return p;
}

static void test_saves(void **state)
{
    struct wr_plan p = saving(WR_PLAN_DIRECT);
    struct wr_plan_result r = simulate(&p, 0);

    (void)state;
    assert_int_equal(r.saves, 5);
    assert_true(about(r.save_stall_s, 1.0) && about(r.save_durable_s, 1.0));
    assert_true(about(r.seconds, 2.001 + 5));
    wr_plan_result_done(&r);
    p = saving(
        WR_PLAN_BURST); /* 0.4 s of training between them, 1 s of drain */
    r = simulate(&p, 0);
    assert_true(about(r.save_stall_s, 0.1));
    assert_true(about(r.seconds, 2.001 + 0.5));
    assert_int_equal(r.saves_blocked, 0);
    assert_true(r.save_durable_s > 2); /* they pile up */
    wr_plan_result_done(&r);
    p.save.kept = 1; /* room for one: the next waits for its drain */
    r = simulate(&p, 0);
    assert_int_equal(r.saves_blocked, 4);
    assert_true(about(r.save_stall_s, (0.1 + 4 * (1.0 - 0.4 + 0.1)) / 5));
    wr_plan_result_done(&r);
    p = saving(WR_PLAN_ASYNC);
    r = simulate(&p, 0);
    assert_true(about(r.save_stall_s, 0.01));
    assert_int_equal(r.saves_blocked, 0);
    wr_plan_result_done(&r);
    p.save.fast.write_bytes_per_s = 200e6; /* 0.5 s: longer than 0.4 between */
    r = simulate(&p, 0);
    assert_int_equal(r.saves_blocked, 4);
    assert_true(about(r.save_stall_s, (0.01 * 5 + 4 * 0.1) / 5));
    wr_plan_result_done(&r);
}

/* On the device that is read, a save takes its bandwidth. */
static void test_interference(void **state)
{
    struct wr_plan p = saving(WR_PLAN_ASYNC);
    struct wr_plan_result alone, beside;

    (void)state;
    p.storage.profile.channels = 1;
    p.storage.profile.write_bytes_per_s = 100e6;
    p.compute.step_s.mean = 0.011;
    alone = simulate(&p, 0);
    p.save.slow = p.storage.profile;
    p.save.on_input = true;
    beside = simulate(&p, 0);
    assert_true(beside.save_durable_s > alone.save_durable_s);
    wr_plan_result_done(&alone);
    wr_plan_result_done(&beside);
}

/* --- the rest --- */

static void test_same(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result a, b;

    (void)state;
    p.compute.step_s = (struct wr_plan_draw){WR_PLAN_LOGNORMAL, 0.002, 1};
    p.loader.cpu_s = (struct wr_plan_draw){WR_PLAN_LOGNORMAL, 0.0002, 1};
    p.data.bytes = (struct wr_plan_draw){WR_PLAN_LOGNORMAL, 1e5, 1};
    p.storage.profile.read_bytes_per_s = 1e9;
    p.storage.vary = 0.3;
    a = simulate(&p, 4);
    b = simulate(&p, 4);
    assert_int_equal(a.step_count, b.step_count);
    assert_memory_equal(a.step_s, b.step_s, a.step_count * sizeof(double));
    assert_int_equal(a.span_count, b.span_count);
    wr_plan_result_done(&b);
    p.seed = 2;
    b = simulate(&p, 0);
    assert_true(a.seconds != b.seconds);
    wr_plan_result_done(&a);
    wr_plan_result_done(&b);
}

static bool always(void)
{
    return true;
}

static void test_canceled(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_how how = {.stopped = always};
    struct wr_plan_result r;

    (void)state;
    p.data.samples = 10000000;
    assert_int_equal(wr_plan_node(&p, &how, &r, NULL), WEIR_ECANCELED);
    how = (struct wr_plan_how){.steps = 7};
    assert_int_equal(wr_plan_node(&p, &how, &r, NULL), 0);
    assert_int_equal(r.step_count, 7);
    wr_plan_result_done(&r);
}

/* Each lane does one thing at a time, from the beginning on. */
static void test_life(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_result r;
    double *end;

    (void)state;
    p.loader.workers = 3;
    p.loader.cores = 2;
    p.loader.cpu_s.mean = 0.002;
    r = simulate(&p, 6);
    end = calloc(5, sizeof(*end));
    assert_true(r.span_count > 20);
    for (size_t k = 0; k < r.span_count; k++) {
        const struct wr_plan_span *s = &r.spans[k];

        assert_true(s->lane < 5 && s->to_s > s->from_s);
        assert_true(s->from_s >= end[s->lane] - 1e-12);
        end[s->lane] = s->to_s;
        if (s->lane == 3)
            assert_int_equal(s->kind, WR_PLAN_SPAN_QUEUED);
    }
    free(end);
    wr_plan_result_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefetch),     cmocka_unit_test(test_no_prefetch),
        cmocka_unit_test(test_cores),        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_apart),        cmocka_unit_test(test_several),
        cmocka_unit_test(test_cache),        cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_requests),     cmocka_unit_test(test_saves),
        cmocka_unit_test(test_interference), cmocka_unit_test(test_same),
        cmocka_unit_test(test_canceled),     cmocka_unit_test(test_life),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
