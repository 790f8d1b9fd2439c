/* test_probe_fit.c - unit tests of probe_fit.c: profiles come back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The model is probed in virtual time with the tests that `weir probe` runs,
 * and a profile is fitted to the results. It must be the one that was probed,
 * or, where different profiles act alike, one that acts alike. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/probe_plan.h"
#include "measure/probe_fit.h"
#include "probe_sim.h"

#define MIB (UINT64_C(1) << 20)

/* The tests of a quick or a full probe. */
static void make_plan(struct wr_probe_plan *plan, struct wr_probe_tests *tests,
                      bool quick)
{
    const struct wr_probe_wish w = {
        .quick = quick,
        .groups = 1u << WR_PROBE_GROUP_SEQ | 1u << WR_PROBE_GROUP_RANDOM |
                  1u << WR_PROBE_GROUP_FILES | 1u << WR_PROBE_GROUP_SYNC};

    assert_int_equal(wr_probe_plan_tests(&w, tests, NULL), 0);
    memset(plan, 0, sizeof(*plan));
    plan->tests = tests->v;
    plan->test_count = tests->count;
    plan->file_bytes = quick ? 512 * MIB : 4096 * MIB;
    plan->seconds = 1;
    plan->passes = 1;
}

static void fit(const struct wr_device_profile *p, bool quick,
                struct wr_device_profile *ret)
{
    struct wr_probe_tests *tests = malloc(sizeof(*tests));
    struct wr_probe_plan plan;
    struct wr_probe_report rep;
    weir_err err;

    make_plan(&plan, tests, quick);
    sim_probe(&plan, p, &rep);
    if (wr_probe_fit(&plan, &rep, ret, &err) < 0)
        fail_msg("%s: %s", p->name, err.msg);
    sim_done(&rep);
    free(tests);
}

static const struct wr_device_profile *built_in(const char *name)
{
    const struct wr_device_profile *p;

    for (unsigned k = 0; (p = wr_device_profile_at(k)); k++)
        if (!strcmp(p->name, name))
            return p;
    fail_msg("no profile %s", name);
    return NULL;
}

static void near(const char *device, const char *what, double is, double want)
{
    if (fabs(is - want) > 0.1 * want)
        fail_msg("%s: %s is %g, not %g", device, what, is, want);
}

static void check_back(const struct wr_device_profile *p,
                       const struct wr_device_profile *f)
{
    near(p->name, "read latency", f->read_latency_us, p->read_latency_us);
    near(p->name, "write latency", f->write_latency_us, p->write_latency_us);
    near(p->name, "meta latency", f->meta_latency_us, p->meta_latency_us);
    near(p->name, "sync latency", f->sync_latency_us, p->sync_latency_us);
    near(p->name, "read", f->read_bytes_per_s, p->read_bytes_per_s);
    near(p->name, "write", f->write_bytes_per_s, p->write_bytes_per_s);
    near(p->name, "seek", f->seek_us, p->seek_us);
    near(p->name, "cache", (double)f->write_cache_bytes,
         (double)p->write_cache_bytes);
}

/* Latencies and bandwidths of every built-in device. */
static void test_numbers_come_back(void **state)
{
    static const char *const names[] = {"hdd", "ssd", "optane", "lustre",
                                        "nfs"};

    (void)state;
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        for (int quick = 0; quick < 2; quick++) {
            struct wr_device_profile f;

            fit(built_in(names[k]), quick, &f);
            check_back(built_in(names[k]), &f);
        }
}

/* A cache that holds more than a probe writes is not seen. All else comes
 * back. */
static void test_cache_never_full(void **state)
{
    struct wr_device_profile p = *built_in("ssd"), f;

    (void)state;
    p.write_cache_bytes = 64 * 1024 * MIB;
    fit(&p, true, &f);
    assert_int_equal(f.write_cache_bytes, 0);
    near("ssd", "write", f.write_bytes_per_s, p.write_bytes_per_s);
    near("ssd", "read latency", f.read_latency_us, p.read_latency_us);
}

/* Channels come back where the bandwidth does not hide them. */
static void test_channels_come_back(void **state)
{
    static const char *const names[] = {"lustre", "nfs", "nvme"};

    (void)state;
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        const struct wr_device_profile *p = built_in(names[k]);
        struct wr_device_profile f;

        fit(p, false, &f);
        near(p->name, "channels", f.channels, p->channels);
        assert_int_equal(f.seek_points, 0);
    }
}

static void test_endless_channels(void **state)
{
    struct wr_device_profile p = {.name = "wide",
                                  .read_latency_us = 500,
                                  .read_bytes_per_s = 5e9,
                                  .write_bytes_per_s = 5e9},
                             f;

    (void)state;
    fit(&p, true, &f);
    assert_int_equal(f.channels, 0);
    near("wide", "read latency", f.read_latency_us, 500);
    assert_true(f.seek_us == 0);
}

/* A disk's arm: one channel, and seeks that get shorter. */
static void test_seek_law_comes_back(void **state)
{
    const struct wr_device_profile *p = built_in("hdd");
    struct wr_device_profile f;

    (void)state;
    fit(p, false, &f);
    assert_int_equal(f.channels, 1);
    assert_true(f.seek_points >= p->seek_points);
    for (unsigned k = 0; k < p->seek_points; k++) {
        assert_int_equal(f.seek_law[k].depth, p->seek_law[k].depth);
        near("hdd", "factor", f.seek_law[k].factor, p->seek_law[k].factor);
    }
}

/* Where the machine cannot keep up with the depth, channels look fewer, but
 * they are no arm: it could not answer faster than without any seek. */
static void test_slow_machine(void **state)
{
    struct wr_probe_tests *tests = malloc(sizeof(*tests));
    const struct wr_device_profile *p = built_in("lustre");
    struct wr_device_profile f;
    struct wr_probe_report rep;
    struct wr_probe_plan plan;

    (void)state;
    make_plan(&plan, tests, true);
    sim_probe(&plan, p, &rep);
    for (size_t k = 0; k < rep.count; k++)
        if (plan.tests[k].depth > 1)
            rep.results[k].v.ops_per_s *= 0.75;
    assert_int_equal(wr_probe_fit(&plan, &rep, &f, NULL), 0);
    assert_int_equal(f.seek_points, 0);
    assert_in_range(f.channels, 22, 26);
    sim_done(&rep);
    free(tests);
}

/* What was fitted acts as what was probed, test by test. */
static void test_acts_alike(void **state)
{
    struct wr_probe_tests *tests = malloc(sizeof(*tests));
    struct wr_probe_report a, b;
    struct wr_device_profile f;
    struct wr_probe_plan plan;
    const struct wr_device_profile *p;
    char name[128];

    (void)state;
    make_plan(&plan, tests, false);
    for (unsigned i = 0; (p = wr_device_profile_at(i)); i++) {
        if (!strcmp(p->name, "null"))
            continue;
        sim_probe(&plan, p, &a);
        assert_int_equal(wr_probe_fit(&plan, &a, &f, NULL), 0);
        sim_probe(&plan, &f, &b);
        for (size_t k = 0; k < plan.test_count; k++) {
            const struct wr_probe_test *t = &plan.tests[k];

            if (a.results[k].skipped)
                continue;
            snprintf(name, sizeof(name), "%s, test %zu (op %d, %u KiB, %u)",
                     p->name, k, (int)t->op, (unsigned)(t->block >> 10),
                     t->depth);
            near(name, "rate", b.results[k].v.ops_per_s,
                 a.results[k].v.ops_per_s);
        }
        sim_done(&a);
        sim_done(&b);
    }
    free(tests);
}

/* The text that is written parses to what was fitted. */
static void test_text(void **state)
{
    struct wr_device_profile f, back;
    weir_err err;
    char *text;

    (void)state;
    fit(built_in("hdd"), true, &f);
    text = wr_device_profile_text(&f);
    assert_non_null(text);
    if (wr_device_profile_parse(text, strlen(text), "f", &back, &err) < 0)
        fail_msg("%s\n%s", err.msg, text);
    assert_int_equal(back.channels, 1);
    near("hdd", "seek", back.seek_us, f.seek_us);
    free(text);
}

static void test_too_few_tests(void **state)
{
    static const struct wr_probe_test seq = {.op = WR_PROBE_READ,
                                             .pattern = WR_PROBE_SEQUENTIAL,
                                             .block = 1 << 20,
                                             .depth = 8,
                                             .workers = 1,
                                             .direct = true};
    struct wr_probe_plan plan = {
        .file_bytes = 64 * MIB, .tests = &seq, .test_count = 1, .seconds = 1};
    struct wr_device_profile f = {.channels = 77};
    struct wr_probe_report rep;
    weir_err err;

    (void)state;
    sim_probe(&plan, built_in("ssd"), &rep);
    assert_int_equal(wr_probe_fit(&plan, &rep, &f, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "random reads"));
    assert_int_equal(f.channels, 77);
    rep.results[0].skipped = true;
    assert_int_equal(wr_probe_fit(&plan, &rep, &f, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "sequential reads"));
    sim_done(&rep);
}

static size_t sync_of(const struct wr_probe_plan *plan)
{
    size_t k = 0;

    while (plan->tests[k].op != WR_PROBE_SYNC)
        k++;
    return k;
}

/* Three passes; that of the median rate is not like the two others: the fitted
 * latency is the one that is printed. */
static void test_latencies_of_all_passes(void **state)
{
    struct wr_probe_tests *tests = malloc(sizeof(*tests));
    struct wr_probe_result *res;
    struct wr_device_profile f;
    struct wr_probe_run runs[3], *own;
    struct wr_hist *fast = calloc(1, sizeof(*fast)), all;
    struct wr_probe_plan plan;
    struct wr_probe_report rep;

    make_plan(&plan, tests, /* quick= */ true);
    sim_probe(&plan, built_in("ssd"), &rep);
    res = &rep.results[sync_of(&plan)];
    for (uint64_t i = 0; i < 10 * res->runs[0].latency->count; i++)
        wr_hist_add(fast, 7000);
    own = res->runs;
    runs[0] = runs[1] = runs[2] = *own;
    runs[1].latency = runs[2].latency = fast;
    res->runs = runs;
    res->run_count = 3;
    res->median = 0;
    assert_int_equal(wr_probe_fit(&plan, &rep, &f, NULL), 0);
    wr_probe_latency(res, WR_PROBE_ALL_STEPS, &all);
    assert_float_equal(f.sync_latency_us,
                       (double)wr_hist_quantile(&all, 0.5) / 1e3, 0.01);
    assert_float_equal(f.sync_latency_us, 7, 0.5);
    res->runs = own;
    sim_done(&rep);
    free(fast);
    free(tests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_come_back),
        cmocka_unit_test(test_cache_never_full),
        cmocka_unit_test(test_channels_come_back),
        cmocka_unit_test(test_endless_channels),
        cmocka_unit_test(test_seek_law_comes_back),
        cmocka_unit_test(test_slow_machine),
        cmocka_unit_test(test_acts_alike),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_too_few_tests),
        cmocka_unit_test(test_latencies_of_all_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
