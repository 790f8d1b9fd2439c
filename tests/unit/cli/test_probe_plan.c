/* test_probe_plan.c - unit tests of probe_plan.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cli/probe_plan.h"

#define MIB (UINT64_C(1) << 20)

static enum wr_probe_group group_of(const struct wr_probe_test *t)
{
    switch (t->op) {
    case WR_PROBE_FILES:
    case WR_PROBE_CREATE:
        return WR_PROBE_GROUP_FILES;
    case WR_PROBE_SYNC:
        return WR_PROBE_GROUP_SYNC;
    case WR_PROBE_READ:
    case WR_PROBE_WRITE:
        break;
    }
    if (t->pattern == WR_PROBE_SEQUENTIAL)
        return WR_PROBE_GROUP_SEQ;
    return t->block ? WR_PROBE_GROUP_RANDOM : WR_PROBE_GROUP_MIX;
}

static struct wr_probe_tests tests;

static void make(const struct wr_probe_wish *w)
{
    weir_err err;

    if (wr_probe_plan_tests(w, &tests, &err) < 0)
        fail_msg("%s", err.msg);
}

static size_t count_group(enum wr_probe_group g)
{
    size_t n = 0;

    for (size_t k = 0; k < tests.count; k++)
        n += group_of(&tests.v[k]) == g;
    return n;
}

static bool has(struct wr_probe_test t)
{
    for (size_t k = 0; k < tests.count; k++) {
        const struct wr_probe_test *v = &tests.v[k];

        if (v->op == t.op && v->pattern == t.pattern && v->block == t.block &&
            v->depth == t.depth && v->workers == t.workers &&
            v->direct == t.direct)
            return true;
    }
    return false;
}

/* Every test can be run, none is there twice. */
static void check_sane(void)
{
    for (size_t k = 0; k < tests.count; k++) {
        const struct wr_probe_test t = tests.v[k];

        assert_true(t.depth >= 1 && t.workers >= 1);
        tests.v[k].depth = 0;
        assert_false(has(t));
        tests.v[k].depth = t.depth;
    }
}

static void test_quick_and_full(void **state)
{
    const struct wr_probe_test random4k = {
        WR_PROBE_READ, WR_PROBE_RANDOM, 4096, 1, 1, true};
    size_t quick;

    (void)state;
    make(&(struct wr_probe_wish){.quick = true});
    check_sane();
    quick = tests.count;
    assert_in_range(quick, 12, 25); /* 20 s */
    for (unsigned g = 0; g < WR_PROBE_GROUPS; g++)
        assert_true(count_group((enum wr_probe_group)g) > 0);
    assert_true(has(random4k));
    make(&(struct wr_probe_wish){0});
    check_sane();
    assert_in_range(tests.count, quick + 1, 60); /* 3 minutes */
    assert_true(has(random4k));
}

static void test_only(void **state)
{
    (void)state;
    make(&(struct wr_probe_wish){.groups = 1u << WR_PROBE_GROUP_SYNC |
                                           1u << WR_PROBE_GROUP_MIX});
    assert_int_equal(count_group(WR_PROBE_GROUP_SYNC), 1);
    assert_int_equal(count_group(WR_PROBE_GROUP_SYNC) +
                         count_group(WR_PROBE_GROUP_MIX),
                     tests.count);
    assert_true(count_group(WR_PROBE_GROUP_MIX) > 1);
}

static void test_lists(void **state)
{
    const struct wr_probe_wish w = {
        .groups = 1u << WR_PROBE_GROUP_RANDOM,
        .depth = {2, {3, 5}},
        .block = {2, {8192, 65536}},
        .workers = {2, {1, 7}},
    };

    (void)state;
    make(&w);
    check_sane();
    assert_int_equal(tests.count, 8);
    assert_true(has((struct wr_probe_test){WR_PROBE_READ, WR_PROBE_RANDOM,
                                           65536, 5, 7, true}));
    assert_true(has((struct wr_probe_test){WR_PROBE_READ, WR_PROBE_RANDOM, 8192,
                                           3, 1, true}));
}

/* A value that is given twice is one test. */
static void test_twice(void **state)
{
    const struct wr_probe_wish w = {.groups = 1u << WR_PROBE_GROUP_RANDOM,
                                    .depth = {3, {4, 4, 4}},
                                    .block = {2, {4096, 4096}}};

    (void)state;
    make(&w);
    assert_int_equal(tests.count, 1);
}

static void test_access(void **state)
{
    (void)state;
    make(&(struct wr_probe_wish){.access = WR_PROBE_DIRECT});
    check_sane();
    for (size_t k = 0; k < tests.count; k++)
        assert_true(tests.v[k].direct || tests.v[k].op == WR_PROBE_SYNC);
    make(&(struct wr_probe_wish){.access = WR_PROBE_BUFFERED});
    check_sane();
    for (size_t k = 0; k < tests.count; k++)
        assert_false(tests.v[k].direct);
}

static void test_bad_blocks(void **state)
{
    struct wr_probe_wish w = {.block = {1, {512}}};
    weir_err err;

    (void)state;
    assert_int_equal(wr_probe_plan_tests(&w, &tests, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "512 is not a multiple of 4096"));
    w.access = WR_PROBE_BUFFERED;
    assert_int_equal(wr_probe_plan_tests(&w, &tests, &err), 0);
    w.block.v[0] = 1000;
    assert_int_equal(wr_probe_plan_tests(&w, &tests, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "1000 is not a multiple of 512"));
    w.block.v[0] = 0;
    assert_int_equal(wr_probe_plan_tests(&w, &tests, &err), WEIR_EINVAL);
}

static void test_too_many(void **state)
{
    struct wr_probe_wish w = {0};
    weir_err err;

    (void)state;
    w.depth.count = w.workers.count = 20;
    for (unsigned k = 0; k < 20; k++)
        w.depth.v[k] = w.workers.v[k] = k + 1;
    assert_int_equal(wr_probe_plan_tests(&w, &tests, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "more than 256 tests"));
}

static void test_size(void **state)
{
    uint64_t quick;

    (void)state;
    make(&(struct wr_probe_wish){0});
    quick = wr_probe_plan_size(&tests, true, 0);
    assert_true(wr_probe_plan_size(&tests, false, 0) > quick);
    assert_int_equal(wr_probe_plan_size(&tests, true, 1000000 * MIB), quick);
    assert_int_equal(wr_probe_plan_size(&tests, true, 800 * MIB), 100 * MIB);
    assert_int_equal(wr_probe_plan_size(&tests, false, MIB), 4 * MIB);
    make(&(struct wr_probe_wish){.groups = 1u << WR_PROBE_GROUP_SYNC});
    assert_int_equal(wr_probe_plan_size(&tests, false, 0), 16 * MIB);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_quick_and_full),
        cmocka_unit_test(test_only),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_bad_blocks),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_size),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
