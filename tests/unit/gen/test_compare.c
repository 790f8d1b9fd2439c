/* test_compare.c - an object that compares.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "gen/verify.h"
#include "grown.h"

static uint8_t buf[WR_COMPARE_BYTES];

static void test_compare(void **state)
{
    size_t len = 3 * WR_COMPARE_BYTES;
    uint8_t *want = calloc(1, len);
    struct wr_compare c;
    struct grown g;

    (void)state;
    grown_init(&g);
    grown_write(&g.base, want, len, 0, NULL);
    wr_compare_init(&c, &g.base, buf);
    assert_int_equal(wr_object_write(&c.object, want, len, 0, NULL), 0);
    assert_true(c.wrong == UINT64_MAX);
    assert_int_equal(c.end, len);
    assert_int_equal(c.bytes, len);

    g.bytes[WR_COMPARE_BYTES + 7] = 1;
    g.bytes[WR_COMPARE_BYTES + 9] = 1;
    wr_compare_init(&c, &g.base, buf);
    assert_int_equal(wr_object_write(&c.object, want, len, 0, NULL), 0);
    assert_int_equal(c.wrong, WR_COMPARE_BYTES + 7);
    /* A later write may find an earlier byte. */
    g.bytes[3] = 1;
    assert_int_equal(wr_object_write(&c.object, want, 5, 0, NULL), 0);
    assert_int_equal(c.wrong, 3);
    grown_done(&g);
    free(want);
}

static void test_short(void **state)
{
    struct wr_compare c;
    struct grown g;

    (void)state;
    grown_init(&g);
    grown_write(&g.base, "abc", 3, 0, NULL);
    wr_compare_init(&c, &g.base, buf);
    assert_int_equal(wr_object_write(&c.object, "abcdef", 6, 0, NULL), 0);
    assert_int_equal(c.wrong, 3);
    assert_int_equal(c.end, 6);
    assert_int_equal(wr_object_resize(&c.object, 10, NULL), 0);
    assert_int_equal(c.end, 10);
    grown_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_short),
    };

    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
