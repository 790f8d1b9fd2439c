/* test_check.c - plans that cannot be are named.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan.h"

static struct wr_plan good(void)
{
    struct wr_plan p;

    wr_plan_defaults(&p);
    strcpy(p.storage.profile.name, "x");
    p.data.bytes.mean = 1000;
    p.data.samples = 6400;
    p.compute.step_s.mean = 0.1;
    return p;
}

static void refused(const struct wr_plan *p, const char *message)
{
    weir_err err;

    assert_int_equal(wr_plan_check(p, &err), WEIR_EINVAL);
    assert_string_equal(err.msg, message);
}

/* One thing that is wrong with a plan. */
#define REFUSED(change, message)                                               \
    do {                                                                       \
        struct wr_plan p = good();                                             \
        change;                                                                \
        refused(&p, message);                                                  \
    } while (0)

static void test_counts(void **state)
{
    (void)state;
    REFUSED(p.loader.workers = 0, "workers: 0: at least 1 is needed");
    REFUSED(p.loader.workers = 5000, "workers: 5000: more than 4096");
    REFUSED(p.loader.depth = 0, "depth: 0: at least 1 is needed");
    REFUSED(p.loader.cores = 0, "cores: 0: at least 1 is needed");
    REFUSED(p.nodes = 0, "nodes: 0: at least 1 is needed");
    REFUSED(p.nodes = 1000001, "nodes: 1000001: more than 1000000");
    REFUSED(p.compute.accelerators = 0,
            "accelerators per node: 0: at least 1 is needed");
    REFUSED(p.compute.batch = 0, "batch: 0: at least 1 is needed");
    REFUSED(p.epochs = 0, "epochs: 0: at least 1 is needed");
    REFUSED(p.eval_steps = UINT64_MAX,
            "evaluation steps: 18446744073709551615: more than 100000000");
    REFUSED(p.data.samples = 0, "samples: 0: at least 1 is needed");
    REFUSED(p.data.samples = 63,
            "63 samples are less than a step takes: 1 x 64 "
            "(accelerators x batch)");
    REFUSED(p.data.samples_per_object = 0,
            "samples per file: 0: at least 1 is needed");
}

static void test_numbers(void **state)
{
    (void)state;
    REFUSED(p.compute.step_s.mean = NAN,
            "seconds per step: nan: a number that is not negative is needed");
    REFUSED(p.compute.step_s.mean = -1,
            "seconds per step: -1: a number that is not negative is needed");
    REFUSED(p.compute.step_s.mean = 1e9, "seconds per step: 1e+09: more than "
                                         "1e+07");
    REFUSED(p.compute.step_s.cv = -1,
            "seconds per step: a deviation of -1 times the mean: 0 to 100 is "
            "possible");
    REFUSED(p.compute.reduce_s = NAN,
            "seconds of the all-reduce: nan: 0 to 1e+07 is possible");
    REFUSED(p.loader.cpu_s.mean = INFINITY,
            "CPU seconds per sample: inf: a number that is not negative is "
            "needed");
    REFUSED(p.data.bytes.mean = 0, "bytes per sample: 0: at least 1 is needed");
    REFUSED(p.cache.share = 1.5, "share of the cache: 1.5: 0 to 1 is possible");
    REFUSED(p.storage.client_bytes_per_s = -1,
            "bytes per second of a client: -1: 0 to 1e+15 is possible");
    REFUSED(p.storage.vary = NAN,
            "variation of the storage: nan: 0 to 100 is possible");
    REFUSED(*p.storage.profile.name = '\0', "storage: nothing is said of it");
    REFUSED(p.failure.node_mtbf_s = -1,
            "mean time between failures: -1: 0 to 1e+12 is possible");
}

static void test_saves(void **state)
{
    struct wr_plan ok = good();

    (void)state;
    REFUSED(p.save.way = WR_PLAN_DIRECT,
            "steps between saves: 0: at least 1 is needed");
    REFUSED((p.save.way = WR_PLAN_DIRECT, p.save.every = 10),
            "bytes of a save: at least 1 is needed");
    REFUSED(
        (p.save.way = WR_PLAN_DIRECT, p.save.every = 10, p.save.bytes = 1e9),
        "saves: nothing is said of the storage they go to");
    REFUSED((p.save.way = WR_PLAN_BURST, p.save.every = 10, p.save.bytes = 1e9,
             p.save.slow = p.storage.profile),
            "saves: nothing is said of the fast tier");
    assert_int_equal(wr_plan_check(&ok, NULL), 0);
    ok.save = (struct wr_plan_save){.way = WR_PLAN_BURST,
                                    .every = 1,
                                    .bytes = 1,
                                    .slow = ok.storage.profile,
                                    .fast = ok.storage.profile};
    assert_int_equal(wr_plan_check(&ok, NULL), 0);
}

static void test_steps(void **state)
{
    struct wr_plan p = good();

    (void)state;
    assert_int_equal(wr_plan_steps(&p), 100);
    p.compute.accelerators = 8;
    assert_int_equal(wr_plan_steps(&p), 12);
    p.max_steps = 5;
    assert_int_equal(wr_plan_steps(&p), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_saves),
        cmocka_unit_test(test_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
