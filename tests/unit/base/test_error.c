/* test_error.c - codes, names, messages, threads and the clock.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"

static void every_code_has_name_and_text(void **state)
{
    (void)state;
#define CHECK(name, value, text)                                               \
    assert_int_equal(name, value);                                             \
    assert_string_equal(weir_error_name(name), #name);                         \
    assert_string_equal(weir_strerror(name), text);
    WEIR_ERROR_MAP(CHECK)
#undef CHECK
    assert_string_equal(weir_strerror(0), "success");
    assert_string_equal(weir_strerror(-9999), "unknown error");
    assert_non_null(weir_error_name(-9999));
}

static void messages(void **state)
{
    weir_err err = {.os_errno = 4};

    (void)state;
    assert_int_equal(wr_fail(&err, WEIR_EFORMAT, "'%s': %d", "a", 3),
                     WEIR_EFORMAT);
    assert_int_equal(err.code, WEIR_EFORMAT);
    assert_int_equal(err.os_errno, 0);
    assert_string_equal(err.msg, "'a': 3");
    assert_int_equal(wr_fail_prefix(&err, 0, "file %d", 7), WEIR_EFORMAT);
    assert_string_equal(err.msg, "file 7: 'a': 3");
    assert_int_equal(wr_fail_errno(&err, ENOENT, "'%s'", "b"), WEIR_ENOENT);
    assert_int_equal(err.os_errno, ENOENT);
    assert_string_equal(err.msg, "'b': No such file or directory");
}

/* Names and what peers say stand in messages. */
static void messages_have_no_effect_on_a_terminal(void **state)
{
    weir_err err;
    char name[300];

    (void)state;
    wr_fail(&err, WEIR_EFORMAT, "'%s'", "\033[2J\a\r\n\177\xff\xc2\x9b ü");
    assert_string_equal(err.msg,
                        "'\\x1b[2J\\x07\\x0d\\x0a\\x7f\\xff\\xc2\\x9b ü'");
    wr_fail_prefix(&err, 0, "%s", "\xe2\x80\xae");
    assert_non_null(strstr(err.msg, "\\xe2\\x80\\xae: '\\x1b[2J"));
    wr_fail(&err, WEIR_EFORMAT, "'a\ab': cut");
    assert_string_equal(wr_error_past_name(err.msg, "a\ab"), ": cut");
    assert_null(wr_error_past_name(err.msg, "a"));
    assert_null(wr_error_past_name("cut", "a"));
    memset(name, '\a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    wr_fail_errno(&err, ENOENT, "%s", name); /* longer than there is room */
    assert_null(strchr(err.msg, '\a'));
    assert_true(strlen(err.msg) < sizeof(err.msg));
}

static void without_a_place_for_the_message(void **state)
{
    (void)state;
    assert_int_equal(wr_fail(NULL, WEIR_EIO, "x"), WEIR_EIO);
    assert_int_equal(wr_fail_errno(NULL, EACCES, "x"), WEIR_EACCES);
    assert_int_equal(wr_fail_prefix(NULL, WEIR_ELIMIT, "x"), WEIR_ELIMIT);
}

static void long_messages_are_cut(void **state)
{
    char text[2000];
    weir_err err;

    (void)state;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    wr_fail(&err, WEIR_EIO, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
    wr_fail_errno(&err, EIO, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
    wr_fail_prefix(&err, 0, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
}

static void codes_of_errno(void **state)
{
    static const struct {
        int os_errno, code;
    } table[] = {
        {ENOENT, WEIR_ENOENT},
        {ENOTDIR, WEIR_ENOENT},
        {EACCES, WEIR_EACCES},
        {EPERM, WEIR_EACCES},
        {EEXIST, WEIR_EEXIST},
        {ENOTEMPTY, WEIR_EEXIST},
        {ENOSPC, WEIR_ENOSPC},
        {EDQUOT, WEIR_ENOSPC},
        {ENOMEM, WEIR_ENOMEM},
        {ENOBUFS, WEIR_ENOMEM},
        {EMFILE, WEIR_EMFILE},
        {ENFILE, WEIR_EMFILE},
        {ESTALE, WEIR_EIO},
        {EINVAL, WEIR_EINVAL},
        {ENOSYS, WEIR_ENOTSUP},
        {ECANCELED, WEIR_ECANCELED},
        {EIO, WEIR_EIO},
        {EISDIR, WEIR_EIO},
        {EBUSY, WEIR_EBUSY},
        {EAGAIN, WEIR_EBUSY},
        {ETIMEDOUT, WEIR_ETIMEDOUT},
        {ELOOP, WEIR_EACCES},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(wr_error_from_errno(table[i].os_errno), table[i].code);
}

static void *signals_of_thread(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, arg);
    return NULL;
}

static void threads_block_signals(void **state)
{
    sigset_t set;
    pthread_t t;

    (void)state;
    sigemptyset(&set);
    assert_int_equal(wr_thread_start(&t, "a-name-longer-than-fits",
                                     signals_of_thread, &set, NULL),
                     0);
    pthread_join(t, NULL);
    assert_int_equal(sigismember(&set, SIGINT), 1);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    assert_int_equal(sigismember(&set, SIGINT), 0); /* this one as before */
    assert_true(wr_cpu_count() >= 1);
}

static void sleeping_until_a_time(void **state)
{
    uint64_t until = wr_clock_ns() + 2 * WR_NS_PER_MS;

    (void)state;
    wr_clock_sleep_until(until);
    assert_true(wr_clock_ns() >= until);
    wr_clock_sleep_until(until - WR_NS_PER_MS); /* over: at once */
}

static void errors_are_passed_on(void **state)
{
    weir_err why, err = {.code = 7};

    (void)state;
    wr_fail(&why, WEIR_EBUSY, "why");
    assert_int_equal(wr_fail_as(&err, 0, &why), 0);
    assert_int_equal(err.code, 7);
    assert_int_equal(wr_fail_as(NULL, WEIR_EBUSY, &why), WEIR_EBUSY);
    assert_int_equal(wr_fail_as(&err, WEIR_EBUSY, &why), WEIR_EBUSY);
    assert_string_equal(err.msg, "why");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_passed_on),
        cmocka_unit_test(every_code_has_name_and_text),
        cmocka_unit_test(messages),
        cmocka_unit_test(messages_have_no_effect_on_a_terminal),
        cmocka_unit_test(without_a_place_for_the_message),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(codes_of_errno),
        cmocka_unit_test(threads_block_signals),
        cmocka_unit_test(sleeping_until_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
