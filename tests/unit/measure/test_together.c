/* test_together.c - ranks that measure at the same time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/together.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "group.h"

static void rates(uint32_t rank, void *arg)
{
    struct wr_together t;
    struct wr_comm *c;
    double v;

    group_join(arg, rank, &c, &t);
    CHECK(wr_together_is(&t));
    CHECK(wr_together_begin(&t, NULL) == 0);
    /* 10 + 11 + 12 over 3 s */
    CHECK(wr_together_rate(&t, 10 + rank, 1 + rank, &v, NULL) == 0);
    CHECK(v == 11);
    CHECK(wr_together_rate(&t, 5, rank == 1 ? NAN : 1, &v, NULL) == 0);
    CHECK(v == 0);
    CHECK(wr_together_rate(&t, 0, 0, &v, NULL) == 0 && v == 0);
    v = rank == 1 ? 0.75 : 0.5;
    CHECK(wr_together_slowest(&t, &v, NULL) == 0 && v == 0.75);
    v = rank == 2 ? 0.25 : NAN;
    CHECK(wr_together_slowest(&t, &v, NULL) == 0 && v == 0.25);
    v = NAN;
    CHECK(wr_together_slowest(&t, &v, NULL) == 0 && isnan(v));
    group_leave(c, &t);
}

static void test_rates(void **state)
{
    (void)state;
    assert_int_equal(group_run(3, rates, NULL), 0);
}

/* Each says something, and rank 0 has it in the order of ranks. */
static void gather(uint32_t rank, void *arg)
{
    json_t *said = json_null();
    struct wr_together t;
    struct wr_comm *c;

    group_join(arg, rank, &c, &t);
    CHECK(wr_together_gather(&t, json_pack("{s:i}", "rank", (int)rank), &said,
                             NULL) == 0);
    CHECK(rank == 0 ? json_array_size(said) == 3 : !said);
    for (size_t k = 0; k < json_array_size(said); k++)
        CHECK(json_integer_value(json_object_get(json_array_get(said, k),
                                                 "rank")) == (json_int_t)k);
    json_decref(said);
    CHECK(wr_together_gather(&t, NULL, &said, NULL) == WEIR_ENOMEM);
    group_leave(c, &t);
}

static void test_gather(void **state)
{
    (void)state;
    assert_int_equal(group_run(3, gather, NULL), 0);
}

/* The others learn the reason, although the rank leaves at once. */
static void give_up(uint32_t rank, void *arg)
{
    weir_err why = {.code = WEIR_EIO, .msg = "the disk is gone"}, err;
    struct wr_together t;
    struct wr_comm *c;

    group_join(arg, rank, &c, &t);
    if (rank == 1) {
        wr_together_give_up(&t, &why);
    } else {
        CHECK(wr_together_begin(&t, &err) == WEIR_EIO);
        CHECK_TEXT(err.msg, "rank 1 gave up: the disk is gone");
    }
    group_leave(c, &t);
}

static void test_give_up(void **state)
{
    (void)state;
    assert_int_equal(group_run(3, give_up, NULL), 0);
}

static void test_alone(void **state)
{
    weir_err why = {.code = WEIR_EIO};
    struct wr_together t;
    double v = 3;

    (void)state;
    assert_int_equal(wr_together_open(&t, NULL, NULL), 0);
    assert_false(wr_together_is(&t));
    assert_int_equal(wr_together_begin(&t, NULL), 0);
    assert_int_equal(wr_together_slowest(&t, &v, NULL), 0);
    assert_true(v == 3);
    assert_int_equal(wr_together_rate(&t, 8, 2, &v, NULL), 0);
    assert_true(v == 4);
    wr_together_give_up(&t, &why);
    wr_together_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_give_up),
        cmocka_unit_test(test_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
