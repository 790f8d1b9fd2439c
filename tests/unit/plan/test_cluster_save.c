/* test_cluster_save.c - saves of many nodes: cases that are computed by hand.
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

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b) + 1e-9;
}

/* 2 nodes, 4 steps of a second, 1 MB of each node saved after 2 and 4. */
static struct wr_plan base(enum wr_plan_way way)
{
    struct wr_plan p;

    wr_plan_defaults(&p);
    strcpy(p.storage.profile.name, "x");
    p.storage.shared = true;
    p.data.bytes.mean = 1;
    p.nodes = 2;
    p.compute.batch = 1;
    p.data.samples = 8;
    p.compute.step_s.mean = 1;
    p.save.way = way;
    p.save.every = 2;
    p.save.bytes = 2e6;
    strcpy(p.save.slow.name, "slow");
    strcpy(p.save.fast.name, "fast");
    p.save.slow.write_bytes_per_s = 1e6;
    p.save.fast.write_bytes_per_s = 1e6;
    p.save.copy_bytes_per_s = 4e6;
    return p;
}

static void expect(const struct wr_plan *p, double seconds, double stall,
                   double durable, uint64_t blocked)
{
    struct wr_plan_how how = {0};
    struct wr_plan_result r;

    assert_int_equal(wr_plan_check(p, NULL), 0);
    for (unsigned lump = 0; lump < 2; lump++) {
        assert_int_equal(wr_plan_cluster(p, &how, lump, &r, NULL), 0);
        if (!near(r.seconds, seconds) || !near(r.save_stall_s, stall) ||
            !near(r.save_durable_s, durable))
            fail_msg("%g s, %g stalled, %g until durable", r.seconds,
                     r.save_stall_s, r.save_durable_s);
        assert_int_equal(r.saves, 2);
        assert_int_equal(r.saves_blocked, blocked);
        assert_true(near(r.part_s[WR_PLAN_FOR_SAVES], 2 * stall));
        wr_plan_result_done(&r);
    }
}

static void test_direct(void **state)
{
    struct wr_plan p = base(WR_PLAN_DIRECT);

    (void)state;
    expect(&p, 8, 2, 2, 0);
    p.save.slow.write_latency_us = 100e3; /* once, and four syncs */
    p.save.slow.sync_latency_us = 100e3;
    expect(&p, 9, 2.5, 2.5, 0);
}

/* Each node has a disk of its own, or all one; the client's limit holds. */
static void test_on_input(void **state)
{
    struct wr_plan p = base(WR_PLAN_DIRECT);

    (void)state;
    p.save.on_input = true;
    p.storage.profile.write_bytes_per_s = 1e6;
    expect(&p, 8, 2, 2, 0);
    p.storage.shared = false;
    expect(&p, 6, 1, 1, 0);
    p.storage.client_bytes_per_s = 0.5e6;
    p.storage.profile.write_bytes_per_s = 0;
    expect(&p, 8 + 2e-6, 2, 2, 0); /* and the first sample */
}

static void test_burst(void **state)
{
    struct wr_plan p = base(WR_PLAN_BURST);

    (void)state;
    expect(&p, 6, 1, 3, 0);
    p.save.slow.write_bytes_per_s = 0.5e6; /* drained from 3 to 7, 7 to 11 */
    expect(&p, 6, 1, 5.5, 0);
    p.save.kept = 1; /* the second waits from 5 to 7 */
    expect(&p, 8, 2, 6, 1);
    p.save.kept = 2;
    expect(&p, 6, 1, 5.5, 0);
    p.save.slow.write_bytes_per_s = 0;
    p.save.fast.read_bytes_per_s = 1e6; /* then that is what takes time */
    expect(&p, 6, 1, 2, 0);
}

static void test_async(void **state)
{
    struct wr_plan p = base(WR_PLAN_ASYNC);

    (void)state;
    expect(&p, 4.5, 0.25, 3.25, 0);
    p.save.slow.write_bytes_per_s = 0;
    p.save.fast.write_bytes_per_s = 0.25e6; /* 4 s: until 6.25 */
    expect(&p, 6.5, 1.25, 5.25, 1);
}

/* A drain takes half of the device while both flow, and so its own time. */
static void test_drain_takes(void **state)
{
    struct wr_plan p = base(WR_PLAN_BURST);
    struct wr_plan_how how = {0};
    struct wr_plan_result r;

    (void)state;
    p.save.on_input = true;
    p.save.fast.write_bytes_per_s = 0;
    p.storage.profile.read_bytes_per_s = 1e6;
    p.storage.profile.write_bytes_per_s = 2e6;
    p.data.bytes.mean = 0.5e6; /* a second of reading per step */
    p.data.samples = 16;
    p.save.every = 4;
    p.compute.step_s.mean = 0.1;
    for (unsigned lump = 0; lump < 2; lump++) {
        assert_int_equal(wr_plan_cluster(&p, &how, lump, &r, NULL), 0);
        assert_true(near(r.seconds, 8 + 1 + 0.1)); /* 2 MB at 2 MB/s */
        assert_true(near(r.storage_busy, 9 / 9.1));
        assert_true(near(r.save_durable_s, (2 + 1) / 2.0)); /* alone: 1 s */
        wr_plan_result_done(&r);
    }
}

/* Nodes with devices of their own drain apart from each other. */
static void test_apart(void **state)
{
    struct wr_plan p = base(WR_PLAN_BURST);
    struct wr_plan_how how = {0};
    struct wr_plan_result r;

    (void)state;
    p.nodes = 20;
    p.data.samples = 20 * 50;
    p.save.on_input = true;
    p.save.kept = 1;
    p.storage.shared = false;
    p.storage.vary = 0.5;
    p.storage.profile.read_bytes_per_s = 1e3;
    p.storage.profile.write_bytes_per_s = 1e6;
    p.data.bytes.mean = 1e3;
    assert_int_equal(wr_plan_cluster(&p, &how, true, &r, NULL), 0);
    assert_int_equal(r.saves, 25);
    assert_true(r.save_durable_s >= r.save_stall_s);
    assert_true(r.save_stall_s >= 2e6 / 20 / 1e6);
    wr_plan_result_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct),      cmocka_unit_test(test_on_input),
        cmocka_unit_test(test_burst),       cmocka_unit_test(test_async),
        cmocka_unit_test(test_drain_takes), cmocka_unit_test(test_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
