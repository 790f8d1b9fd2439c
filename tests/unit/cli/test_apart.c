/* test_apart.c - unit tests of apart.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/apart.h"

/* Whole messages in order, then the end and the exit code. */
static void test_messages(void **state)
{
    struct wr_apart a;
    char text[WR_APART_MESSAGE];
    int r = wr_apart_start(&a, NULL), n;

    (void)state;
    assert_true(r >= 0);
    if (r == 0) {
        wr_apart_tell(&a, "first", 5);
        wr_apart_tell(&a, "second", 6);
        _exit(7);
    }
    while ((n = wr_apart_wait(&a, text, sizeof(text), 1000)) == 0)
        ;
    assert_int_equal(n, 5);
    assert_memory_equal(text, "first", 5);
    while ((n = wr_apart_wait(&a, text, sizeof(text), 1000)) == 0)
        ;
    assert_int_equal(n, 6);
    while ((n = wr_apart_wait(&a, text, sizeof(text), 1000)) == 0)
        ;
    assert_int_equal(n, -1);
    assert_int_equal(wr_apart_end(&a, /* now= */ false), 7);
}

/* A child that would not end by itself, nor by Ctrl-C. */
static void test_ended(void **state)
{
    struct wr_apart a;
    char byte;
    int r = wr_apart_start(&a, NULL);

    (void)state;
    assert_true(r >= 0);
    if (r == 0) {
        wr_apart_tell(&a, "x", 1);
        for (;;)
            pause();
    }
    while (wr_apart_wait(&a, &byte, 1, 1000) == 0)
        ;
    assert_int_equal(kill(a.child, SIGINT), 0);
    assert_int_equal(kill(a.child, SIGTERM), 0);
    assert_int_equal(wr_apart_wait(&a, &byte, 1, 0), 0); /* it is there */
    assert_int_equal(wr_apart_end(&a, /* now= */ true), -SIGKILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
