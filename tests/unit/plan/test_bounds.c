/* test_bounds.c - the bottleneck in closed form, by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/bounds.h"
#include "plan/node.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

/* 100 KB files of a disk of 100 MB/s and 1 ms, 100 ms steps of 64. */
static struct wr_plan base(void)
{
    struct wr_plan p;

    wr_plan_defaults(&p);
    strcpy(p.storage.profile.name, "x");
    p.storage.profile.read_bytes_per_s = 100e6;
    p.storage.profile.read_latency_us = 600;
    p.storage.profile.meta_latency_us = 400;
    p.storage.profile.channels = 4;
    p.data.bytes.mean = 100e3;
    p.data.samples = 640000;
    p.compute.step_s.mean = 0.1;
    p.loader.cpu_s.mean = 0.5e-3;
    p.loader.cores = p.loader.workers = 2;
    return p;
}

static double limit_of(const struct wr_plan_bounds *b, enum wr_plan_resource r)
{
    for (unsigned k = 0; k < WR_PLAN_RESOURCES; k++)
        if (b->limits[k].resource == r)
            return b->limits[k].samples_per_s;
    fail();
    return 0;
}

static void test_limits(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_bounds b;

    (void)state;
    wr_plan_bounds(&p, false, &b);
    assert_true(near(limit_of(&b, WR_PLAN_ACCELERATORS), 640));
    assert_true(near(limit_of(&b, WR_PLAN_BANDWIDTH), 1000));
    assert_true(near(limit_of(&b, WR_PLAN_REQUESTS), 4 / 2e-3));
    assert_true(near(limit_of(&b, WR_PLAN_CORES), 4000));
    assert_true(near(limit_of(&b, WR_PLAN_IN_FLIGHT), 64 / 2.5e-3));
    assert_true(isinf(limit_of(&b, WR_PLAN_OPENS)));
    assert_true(isinf(limit_of(&b, WR_PLAN_CLIENT)));
    assert_int_equal(b.limits[0].resource, WR_PLAN_ACCELERATORS);
    assert_int_equal(b.limits[1].resource, WR_PLAN_BANDWIDTH);
    assert_true(near(b.samples_per_s, 640) && near(b.utilization, 1));
    assert_true(near(b.need_bytes_per_s, 64e6));
    assert_true(near(b.need_opens_per_s, 640));
    assert_true(near(b.need_cores, 0.32));
}

static void test_no_prefetch(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_bounds b;

    (void)state;
    p.loader.prefetch = 0;
    wr_plan_bounds(&p, false, &b);
    assert_true(near(b.load_s, 0.064));
    assert_true(near(b.step_s, 0.164));
    assert_true(near(b.utilization, 100.0 / 164));
}

static void test_many(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_bounds b;

    (void)state;
    p.nodes = 10;
    p.compute.accelerators = 4;
    p.storage.shared = true;
    p.storage.opens_per_s = 500;
    p.storage.client_bytes_per_s = 20e6;
    wr_plan_bounds(&p, false, &b);
    assert_true(near(limit_of(&b, WR_PLAN_ACCELERATORS), 25600));
    assert_true(near(limit_of(&b, WR_PLAN_BANDWIDTH), 1000));
    assert_true(near(limit_of(&b, WR_PLAN_OPENS), 500));
    assert_true(near(limit_of(&b, WR_PLAN_CLIENT), 2000));
    assert_true(near(limit_of(&b, WR_PLAN_CORES), 40000));
    assert_true(near(b.samples_per_s, 500));
    p.storage.shared = false;
    wr_plan_bounds(&p, false, &b);
    assert_true(near(limit_of(&b, WR_PLAN_BANDWIDTH), 10000));
}

static void test_cached(void **state)
{
    struct wr_plan p = base();
    struct wr_plan_bounds b;

    (void)state;
    p.cache.share = 0.75;
    p.cache.decoded = true;
    p.compute.step_s.mean = 0.001;
    wr_plan_bounds(&p, false, &b);
    assert_true(near(b.samples_per_s, 1000));
    wr_plan_bounds(&p, true, &b);
    assert_true(near(limit_of(&b, WR_PLAN_BANDWIDTH), 4000));
    assert_true(near(limit_of(&b, WR_PLAN_CORES), 16000));
    p.cache.share = 1;
    wr_plan_bounds(&p, true, &b);
    assert_true(isinf(limit_of(&b, WR_PLAN_BANDWIDTH)));
}

/* The rates of the page on profiles. */
static void test_devices(void **state)
{
    static const struct {
        const char *name;
        double files; /* of 112 KB, by one reader */
    } rows[] = {{"hdd", 107},    {"ssd", 1353},  {"optane", 7149},
                {"lustre", 486}, {"nvme", 4878}, {"nfs", 1180}};
    struct wr_device_profile d;

    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        double rate;

        assert_int_equal(wr_device_profile_find(rows[k].name, &d, NULL), 0);
        rate = wr_plan_device_rate(&d, 112000, true, false, 1);
        assert_true(fabs(rate - rows[k].files) < 0.01 * rows[k].files);
    }
    assert_int_equal(wr_device_profile_find("hdd", &d, NULL), 0);
    assert_true(fabs(wr_plan_device_rate(&d, 112000, true, false, 8) /
                         wr_plan_device_rate(&d, 112000, true, false, 1) -
                     2.3) < 0.02);
}

/* What is simulated never beats what is possible, and comes near it. */
static void test_simulated(void **state)
{
    static const char *const names[] = {"hdd", "ssd", "lustre", "nvme"};
    struct wr_plan_how how = {0};

    (void)state;
    for (size_t k = 0; k < 4 * 3 * 2; k++) {
        struct wr_plan p = base();
        struct wr_plan_result r;
        struct wr_plan_bounds b;

        assert_int_equal(
            wr_device_profile_find(names[k % 4], &p.storage.profile, NULL), 0);
        p.data.samples = 64 * 60;
        p.loader.prefetch = (uint32_t)(k / 4 % 3);
        p.compute.step_s.mean = k / 12 ? 0.2 : 0.01;
        wr_plan_bounds(&p, false, &b);
        assert_int_equal(wr_plan_node(&p, &how, &r, NULL), 0);
        assert_true(r.samples_per_s <= 1.01 * b.samples_per_s);
        assert_true(r.steady_per_s >= 0.80 * b.samples_per_s);
        wr_plan_result_done(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),  cmocka_unit_test(test_no_prefetch),
        cmocka_unit_test(test_many),    cmocka_unit_test(test_cached),
        cmocka_unit_test(test_devices), cmocka_unit_test(test_simulated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
