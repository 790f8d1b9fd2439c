/* test_intern.c - texts keep their numbers, whatever else is added.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "format/intern.h"

static void test_numbers(void **state)
{
    struct wr_intern in = {0};
    char text[32];

    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned k = 0; k < 5000; k++) {
            snprintf(text, sizeof(text), "text %u", k);
            assert_int_equal(wr_intern_add(&in, text, strlen(text)), k);
        }
        if (round == 1)
            wr_intern_seal(&in); /* adding goes on afterwards */
    }
    assert_int_equal(in.count, 5000);
    assert_string_equal(wr_intern_text(&in, 4321), "text 4321");
    wr_intern_done(&in);
}

static void test_prefixes(void **state)
{
    struct wr_intern in = {0};

    (void)state;
    assert_int_equal(wr_intern_add(&in, "ab", 2), 0);
    assert_int_equal(wr_intern_add(&in, "abc", 3), 1);
    assert_int_equal(wr_intern_add(&in, "ab", 2), 0);
    assert_int_equal(wr_intern_add(&in, "abc", 2), 0); /* its beginning */
    assert_int_equal(wr_intern_add(&in, "", 0), 2);
    assert_int_equal(wr_intern_add(&in, "a", 1), 3);
    assert_int_equal(wr_intern_add(&in, "", 0), 2);
    assert_string_equal(wr_intern_text(&in, 2), "");
    wr_intern_done(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_prefixes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
