/* test_due.c - unit tests of the heap in clock.c, in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/clock.h"

#define MANY 5000

static void test_empty(void **state)
{
    struct wr_due_heap h = {0};

    assert_null(wr_due_pop(&h, WR_DUE_NEVER));
    assert_true(wr_due_next(&h) == WR_DUE_NEVER);
    wr_due_done(&h);
}

static void test_not_before_its_time(void **state)
{
    struct wr_due_heap h = {0};
    struct wr_due a = {.at_ns = 100}, b = {.at_ns = 50};

    assert_true(wr_due_push(&h, &a));
    assert_int_equal(wr_due_next(&h), 100);
    assert_true(wr_due_push(&h, &b));
    assert_int_equal(wr_due_next(&h), 50);
    assert_null(wr_due_pop(&h, 49));
    assert_ptr_equal(wr_due_pop(&h, 50), &b);
    assert_null(wr_due_pop(&h, 99));
    assert_ptr_equal(wr_due_pop(&h, 1000), &a);
    assert_int_equal(h.count, 0);
    wr_due_done(&h);
}

/* Requests of one device are done in their order, also at the same time. */
static void test_equal_times_keep_their_order(void **state)
{
    struct wr_due_heap h = {0};
    struct wr_due items[100];

    for (unsigned i = 0; i < 100; i++) {
        items[i].at_ns = i < 50 ? 7 : 5;
        assert_true(wr_due_push(&h, &items[i]));
    }
    for (unsigned i = 0; i < 100; i++)
        assert_ptr_equal(wr_due_pop(&h, 7), &items[(i + 50) % 100]);
    wr_due_done(&h);
}

/* Pushes and pops mixed, against a plain search for the minimum. */
static void test_many(void **state)
{
    struct wr_due_heap h = {0};
    struct wr_rng rng = {.seed = 1};
    struct wr_due *items = calloc(MANY, sizeof(*items)), *got;
    size_t pushed = 0, popped = 0;
    uint64_t now = 0;

    assert_non_null(items);
    while (popped < MANY) {
        if (pushed < MANY && wr_rng_below(&rng, 3)) {
            items[pushed].at_ns = now + wr_rng_below(&rng, 1000);
            assert_true(wr_due_push(&h, &items[pushed++]));
            continue;
        }
        now += wr_rng_below(&rng, 20);
        while ((got = wr_due_pop(&h, now))) {
            assert_true(got->at_ns <= now);
            got->at_ns = WR_DUE_NEVER; /* out */
            popped++;
        }
        for (size_t i = 0; i < pushed; i++)
            assert_true(items[i].at_ns > now);
    }
    assert_int_equal(h.count, 0);
    wr_due_done(&h);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_not_before_its_time),
        cmocka_unit_test(test_equal_times_keep_their_order),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
