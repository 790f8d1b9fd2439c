/* test_gaps.c - pauses of two kinds are told apart by their length.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "trace/gaps.h"

#define MS       UINT64_C(1000000)
#define AFTER_MS UINT64_C(1048576) /* where the bucket behind 1 ms begins */

static void add_many(struct wr_gaps *g, unsigned count, uint64_t ns)
{
    while (count--)
        wr_gaps_add(g, ns);
}

static void test_split(void **state)
{
    static const struct {
        const char *what;
        unsigned shorts, longs;
        uint64_t short_ns, long_ns, split;
    } cases[] = {
        {"two heaps", 20, 5, MS, 100 * MS, AFTER_MS},
        {"too few to tell", 10, 5, MS, 100 * MS, 0},
        {"just enough", 11, 5, MS, 100 * MS, AFTER_MS},
        {"one heap", 20, 0, MS, 0, 0},
        {"more long ones than short ones", 8, 20, MS, 100 * MS, 0},
        {"as many", 10, 10, MS, 100 * MS, AFTER_MS},
        {"one more", 10, 11, MS, 100 * MS, 0},
        {"not four times as long", 20, 10, MS, 39 * MS / 10, 0},
        {"four times as long", 20, 10, MS, 4 * MS, AFTER_MS},
        {"of no length at all", 20, 10, 0, MS, 1},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_gaps g = {0};
        uint64_t split;

        add_many(&g, cases[k].longs, cases[k].long_ns);
        add_many(&g, cases[k].shorts, cases[k].short_ns);
        split = wr_gaps_split(&g);
        if (split != cases[k].split)
            fail_msg("%s: %ju, not %ju", cases[k].what, (uintmax_t)split,
                     (uintmax_t)cases[k].split);
    }
}

/* A heap that is wide is one all the same. */
static void test_wide(void **state)
{
    static const unsigned counts[] = {1, 6, 15, 20, 15, 6, 1};
    struct wr_gaps g = {0};
    uint64_t ns = MS;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(counts); k++, ns *= 2)
        add_many(&g, counts[k], ns);
    assert_int_equal(wr_gaps_split(&g), 0);
}

static void test_above(void **state)
{
    struct wr_gaps g = {0};
    uint64_t count = 99, split;

    (void)state;
    add_many(&g, 20, MS);
    add_many(&g, 5, 100 * MS);
    add_many(&g, 1, 300 * MS);
    split = wr_gaps_split(&g);
    assert_int_equal(wr_gaps_above(&g, split, &count), 800 * MS);
    assert_int_equal(count, 6);
    assert_int_equal(wr_gaps_above(&g, 200 * MS, NULL), 300 * MS);
    assert_int_equal(wr_gaps_above(&g, 0, &count), 820 * MS);
    assert_int_equal(count, 26);
    assert_int_equal(g.total, 26);
    assert_int_equal(g.total_ns, 820 * MS);
    assert_int_equal(wr_gaps_above(&g, 1000 * MS, &count), 0);
    assert_int_equal(count, 0);
}

/* Every length has a bucket: the shortest ones their own, the longest the last. */
static void test_ends(void **state)
{
    struct wr_gaps g = {0};
    uint64_t count;

    (void)state;
    for (uint64_t ns = 0; ns < 9; ns++)
        wr_gaps_add(&g, ns);
    for (uint64_t ns = 0; ns < 8; ns++) {
        assert_int_equal(g.count[ns], 1);
        wr_gaps_above(&g, ns, &count);
        assert_int_equal(count, 9 - ns);
    }
    wr_gaps_add(&g, UINT64_MAX / 2);
    wr_gaps_add(&g, UINT64_C(1) << 60);
    assert_int_equal(g.count[WR_GAP_BUCKETS - 1], 2);
    wr_gaps_above(&g, UINT64_MAX, &count);
    assert_int_equal(count, 2);
}

/* Those of two threads are as if one had made them. */
static void test_merge(void **state)
{
    struct wr_gaps a = {0}, b = {0}, all = {0};

    (void)state;
    for (uint64_t k = 1; k < 400; k++) {
        wr_gaps_add(k % 3 ? &a : &b, k * k * k * 1000);
        wr_gaps_add(&all, k * k * k * 1000);
    }
    wr_gaps_merge(&a, &b);
    assert_memory_equal(&a, &all, sizeof(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split), cmocka_unit_test(test_wide),
        cmocka_unit_test(test_above), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_merge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
