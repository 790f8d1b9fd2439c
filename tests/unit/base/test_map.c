/* test_map.c - unit tests of map.c, against a plain list.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../../fault/failmalloc.h"
#include "base/map.h"
#include "base/rng.h"

#define KEYS  600 /* of which entries are made */
#define STEPS 20000

struct entry {
    uint64_t key;
    unsigned of, twin;
};

static void test_empty(void **state)
{
    struct wr_map m = {.size = sizeof(struct entry)};

    assert_null(wr_map_find(&m, 1));
    wr_map_done(&m);
    assert_null(wr_map_find(&m, UINT64_MAX));
}

static void test_added_and_dropped(void **state)
{
    struct wr_map m = {.size = sizeof(struct entry)};
    struct entry *e = wr_map_add(&m, 7);

    assert_non_null(e);
    assert_int_equal(e->key, 7);
    assert_int_equal(e->of + e->twin, 0);
    e->of = 5;
    assert_ptr_equal(wr_map_find(&m, 7), e);
    assert_null(wr_map_find(&m, 8));
    assert_null(wr_map_next(&m, e));
    wr_map_drop(&m, e);
    assert_null(wr_map_find(&m, 7));
    assert_int_equal(m.count, 0);
    e = wr_map_add(&m, 7); /* nothing is left of the one before */
    assert_int_equal(e->of, 0);
    wr_map_done(&m);
}

/* Hashes: entries that only the caller can tell apart. */
static void test_equal_keys(void **state)
{
    struct wr_map m = {.size = sizeof(struct entry)};
    struct entry *e;
    unsigned seen = 0;

    for (unsigned k = 0; k < 100; k++) {
        e = wr_map_add(&m, k % 2 ? 1 : UINT64_MAX);
        assert_non_null(e);
        e->twin = k;
    }
    for (e = wr_map_find(&m, 1); e; e = wr_map_next(&m, e)) {
        assert_int_equal(e->twin % 2, 1);
        seen++;
    }
    assert_int_equal(seen, 50);
    e = wr_map_find(&m, 1);
    while (e && e->twin != 51)
        e = wr_map_next(&m, e);
    assert_non_null(e);
    wr_map_drop(&m, e);
    seen = 0;
    for (e = wr_map_find(&m, 1); e; e = wr_map_next(&m, e)) {
        assert_int_not_equal(e->twin, 51);
        seen++;
    }
    assert_int_equal(seen, 49);
    wr_map_done(&m);
}

static void check_all(const struct wr_map *m, const bool *there)
{
    size_t count = 0;

    for (size_t k = 0; k < m->cap; k++) {
        const struct entry *e = wr_map_at(m, k);

        assert_true(!e || there[e->of]);
        count += e != NULL;
    }
    assert_int_equal(count, m->count);
}

/* Keys that are near to each other, added and dropped in any order. */
static void test_many(void **state)
{
    struct wr_map m = {.size = sizeof(struct entry)};
    struct wr_rng rng = {.seed = 3};
    bool there[KEYS] = {false};

    for (unsigned step = 0; step < STEPS; step++) {
        unsigned k = (unsigned)wr_rng_below(&rng, KEYS);
        uint64_t key = (uint64_t)(k / 20 + 1) << 32 | k;
        struct entry *e = wr_map_find(&m, key);

        assert_int_equal(e != NULL, there[k]);
        if (e) {
            assert_int_equal(e->of, k);
            wr_map_drop(&m, e);
        } else {
            e = wr_map_add(&m, key);
            assert_non_null(e);
            e->of = k;
        }
        there[k] = !there[k];
        if (step % 500 == 0)
            check_all(&m, there);
    }
    check_all(&m, there);
    assert_true(m.count * 4 <= m.cap * 3);
    wr_map_done(&m);
}

static void test_sizes(void **state)
{
    struct wr_map alone = {.size = sizeof(uint64_t)};
    struct wr_map numbers = {.size = sizeof(struct wr_map_number)};
    struct wr_map_number *n;
    uint32_t sum;

    for (uint32_t k = 1; k <= 1000; k++) {
        assert_non_null(wr_map_add(&alone, k));
        n = wr_map_add(&numbers, wr_map_hashed(k - 1));
        n->number = k;
    }
    for (uint32_t k = 1; k <= 1000; k++)
        assert_non_null(wr_map_find(&alone, k));
    n = wr_map_find(&numbers, 1); /* hash 0 and hash 1 */
    assert_non_null(n);
    sum = n->number;
    n = wr_map_next(&numbers, n);
    assert_non_null(n);
    assert_int_equal(sum + n->number, 3);
    wr_map_done(&alone);
    wr_map_done(&numbers);
}

static void test_no_memory(void **state)
{
    struct wr_map m = {.size = sizeof(struct entry)};
    unsigned made = 0;

    if (!fm_can_fail())
        skip();
    fm_start(0, ULONG_MAX);
    assert_null(wr_map_add(&m, 1));
    fm_stop();
    assert_null(wr_map_find(&m, 1));
    while (made < 48 && wr_map_add(&m, made + 1))
        made++;
    fm_start(0, ULONG_MAX);
    assert_null(wr_map_add(&m, 100));
    fm_stop();
    assert_int_equal(m.count, made);
    for (unsigned k = 0; k < made; k++)
        assert_non_null(wr_map_find(&m, k + 1));
    assert_null(wr_map_find(&m, 100));
    wr_map_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_added_and_dropped),
        cmocka_unit_test(test_equal_keys),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
