/* test_crew.c - threads, their failures and their end.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "base/error.h"
#include "gen/crew.h"

struct job {
    struct wr_crew crew;
    _Atomic unsigned next, seen; /* `seen`: bit k: thread k was here */
    unsigned fail_at, watched;
};

static int work(void *arg, unsigned thread, weir_err *err)
{
    struct job *j = arg;

    j->seen |= 1u << thread;
    while (!j->crew.stop && j->next < 1000) {
        if (++j->next == j->fail_at)
            return wr_fail(err, WEIR_EIO, "piece %u", j->fail_at);
        if (!j->fail_at)
            usleep(100);
    }
    return 0;
}

static int cancel(void *arg)
{
    struct job *j = arg;

    j->watched++;
    return 1;
}

static void test_all(void **state)
{
    struct job j = {0};

    (void)state;
    j.crew.name = "test";
    j.crew.threads = 3;
    j.crew.work = work;
    j.crew.arg = &j;
    assert_int_equal(wr_crew_run(&j.crew, NULL), 0);
    assert_true(j.next >= 1000);
    assert_int_equal(j.seen, 7);
}

static void test_failure(void **state)
{
    struct job j = {.fail_at = 10};
    weir_err err;

    (void)state;
    j.crew.name = "test";
    j.crew.threads = 2;
    j.crew.work = work;
    j.crew.arg = &j;
    assert_int_equal(wr_crew_run(&j.crew, &err), WEIR_EIO);
    assert_string_equal(err.msg, "piece 10");
    assert_true(j.crew.stop);
}

static void test_cancel(void **state)
{
    struct job j = {0};

    (void)state;
    j.crew.name = "test";
    j.crew.threads = 1;
    j.crew.work = work;
    j.crew.watch = cancel;
    j.crew.arg = &j;
    assert_int_equal(wr_crew_run(&j.crew, NULL), WEIR_ECANCELED);
    assert_int_equal(j.watched, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_cancel),
    };

    return cmocka_run_group_tests_name("crew", tests, NULL, NULL);
}
