/* test_lack.c - lack of resources: its codes, and the limit in the message.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"

static void lack_is_neither_damage_nor_permission(void **state)
{
    static const int lacks[] = {EMFILE, ENFILE, ENOMEM, ENOBUFS};
    static const int others[] = {EACCES, EPERM,  EIO,      ESTALE,
                                 ENOENT, ENOSPC, ETIMEDOUT};

    (void)state;
    for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
        assert_true(wr_err_is_lack(wr_error_from_errno(lacks[i])));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(wr_err_is_lack(wr_error_from_errno(others[i])));
    assert_false(wr_err_is_lack(0));
    assert_false(wr_err_is_lack(WEIR_EFORMAT));
    assert_false(wr_err_is_lack(WEIR_EDAMAGED));
}

/* Sets the soft limit `resource` and returns the one before. */
static struct rlimit with_limit(int resource, rlim_t value)
{
    struct rlimit old, now;

    assert_int_equal(getrlimit(resource, &old), 0);
    now = old;
    now.rlim_cur = value;
    assert_int_equal(setrlimit(resource, &now), 0);
    return old;
}

static void descriptors_name_their_limit(void **state)
{
    struct rlimit old = with_limit(RLIMIT_NOFILE, 123);
    weir_err err;

    (void)state;
    assert_int_equal(wr_fail_errno(&err, EMFILE, "'a': cannot open"),
                     WEIR_EMFILE);
    assert_string_equal(err.msg, "'a': cannot open: Too many open files "
                                 "(RLIMIT_NOFILE is 123; raise it with ulimit "
                                 "-n)");
    wr_fail_errno(&err, ENFILE, "'a': cannot open");
    assert_non_null(strstr(err.msg, "fs.file-max"));
    assert_null(strstr(err.msg, "RLIMIT_NOFILE"));
    setrlimit(RLIMIT_NOFILE, &old);
}

static void memory_names_its_limit(void **state)
{
    struct rlimit old = with_limit(RLIMIT_DATA, (rlim_t)80000000000);
    weir_err err, again;

    (void)state;
    assert_int_equal(wr_fail(&err, WEIR_ENOMEM, "out of memory"), WEIR_ENOMEM);
    assert_string_equal(err.msg, "out of memory (RLIMIT_DATA is 80.0 GB; raise "
                                 "it with ulimit -d)");
    wr_fail(&again, WEIR_ENOMEM, "step 1: %s", err.msg);
    assert_string_equal(again.msg + 8, err.msg); /* named once */
    setrlimit(RLIMIT_DATA, &old);
    if (old.rlim_cur == RLIM_INFINITY) {
        wr_fail(&err, WEIR_ENOMEM, "out of memory");
        assert_string_equal(err.msg, "out of memory");
    }
}

static void others_name_none(void **state)
{
    weir_err err;

    (void)state;
    wr_fail(&err, WEIR_EFORMAT, "x");
    assert_string_equal(err.msg, "x");
}

static void waiting_gets_longer_and_ends(void **state)
{
    uint64_t now = 1000, pause, last = 0;
    unsigned tries = 0;

    (void)state;
    while ((pause = wr_lack_backoff(1000, now))) {
        assert_true(pause >= last);
        last = pause;
        now += pause;
        assert_true(++tries < 100);
    }
    assert_true(tries > 5);
    assert_true(now - 1000 < 10 * WR_NS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lack_is_neither_damage_nor_permission),
        cmocka_unit_test(descriptors_name_their_limit),
        cmocka_unit_test(memory_names_its_limit),
        cmocka_unit_test(others_name_none),
        cmocka_unit_test(waiting_gets_longer_and_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
