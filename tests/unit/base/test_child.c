/* test_child.c - unit tests of child.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"

/* What the parent says comes back, twice. */
static void echo(const struct wr_child *c)
{
    char text[16];
    ssize_t n = read(c->in, text, sizeof(text));

    for (int k = 0; k < 2; k++)
        if (n < 0 || write(c->out, text, (size_t)n) != n)
            _exit(1);
    _exit(7);
}

static void talk(bool packets, ssize_t expected)
{
    struct wr_child c;
    char text[16];
    int r = wr_child_start(&c, packets, NULL), status;

    if (r == 0)
        echo(&c);
    assert_int_equal(r, 1);
    assert_true(c.pid > 0);
    assert_int_equal(write(c.out, "word", 4), 4);
    status = wr_child_reap(c.pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(read(c.in, text, sizeof(text)), expected);
    assert_memory_equal(text, "word", 4);
    wr_child_close(&c);
    assert_int_equal(write(c.out, "x", 1), -1);
    assert_int_equal(read(c.in, text, 1), -1);
}

/* A pipe joins what was written; a packet stays one. */
static void test_both_sides_talk(void **state)
{
    talk(/* packets= */ false, 8);
    talk(/* packets= */ true, 4);
}

/* No end of its own pipes keeps a child from seeing that the parent's is closed,
 * nor the parent from seeing that the child has ended. */
static void test_an_end_is_seen(void **state)
{
    struct wr_child c;
    char byte;
    int r = wr_child_start(&c, /* packets= */ false, NULL);

    if (r == 0)
        _exit(read(c.in, &byte, 1) == 0 ? 3 : 4);
    close(c.out);
    assert_int_equal(read(c.in, &byte, 1), 0);
    assert_int_equal(WEXITSTATUS(wr_child_reap(c.pid)), 3);
    close(c.in);
}

static void test_a_signal_is_told(void **state)
{
    struct wr_child c;
    int r = wr_child_start(&c, /* packets= */ true, NULL), status;

    if (r == 0) {
        pause();
        _exit(0);
    }
    kill(c.pid, SIGKILL);
    status = wr_child_reap(c.pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    wr_child_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_sides_talk),
        cmocka_unit_test(test_an_end_is_seen),
        cmocka_unit_test(test_a_signal_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
