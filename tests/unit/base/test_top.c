/* test_top.c - unit tests of top.c, against a plain sort.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/top.h"

#define FEW  5
#define MANY 200

static void add(struct wr_top *t, double score, uint32_t value)
{
    uint32_t *at = wr_top_add(t, score);

    if (at)
        *at = value;
}

static void test_fewer_than_fit(void **state)
{
    double scores[FEW];
    uint32_t list[FEW];
    struct wr_top t = {list, scores, sizeof(*list), FEW, 0};

    add(&t, 1, 10);
    add(&t, 3, 30);
    add(&t, 2, 20);
    assert_int_equal(t.count, 3);
    assert_int_equal(list[0], 30);
    assert_int_equal(list[1], 20);
    assert_int_equal(list[2], 10);
}

static void test_equal_scores(void **state)
{
    double scores[2];
    uint32_t list[2];
    struct wr_top t = {list, scores, sizeof(*list), 2, 0};

    add(&t, 1, 10);
    add(&t, 1, 11);
    add(&t, 1, 12);
    assert_int_equal(list[0], 10);
    assert_int_equal(list[1], 11);
    add(&t, 2, 20);
    assert_int_equal(list[0], 20);
    assert_int_equal(list[1], 10);
    assert_int_equal(t.count, 2);
}

static void test_no_room(void **state)
{
    struct wr_top t = {NULL, NULL, sizeof(uint32_t), 0, 0};

    assert_null(wr_top_add(&t, 1));
    assert_int_equal(t.count, 0);
}

/* Each of the list has fewer above it than there are places. */
static void test_many(void **state)
{
    struct wr_rng rng = {.seed = 9};
    double scores[FEW], all[MANY];
    uint32_t list[FEW];
    struct wr_top t = {list, scores, sizeof(*list), FEW, 0};

    for (uint32_t k = 0; k < MANY; k++) {
        all[k] = (double)wr_rng_below(&rng, 50);
        add(&t, all[k], k);
    }
    assert_int_equal(t.count, FEW);
    for (size_t k = 0; k < FEW; k++) {
        size_t ahead = 0;

        for (uint32_t i = 0; i < MANY; i++)
            ahead += all[i] > all[list[k]] ||
                     (all[i] >= all[list[k]] && i < list[k]);
        assert_int_equal(ahead, k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fewer_than_fit),
        cmocka_unit_test(test_equal_scores),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
